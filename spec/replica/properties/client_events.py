"""What a step may and must do with the producer and the consumer of the replica system.

These properties are about single steps, while D1 to D8 are about records. Kafka's source is that of 3.9.
"""

from kafkaproof.spec.language.model import always_step
from kafkaproof.spec.language.sets import contains
from kafkaproof.spec.replica.broker import LEADER, enough_in_sync
from kafkaproof.spec.replica.leader import ALL
from kafkaproof.spec.replica.properties.log_events import same_broker
from kafkaproof.spec.replica.properties.safety import holds, leads_by_right


def appends(before, after, b, acks):
    """A leader appends the producer's next record, and with acks=all the producer waits until the high watermark has
    passed it. The leader refuses a record only with acks=all and an ISR below min.insync.replicas
    (Partition.appendRecordsToLeader).
    """
    old = before.brokers[b]
    new = after.brokers[b]
    id = before.clients.next_record
    if old.state != LEADER:
        return False
    if new.log.length == old.log.length:
        return acks == ALL and not enough_in_sync(old) and after.clients.next_record == id and same_broker(old, new)
    waits = acks == ALL and new.hw <= old.log.length
    return after.clients.next_record == id + 1 and contains(new.waiting, id) == waits


def numbered_once(before, after):
    """Records are numbered in the order in which leaders accept them; none is accepted twice."""
    taken = 0
    for b in range(len(after.brokers)):
        if before.brokers[b].state == LEADER and after.brokers[b].log.length > before.brokers[b].log.length:
            taken += 1
    return after.clients.next_record == before.clients.next_record + taken


def waits_until_answered(before, after):
    """A producer waits until its leader's high watermark has passed its record, or that broker no longer leads. In the
    first case it is acknowledged, if min.insync.replicas are in the ISR (DelayedProduce.tryComplete,
    Partition.checkEnoughReplicasReachOffset).
    """
    for b in range(len(after.brokers)):
        old = before.brokers[b]
        new = after.brokers[b]
        for i in range(len(old.log.slots)):
            id = old.log.slots[i].id
            if new.state == LEADER and i < old.log.length and contains(old.waiting, id):
                if i >= new.hw and not contains(new.waiting, id):
                    return False
                if i < new.hw and enough_in_sync(new) and after.clients.places[i].ghosts.committed != id + 1:
                    return False
    return True


def acknowledged_with_enough(before, after):
    """A record is acknowledged by the leader by right, or to a producer that waited for it, by a leader whose ISR has
    min.insync.replicas members (Partition.checkEnoughReplicasReachOffset).
    """
    for i in range(len(after.clients.places)):
        record = after.clients.places[i].ghosts.committed
        if record != before.clients.places[i].ghosts.committed:
            found = False
            for b in range(len(after.brokers)):
                new = after.brokers[b]
                if new.state == LEADER and i < new.hw and holds(new.log, i, record):
                    asked = contains(before.brokers[b].waiting, record - 1) or record > before.clients.next_record
                    if leads_by_right(after, b) or asked and enough_in_sync(new):
                        found = True
            if not found:
                return False
    return True


def reads_below_hw(before, after, b):
    """The consumer gets the record at its position from a broker that leads, below its high watermark
    (Partition.fetchRecords, FetchIsolation.HIGH_WATERMARK).
    """
    broker = before.brokers[b]
    at = before.clients.position
    if broker.state != LEADER or at >= broker.hw or after.clients.position != at + 1:
        return False
    return after.clients.places[at].ghosts.read == broker.log.slots[at].id + 1


def read_stays(before, after):
    """What the consumer has read at an offset stays, and its position never falls."""
    for i in range(len(after.clients.places)):
        old = before.clients.places[i].ghosts.read
        if old != 0 and after.clients.places[i].ghosts.read != old:
            return False
    return after.clients.position >= before.clients.position


ALWAYS = (
    always_step(appends, of=("produce",)),
    always_step(numbered_once),
    always_step(waits_until_answered),
    always_step(acknowledged_with_enough),
    always_step(reads_below_hw, of=("consume",)),
    always_step(read_stays),
)
