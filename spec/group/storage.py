"""The log of the offsets partition, and who leads it: what replication promises, not how.

The contract: an append is acknowledged only when it is committed; whoever is elected has every
acknowledged record, in order, and of the others as many as you like, from the front (`kept`); an append by a
broker that does not lead is in no log that lives on, and fails. `partition` and `replication` are the
argument for it: elections from the ISR, and acks=all.

There is one log. An append is acknowledged when its callback runs, and with it all before it. When
leadership moves, how much was committed by then (`committed`) is a choice: of what was appended but not yet called
back, that may still be acknowledged by the old leader; the rest fails there. All that is kept is committed
by the new leader.

A failed append (NOT_ENOUGH_REPLICAS_AFTER_APPEND, REQUEST_TIMED_OUT) stays in the log. One that is refused before it
is written (NOT_ENOUGH_REPLICAS) is not modelled.

Records have no content but for their position, where that is enough: the offset of a commit is its position.
"""

from spec.group.coordinator import (
    GROUP_RECORD, GROUP_TOMBSTONE, MEMBER, NOWHERE, NO_RECORD, OFFSET_RECORD, OFFSET_TOMBSTONE, STATIC_RECORD,
    TOMBSTONES, Generation, Kind, MemberId, forget_group, remember_append,
)
from spec.group.states import EMPTY, STABLE
from spec.language.domains import NOBODY, Array, Bound, Choice, Flag, Id, Number, Record, Sequence, SetOf
from spec.language.sets import contains, is_empty, only, with_member

AppendError = Choice("NOT_ENOUGH_REPLICAS_AFTER_APPEND", "TIMED_OUT", "NOT_LEADER")
NOT_ENOUGH_REPLICAS_AFTER_APPEND, TIMED_OUT, NOT_LEADER = AppendError
Position = Number(0, Bound("log"))

HISTORY = Record(
    answered=(Flag(), "a commit, and it was answered with NONE"),
)
RECORD = Record(
    kind=(Kind, "group or offset, value or tombstone"),
    generation=(Generation, "generation; of a commit, the one that the sender gave"),
    leader=(MemberId, "leader"),
    protocol=(Id("protocols", nobody=True), "protocol"),
    owner=(MemberId, "assignment"),
    members=(SetOf("ids"), "member ids"),
    instances=(Array(SetOf("ids"), "clients"), "the member id of each static member"),
    ghosts=(HISTORY, "history, for properties only"),
)
GHOSTS = Record(
    deleted=(Flag(), "the group was deleted: generations begin anew"),
    stale=(Flag(), "a commit was appended behind the record of a newer generation (G7)"),
)
STORAGE = Record(
    epoch=(Number(1, Bound("epochs")), "leader epoch of the offsets partition"),
    leaders=(Array(Id("brokers"), Bound("epochs")), "the leader of each epoch, from epoch 1"),
    log=(Sequence(RECORD, Bound("log")), "records of the leader"),
    committed=(Number(0, Bound("log")), "records known as committed"),
    faults=(Number(0, Bound("faults")), "faults so far"),
    ghosts=(GHOSTS, "history, for properties only"),
)


def leader_of(storage, epoch):
    """Who was elected in an epoch."""
    return storage.leaders[epoch - 1]


def leads(storage, b):
    """Whether `b` is the leader of the partition: its log is the log."""
    return storage.leaders[storage.epoch - 1] == b


def has_news(storage, epoch):
    """Whether there is a later election than that of `epoch`: LeaderAndIsr, an arrival."""
    return storage.epoch > epoch


def is_next_leader(storage, b, epoch):
    """Whether `b` is elected in the epoch after `epoch`."""
    return storage.leaders[epoch] == b


def put_record(storage, b, kind, generation):
    """Append a record without content; answers with its position, -1 when `b` does not lead."""
    if not leads(storage, b):
        return NOWHERE
    position = storage.log.length
    record = storage.log.slots[position]
    record.kind = kind
    record.generation = generation
    record.leader = NOBODY
    record.protocol = NOBODY
    record.owner = NOBODY
    storage.log.length += 1
    return position


def append_group(storage, b, group, owner):
    """storeGroup: append the group as it is with this assignment."""
    position = put_record(storage, b, GROUP_RECORD, group.generation)
    if position != NOWHERE:
        record = storage.log.slots[position]
        record.leader = group.leader
        record.protocol = group.protocol
        record.owner = owner
        for id in range(len(group.members) - 1):
            if group.members[id].status == MEMBER:
                record.members = with_member(record.members, id)
                for m in range(len(record.instances)):
                    if contains(group.members[id].instance, m):
                        record.instances[m] = only(id)
    return position


