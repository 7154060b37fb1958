"""What the offsets log contains, and what a coordinator remembers of an append until its callback has run.

Where its position is enough, a record has no other content: the offset in a commit is the commit's own position.
"""

from kafkaproof.spec.group.sorts import Generation, KnownId, MemberId, NowhereOr
from kafkaproof.spec.language.domains import NOBODY, Array, Choice, Flag, Id, Record, SetOf

Kind = Choice(
    "NO_RECORD",
    "GROUP_RECORD",
    "OFFSET_RECORD",
    "GROUP_TOMBSTONE",
    "OFFSET_TOMBSTONE",
    "TOMBSTONES",  # for the group and for its offset, in one batch
    "STATIC_RECORD",  # a group record whose callback is that of a static member
    "TRANSACTION_RECORD",  # an offset that a transaction commits or aborts
    "COMMIT_MARKER",
    "ABORT_MARKER",
    "COMMIT_SCHEDULED",  # the marker is stored, and the cache is still to be updated: only in a callback
    "ABORT_SCHEDULED",
)
(
    NO_RECORD,
    GROUP_RECORD,
    OFFSET_RECORD,
    GROUP_TOMBSTONE,
    OFFSET_TOMBSTONE,
    TOMBSTONES,
    STATIC_RECORD,
    TRANSACTION_RECORD,
    COMMIT_MARKER,
    ABORT_MARKER,
    COMMIT_SCHEDULED,
    ABORT_SCHEDULED,
) = Kind

HISTORY = Record(
    answered=(Flag(), "a commit that was answered with NONE"),
    deleted=(Flag(), "a commit that was in the leader's cache when the leader decided to delete it"),
)
RECORD = Record(
    kind=(Kind, "group or offset, value or tombstone"),
    generation=(Generation, "generation; in a commit, the one that the sender named"),
    leader=(MemberId, "leader"),
    protocol=(Id("protocols", nobody=True), "protocol"),
    topic=(Id("topics", nobody=True), "the topic that the members subscribe to"),
    owner=(MemberId, "assignment"),
    members=(SetOf("ids"), "member ids"),
    instances=(Array(SetOf("ids"), "clients"), "the member id of each static member"),
    aged=(Flag(), "offsets.retention.minutes have passed since"),
    ghosts=(HISTORY, "history, for properties only"),
)
APPEND = Record(
    kind=(Kind, "what was appended"),
    position=(NowhereOr, "its position, -1 if it is in no surviving log"),
    generation=(Generation, "generation, as the callback knows it"),
    waiter=(SetOf("clients"), "the client that waits for the answer to a commit, or to a join once its group is Dead"),
    orphan=(Flag(), "the group of the callback is Dead, or what it stores was deleted"),
    id=(KnownId, "static member: its new member id"),
    former=(KnownId, "static member: its former member id"),
    now=(KnownId, "static member: its present member id, which is not the new one if it was replaced again"),
)
PREPARED = Record(
    record=(RECORD, "what is to be appended"),
    waiter=(SetOf("clients"), "the client that waits for the answer to a commit"),
    orphan=(Flag(), "the group of the callback is Dead, or what it stores was deleted"),
    silent=(Flag(), "there is no callback"),
)


def clear_record(record):
    """Clear a record."""
    record.kind = NO_RECORD
    record.generation = 0
    record.leader = 0
    record.protocol = 0
    record.topic = 0
    record.owner = 0
    record.members = 0
    record.aged = 0
    record.ghosts.answered = 0
    record.ghosts.deleted = 0
    for m in range(len(record.instances)):
        record.instances[m] = 0


def name_record(record, kind, generation):
    """A record without content."""
    record.kind = kind
    record.generation = generation
    record.leader = NOBODY
    record.protocol = NOBODY
    record.topic = NOBODY
    record.owner = NOBODY


def remember_append(broker, kind, position, generation, waiter):
    """Keep a callback."""
    append = broker.appends.slots[broker.appends.length]
    append.kind = kind
    append.position = position
    append.generation = generation
    append.waiter = waiter
    broker.appends.length += 1


def copy_record(to, source):
    """Make one record equal to another, except for its history."""
    to.kind = source.kind
    to.generation = source.generation
    to.leader = source.leader
    to.protocol = source.protocol
    to.topic = source.topic
    to.owner = source.owner
    to.members = source.members
    to.aged = source.aged
    for m in range(len(to.instances)):
        to.instances[m] = source.instances[m]


def forget_append(broker, i):
    """Remove a callback that has run."""
    appends = broker.appends
    for k in range(len(appends.slots) - 1):
        if k >= i:
            copy_append(appends.slots[k], appends.slots[k + 1])
    appends.length -= 1


def copy_append(to, source):
    """Copy one append to another."""
    to.kind = source.kind
    to.position = source.position
    to.generation = source.generation
    to.waiter = source.waiter
    to.orphan = source.orphan
    to.id = source.id
    to.former = source.former
    to.now = source.now


def clear_prepared(prepared):
    """Clear a prepared record."""
    clear_record(prepared.record)
    prepared.waiter = 0
    prepared.orphan = 0
    prepared.silent = 0


def clear_append(append):
    """Clear an append."""
    append.kind = NO_RECORD
    append.position = 0
    append.generation = 0
    append.waiter = 0
    append.orphan = 0
    append.id = 0
    append.former = 0
    append.now = 0
