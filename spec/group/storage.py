"""The log of the offsets partition, and who leads it: what replication promises, not how.

The contract:

1. There is one log, the leader's. A broker that does not lead appends nothing to it; its appends fail.
2. An append is acknowledged when its callback runs, and so is everything before it. What is acknowledged stays.
3. An elected leader (`faults.fail_over`) has all that was acknowledged, in order, and any prefix of the rest (`kept`).
4. How much was committed by then (`committed`) is a choice. The former leader may still acknowledge that much of what
it has appended and has no result for yet; the rest fails there, even if the new leader has it.
5. An append that fails after it was written (NOT_ENOUGH_REPLICAS_AFTER_APPEND, REQUEST_TIMED_OUT) stays in the log. One
that is refused before it is written (`Refusal`) is in no log.

The contract rests on what `replica` guarantees: every member of the ISR has all that was committed (`isr_complete`,
D3), leaders are elected from the ISR, and a successor has what a former leader acknowledges (`stale_leader`, D7).
`refinement` checks the contract on every behaviour of a small scope. With one move of the leader, each behaviour of
`replica/current` is one of the contract, and each of the contract is one of `replica`. With two moves one case is
missing: a leader whose appends have failed, and that is elected again before it has followed another leader, still has
those records, and they count. So "holds" is claimed for one move of the leader; for more moves, it is claimed only if a
former leader is truncated before it leads again.
"""

from kafkaproof.spec.group.cache import describe_group, forget_membership, load_group, put_offset, settle
from kafkaproof.spec.group.records import (
    ABORT_MARKER,
    COMMIT_MARKER,
    GROUP_RECORD,
    GROUP_TOMBSTONE,
    NO_RECORD,
    OFFSET_RECORD,
    OFFSET_TOMBSTONE,
    RECORD,
    STATIC_RECORD,
    TOMBSTONES,
    TRANSACTION_RECORD,
    name_record,
    remember_append,
)
from kafkaproof.spec.group.sorts import NOWHERE
from kafkaproof.spec.language.domains import NOBODY, Array, Bound, Budget, Choice, Flag, Id, Number, Record, Sequence
from kafkaproof.spec.language.sets import contains

AppendError = Choice(
    "NOT_ENOUGH_REPLICAS_AFTER_APPEND",
    "TIMED_OUT",
    "NOT_LEADER",
    "NOT_ENOUGH_REPLICAS",
    "TOO_LARGE",  # before anything is written
)
NOT_ENOUGH_REPLICAS_AFTER_APPEND, TIMED_OUT, NOT_LEADER, NOT_ENOUGH_REPLICAS, TOO_LARGE = AppendError
Failure = Number(NOT_ENOUGH_REPLICAS_AFTER_APPEND, NOT_LEADER)
Refusal = Number(NOT_ENOUGH_REPLICAS, TOO_LARGE)
GHOSTS = Record(
    deleted=(Flag(), "the group has died: generations begin anew"),
    gone=(Flag(), "an operator was told that the group is deleted, and nothing has been written since"),
    stale=(Flag(), "a commit was appended behind the record of a newer generation (G7)"),
    former=(Number(0, Bound("epochs")), "the last epoch led by another broker than the present leader, 0 for none"),
)
STORAGE = Record(
    epoch=(Number(1, Bound("epochs")), "leader epoch of the offsets partition"),
    leaders=(Array(Id("brokers"), Bound("epochs")), "the leader of each epoch, from epoch 1"),
    log=(Sequence(RECORD, Bound("log")), "records of the leader"),
    committed=(Number(0, Bound("log")), "records known as committed"),
    faults=(Number(0, Budget("faults")), "faults so far"),
    periods=(Number(0, Bound("periods")), "check intervals and retention periods that have passed"),
    ghosts=(GHOSTS, "history, for properties only"),
)


def leader_of(storage, epoch):
    """The broker that was elected in an epoch."""
    return storage.leaders[epoch - 1]


def leads(storage, b):
    """Whether `b` is the leader of the partition: its log is the log."""
    return storage.leaders[storage.epoch - 1] == b


def has_begun(storage, epoch):
    """Whether the election of an epoch has taken place."""
    return epoch <= storage.epoch


def has_news(storage, epoch):
    """Whether there is an election after that of `epoch`: LeaderAndIsr, an arrival."""
    return storage.epoch > epoch


def is_next_leader(storage, b, epoch):
    """Whether `b` is elected in the epoch after `epoch`."""
    return storage.leaders[epoch] == b


def elect(storage, to):
    """Elect a leader for the next epoch."""
    if not leads(storage, to):
        storage.ghosts.former = storage.epoch
    storage.leaders[storage.epoch] = to
    storage.epoch += 1


def put_record(storage, b, kind, generation):
    """Append a record without content. Returns its position, -1 if `b` does not lead."""
    if not leads(storage, b):
        return NOWHERE
    position = storage.log.length
    name_record(storage.log.slots[position], kind, generation)
    storage.log.length += 1
    return position


def append_group(storage, b, group, owner):
    """storeGroup: append the group as it is, with this assignment. Returns its position."""
    position = put_record(storage, b, GROUP_RECORD, group.generation)
    storage.ghosts.gone = 0
    if position != NOWHERE:
        describe_group(storage.log.slots[position], group, owner)
    return position


def store_empty(storage, b, broker):
    """storeGroup for a group without members. Nobody learns if it fails."""
    append_group(storage, b, broker.group, NOBODY)


def store_group(storage, b, broker, owner):
    """storeGroup, with a callback that depends on the result."""
    position = append_group(storage, b, broker.group, owner)
    remember_append(broker, GROUP_RECORD, position, broker.group.generation, 0)