def store_group(storage, b, broker, owner):
    """storeGroup, with a callback that depends on the result."""
    position = append_group(storage, b, broker.group, owner)
    remember_append(broker, GROUP_RECORD, position, broker.group.generation, 0)


def store_static(storage, b, broker, id, former, clients):
    """storeGroup for a static member with a new id, with a callback that answers its join."""
    position = append_group(storage, b, broker.group, broker.group.owner)
    append = broker.appends.slots[broker.appends.length]
    append.id = id
    append.former = former
    remember_append(broker, STATIC_RECORD, position, broker.group.generation, clients)


def last_generation(storage):
    """The generation in the last group record."""
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
    remember_append(broker, OFFSET_RECORD, position, generation, clients)


def bury(storage, b, group):
    """Tombstones of what a deleted group has in the cache, in one batch, appended without a callback."""
    storage.ghosts.deleted = 1
    if group.generation > 0:
        put_record(storage, b, GROUP_TOMBSTONE if group.offset == NOWHERE else TOMBSTONES, 0)
    elif group.offset != NOWHERE:
        put_record(storage, b, OFFSET_TOMBSTONE, 0)


def may_succeed(storage, b, position):
    """Whether an append may be acknowledged: it is committed, or `b` still leads and it can be."""
    return position != NOWHERE and (leads(storage, b) or position < storage.committed)


def may_fail(storage, position, error):
    """Whether an append may fail with this error: not when it is committed."""
    if position == NOWHERE:
        return error == NOT_LEADER
    return position >= storage.committed and error != NOT_LEADER


def acknowledge(storage, position):
    """An append, and with it all before it, is committed."""
    storage.committed = max(storage.committed, position + 1)


def fail(storage, position):
    """An append fails; unless the broker does not lead any more, that is a fault."""
    if position != NOWHERE:
        storage.faults += 1


def count_fault(storage):
    """Somebody outside has done something."""
    storage.faults += 1


def note_commit(storage, position):
    """A commit is answered with NONE."""
    storage.log.slots[position].ghosts.answered = 1


def owner_in(storage, position):
    """The assignment in a group record."""
    return storage.log.slots[position].owner


def is_readable(storage, upto):
    """Whether a new leader reads the log up to `upto`: to its end (2.1+)."""
    return upto == storage.log.length


def is_below_high_watermark(storage, upto):
    """The same up to 2.0: the high watermark of a new leader may be behind by what it fetched last."""
    return upto == storage.log.length or upto + 1 == storage.log.length


def last_of(storage, kind, tombstone, upto):
    """The position of the last record of a key below `upto`, -1 when there is none or it is a tombstone."""
    found = NOWHERE
    for position in range(len(storage.log.slots) - 1):
        if position < upto:
            present = storage.log.slots[position].kind
            if present == kind:
                found = position
            elif present == tombstone or present == TOMBSTONES:
                found = NOWHERE
    return found


def read_log(storage, group, upto):
    """loadGroupsAndOffsets: the last record of each key; parked requests and rebalances are not in the log."""
    forget_group(group)
    group.offset = last_of(storage, OFFSET_RECORD, OFFSET_TOMBSTONE, upto)
    position = last_of(storage, GROUP_RECORD, GROUP_TOMBSTONE, upto)
    if group.offset != NOWHERE:
        group.state = EMPTY
    if position != NOWHERE:
        record = storage.log.slots[position]
        group.state = EMPTY if is_empty(record.members) else STABLE
        group.generation = record.generation
        group.leader = record.leader
        group.protocol = record.protocol
        group.owner = record.owner
        for id in range(len(group.members) - 1):
            if contains(record.members, id):
                load_member(group.members[id], record, id)


def load_member(member, record, id):
    """One member of a group record: of its protocols only the chosen one is in the log."""
    member.status = MEMBER
    member.first = record.protocol
    member.second = record.protocol
    for m in range(len(record.instances)):
        if contains(record.instances[m], id):
            member.instance = with_member(member.instance, m)


def in_log(storage, id):
    """Whether a record in the log holds a member id."""
    for record in storage.log.slots:
        if record.kind != NO_RECORD and contains(record.members, id):
            return True
    return False
