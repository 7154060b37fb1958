"""The clients' side of the network: one producer, whose records are numbered, and one consumer.

The consumer reads offset after offset. A producer that waits for all replicas (acks=all) is answered when the high
watermark has passed its record. In all other cases it gets an error or no answer, which changes nothing. `places` says
for each offset what was promised there; only properties read it.
"""

from kafkaproof.spec.language.domains import Array, Bound, Number, Record
from kafkaproof.spec.language.sets import contains, with_member, without_member
from kafkaproof.spec.replica.broker import enough_in_sync
from kafkaproof.spec.replica.storage import Offset
from kafkaproof.spec.replica.zookeeper import NOT_ENOUGH_REPLICAS, OK
from kafkaproof.spec.replication.replication import append

SEAMS_OF = ("clients",)

GHOSTS = Record(
    committed=(Number(0, Bound("records")), "1 + record committed at this offset, 0 for none"),
    read=(Number(0, Bound("records")), "1 + record that the consumer got at this offset, 0 for none"),
)
CLIENTS = Record(
    next_record=(Number(0, Bound("records")), "the producer's next record"),
    position=(Offset, "the consumer's position"),
    places=(Array(Record(ghosts=(GHOSTS, "history, for properties only")), Bound("log")), "what became of each offset"),
)


def lacks_replicas(acks, enough):
    """Whether a record is refused: with acks=all (1), if not `enough` replicas are in sync."""
    return acks == 1 and not enough


def take_record(clients, broker, acks, enough):
    """Accept a producer's record: OK, or NOT_ENOUGH_REPLICAS with acks=all and not `enough` replicas in sync."""
    if lacks_replicas(acks, enough):
        return NOT_ENOUGH_REPLICAS
    append(broker.log, clients.next_record, broker.leader_epoch)
    if acks == 1:
        broker.waiting = with_member(broker.waiting, clients.next_record)
    clients.next_record += 1
    return OK


def commit(clients, zk, b, broker):
    """Answer producers that wait for records below the high watermark; in the ghosts these records are committed.

    So are all records below the high watermark of the leader that ZooKeeper names. If the ISR has become too small
    meanwhile, the producer gets NOT_ENOUGH_REPLICAS_AFTER_APPEND: nothing was acknowledged.
    """
    by_right = zk.leader == b and zk.leader_epoch == broker.leader_epoch
    enough = enough_in_sync(broker)
    for i in range(len(broker.log.slots)):
        if i < broker.hw:
            id = broker.log.slots[i].id
            if by_right or enough and contains(broker.waiting, id):
                clients.places[i].ghosts.committed = id + 1
            broker.waiting = without_member(broker.waiting, id)


def position_of(clients):
    """The offset that the consumer reads next."""
    return clients.position


def deliver(clients, id):
    """The consumer gets the record at its position."""
    clients.places[clients.position].ghosts.read = id + 1
    clients.position += 1