def store_static(storage, b, broker, id, former):
    """storeGroup for a static member with a new id, with a callback that answers its parked join."""
    position = append_group(storage, b, broker.group, broker.group.owner)
    append = broker.appends.slots[broker.appends.length]
    append.id = id
    append.former = former
    append.now = id
    remember_append(broker, STATIC_RECORD, position, broker.group.generation, 0)


def last_generation(storage):
    """The generation in the last record of the group."""
    generation = 0
    for record in storage.log.slots:
        if record.kind == GROUP_RECORD or record.kind == GROUP_TOMBSTONE or record.kind == TOMBSTONES:
            generation = record.generation
    return generation


def store_offset(storage, b, broker, generation, clients):
    """storeOffsets: append an offset, with a callback."""
    if 0 < generation < last_generation(storage) and leads(storage, b):
        storage.ghosts.stale = 1
    position = put_record(storage, b, OFFSET_RECORD, generation)
    storage.ghosts.gone = 0
    remember_append(broker, OFFSET_RECORD, position, generation, clients)


def store_in_transaction(storage, b, broker):
    """storeOffsets with a producer id: append an offset, which a marker will decide. Returns its position."""
    position = put_record(storage, b, TRANSACTION_RECORD, 0)
    storage.ghosts.gone = 0
    remember_append(broker, TRANSACTION_RECORD, position, 0, 0)
    return position


def store_marker(storage, b, broker, kind):
    """Append the marker of a transaction, with a callback."""
    remember_append(broker, kind, put_record(storage, b, kind, 0), 0, 0)


def put_tombstone(storage, b, kind):
    """Append tombstones in one batch, without a callback: nobody learns whether they are replicated."""
    put_record(storage, b, kind, 0)


def decide_deletion(storage, b, offset):
    """Note, for history only, that the leader will delete the offset in its cache, and all before it."""
    for position in range(storage.log.length):
        if leads(storage, b) and position <= offset:
            storage.log.slots[position].ghosts.deleted = 1


def decide_topic_deletion(storage, b):
    """Note, for history only, that every offset that was committed so far was of a topic that is deleted."""
    decide_deletion(storage, b, storage.log.length)


def note_death(storage, dies):
    """Note, for history only, that the group is dead."""
    if dies:
        storage.ghosts.deleted = 1


def note_deletion(storage, b):
    """Note, for history only, that the leader told an operator that the group is deleted."""
    if leads(storage, b):
        storage.ghosts.gone = 1


def may_succeed(storage, b, position):
    """Whether an append may be acknowledged: it is committed, or `b` still leads and it can be."""
    return position != NOWHERE and (leads(storage, b) or position < storage.committed)


def may_fail(storage, position, error):
    """Whether an append may fail with this error: only if it is not committed. A former leader gets NOT_LEADER or a
    timeout.
    """
    if position == NOWHERE:
        return error == NOT_LEADER or error == TIMED_OUT
    return position >= storage.committed and error != NOT_LEADER


def acknowledge(storage, position):
    """Commit an append, and all before it."""
    storage.committed = max(storage.committed, position + 1)


def fail(storage, position):
    """An append fails. This counts as a fault if the broker still leads."""
    if position != NOWHERE:
        storage.faults += 1


def takes_appends(storage, b):
    """Whether the log of `b` takes appends at all, and so may refuse one for reasons of its own."""
    return leads(storage, b)


def refuse_append(storage):
    """An append is refused before it is written. This counts as a fault."""
    storage.faults += 1


def count_fault(storage):
    """Count a fault: an act of an operator, or a failed load."""
    storage.faults += 1


def note_commit(storage, position):
    """Note, for history only, that a commit is answered with NONE."""
    storage.log.slots[position].ghosts.answered = 1


def owner_in(storage, position):
    """The assignment in a group record."""
    return storage.log.slots[position].owner


def is_aged(storage, position):
    """Whether a retention period has passed since a record was written."""
    return storage.log.slots[position].aged


def time_has_passed(storage):
    """Whether the check interval of offsets has passed: the expiry task may run."""
    return storage.periods > 0


def has_more(storage, b, read):
    """Whether broker `b`, having read so far, leads and finds another record."""
    return leads(storage, b) and read < storage.log.length


def is_readable(storage, read):
    """Whether a new leader has read far enough: to the log's end (0.11+).

    Kafka: GroupMetadataManager.loadGroupsAndOffsets, 0.11 to 3.9.
    """
    return read == storage.log.length


def may_stop(storage, b, read):
    """Whether a load may end: everything was read, or the broker no longer leads."""
    return not leads(storage, b) or is_readable(storage, read)


def has_read(storage, b, broker):
    """Whether a broker that loads has read enough."""
    return may_stop(storage, b, broker.read)


def read_record(storage, broker):
    """doLoadGroupsAndOffsets, one record: the last record of each key counts."""
    record = storage.log.slots[broker.read]
    group = broker.group
    if record.kind == GROUP_RECORD:
        load_group(group, record)
    elif record.kind == GROUP_TOMBSTONE or record.kind == TOMBSTONES:
        forget_membership(group)
    elif record.kind == OFFSET_RECORD:
        put_offset(group, broker.read, record.aged)
    elif record.kind == TRANSACTION_RECORD:
        group.pending = broker.read
    elif record.kind == COMMIT_MARKER or record.kind == ABORT_MARKER:
        settle(group, record.kind == COMMIT_MARKER, is_aged(storage, max(group.pending, 0)))
    if record.kind == OFFSET_TOMBSTONE or record.kind == TOMBSTONES:
        put_offset(group, NOWHERE, 0)
    broker.read += 1


def in_log(storage, id):
    """Whether a record in the log holds a member id."""
    for record in storage.log.slots:
        if record.kind != NO_RECORD and contains(record.members, id):
            return True
    return False
