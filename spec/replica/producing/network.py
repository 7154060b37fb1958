"""The clients' side of the network with an idempotent producer: what its records say, which may be on their way, and how it
is answered.
"""

from kafkaproof.spec.language.sets import contains, with_member
from kafkaproof.spec.replica.broker import LEADER, enough_in_sync
from kafkaproof.spec.replica.clients.network import commit, lacks_replicas
from kafkaproof.spec.replica.leader import ALL
from kafkaproof.spec.replica.producing.sequences import NOT_LEADER_OR_FOLLOWER, forget, judge, note, offset_of
from kafkaproof.spec.replica.zookeeper import NOT_ENOUGH_REPLICAS, OK
from kafkaproof.spec.replication.replication import append

SEAMS_OF = ("clients",)


def epoch_of(clients, record):
    """The producer epoch in which a record was numbered."""
    epoch = 0
    for e in range(len(clients.first)):
        if e <= clients.producer_epoch and clients.first[e] <= record:
            epoch = e
    return epoch


def sequence_of(clients, record):
    """The sequence number of a record in its epoch."""
    return record - clients.first[epoch_of(clients, record)]


def note_record(clients, broker, offset):
    """Note the record that stands in the log at `offset`."""
    record = broker.log.slots[offset].id
    sequence = sequence_of(clients, record)
    note(broker.producer, epoch_of(clients, record), sequence, sequence, offset)


def reload(clients, broker):
    """Read from the log what there is to know of the producer."""
    forget(broker.producer)
    for i in range(len(broker.log.slots)):
        if i < broker.log.length:
            note_record(clients, broker, i)


def in_flight_before(clients, record):
    """How many records of the present epoch before this one are not answered."""
    count = 0
    for r in range(len(clients.told)):
        if clients.first[clients.producer_epoch] <= r < record and clients.told[r] == 0:
            count += 1
    return count


def may_arrive(clients, record, most):
    """Whether a request with this record may be on its way: it was sent before, or it is the next and fewer than `most` are in
    flight.
    """
    return record < clients.next_record or record == clients.next_record and in_flight_before(clients, record) < most


def take_in_sequence(clients, broker, record, enough):
    """A broker judges a record with acks=all: OK, or an error, if it is not to be appended; DUPLICATE if it has it."""
    clients.next_record = max(clients.next_record, record + 1)
    if broker.state != LEADER:
        return NOT_LEADER_OR_FOLLOWER
    if lacks_replicas(ALL, enough):
        return NOT_ENOUGH_REPLICAS
    sequence = sequence_of(clients, record)
    answer = judge(broker.producer, epoch_of(clients, record), sequence, sequence)
    if answer == OK:
        append(broker.log, record, broker.leader_epoch)
        note_record(clients, broker, broker.log.length - 1)
        broker.waiting = with_member(broker.waiting, record)
    return answer


def tell(clients, record, offset):
    """Tell the producer the offset of a record: it is acknowledged."""
    clients.told[record] = offset + 1
    clients.places[offset].ghosts.committed = record + 1


def answer_duplicate(clients, broker, record):
    """Answer a record that the leader has: at once, if the high watermark has passed it."""
    offset = offset_of(broker.producer, sequence_of(clients, record))
    if offset < broker.hw:
        tell(clients, record, offset)
    else:
        broker.waiting = with_member(broker.waiting, record)


def commit_and_tell(clients, zk, b, broker):
    """As `commit`, and the producers that are answered are told the offsets of their records."""
    enough = enough_in_sync(broker)
    for i in range(len(broker.log.slots)):
        if i < broker.hw and enough and contains(broker.waiting, broker.log.slots[i].id):
            tell(clients, broker.log.slots[i].id, i)
    commit(clients, zk, b, broker)
