"""What a broker holds of the group: its share in the offsets partition, the group, appends in flight.

One group, one offsets partition. A member of the group is kept at its member id; an id that the group does
not know is all zeros. Time is left out but for two things that it does: a retention period may pass, and any timer
that is armed may fire, so that "restart the session timer" is no effect. Subscriptions are left out but for the
topic that the members of a generation subscribe to: whether the metadata of a member that joins again has
changed is said by the step. The assignment is of one topic partition: the member that gets it.

An answer that is due later (a parked join or sync, a commit) is due to a connection: `waiter` holds the
client behind it, and is empty when that client has closed it.

While a broker loads, its group fills as it reads, and its state is Absent until it has read all: requests are
refused meanwhile, and no timer is armed.
"""

from kafkaproof.spec.group.records import APPEND, PREPARED, Kind
from kafkaproof.spec.group.sorts import NOWHERE, Epoch, Generation, MemberId, NowhereOr, Position, Protocol
from kafkaproof.spec.group.states import ABSENT, DEAD, GroupState
from kafkaproof.spec.language.domains import NOBODY, Array, Bound, Choice, Flag, Id, Record, Sequence, SetOf

Status = Choice("GONE", "PENDING", "MEMBER")
GONE, PENDING, MEMBER = Status
Parked = Choice("NOTHING_PARKED", "JOIN_PARKED", "SYNC_PARKED")
NOTHING_PARKED, JOIN_PARKED, SYNC_PARKED = Parked

MEMBERSHIP = Record(
    status=(Status, "not known, a pending member (KIP-394), or a member"),
    parked=(Parked, "the request that waits for its answer"),
    waiter=(SetOf("clients"), "the client that waits for it, if it still does"),
    fresh=(Flag(), "isNew: its first join has not completed"),
    first=(Protocol, "protocol that it likes best"),
    second=(Protocol, "protocol that it supports too; the first again when there is none"),
    instance=(SetOf("clients"), "the client whose group.instance.id it has, if any (KIP-345)"),
)
GROUP = Record(
    state=(GroupState, "state of the group"),
    generation=(Generation, "generation, 0 before the first"),
    delayed=(Flag(), "PreparingRebalance came from Empty: the initial delay is not over"),
    leader=(MemberId, "member id of the leader"),
    protocol=(Id("protocols", nobody=True), "the protocol chosen"),
    topic=(Id("topics", nobody=True), "the topic that the generation's members subscribe to; 0 is that of the offset"),
    owner=(MemberId, "assignment: the member that has the topic partition"),
    offset=(NowhereOr, "the committed offset: position of its record, -1 for none"),
    pending=(NowhereOr, "the offset that an open transaction wants to commit: position of its record"),
    aged=(Flag(), "a retention period has passed since the offset was committed"),
    idle=(Flag(), "a retention period has passed since the group became Empty"),
    members=(Array(MEMBERSHIP, Bound("ids")), "members and pending members, by member id"),
)
BROKER = Record(
    epoch=(Epoch, "leader epoch of the offsets partition up to which changes of the leader were handled"),
    owned=(Flag(), "ownedPartitions holds the partition"),
    loading=(Flag(), "loadingPartitions holds the partition"),
    read=(Position, "while it loads: how far it has read"),
    tombstone=(Kind, "tombstones that were decided, and are not yet appended"),
    group=(GROUP, "the group"),
    prepared=(Sequence(PREPARED, Bound("prepared")), "records that a thread is about to append (up to 1.0)"),
    appends=(Sequence(APPEND, Bound("appends")), "appends whose callback has not run, by position"),
)


def status(group, id):
    """What the group knows of a member id."""
    return GONE if id == NOBODY else group.members[id].status


def members_of(group):
    """How many members the group has."""
    n = 0
    for member in group.members:
        if member.status == MEMBER:
            n += 1
    return n


def all_joined(group):
    """hasAllMembersJoined: every member has a parked join, and nobody is pending."""
    for member in group.members:
        if member.status == PENDING or member.status == MEMBER and member.parked != JOIN_PARKED:
            return False
    return True


def is_heir(group, removed, heir):
    """Whether `heir` may lead after `removed` is gone: any other member, nobody when there is none."""
    if group.leader == NOBODY or group.leader != removed:
        return heir == group.leader
    if heir == NOBODY:
        return members_of(group) == 1
    return heir != removed and status(group, heir) == MEMBER


def forget_member(member):
    """The group does not know a member id any more."""
    member.status = GONE
    member.parked = NOTHING_PARKED
    member.waiter = 0
    member.fresh = 0
    member.first = 0
    member.second = 0
    member.instance = 0


def forget_group(group):
    """There is no group in the cache."""
    group.state = ABSENT
    group.generation = 0
    group.delayed = 0
    group.leader = NOBODY
    group.protocol = NOBODY
    group.owner = NOBODY
    group.topic = NOBODY
    group.offset = NOWHERE
    group.pending = NOWHERE
    group.aged = 0
    group.idle = 0
    for member in group.members:
        forget_member(member)


def lay_to_rest(group):
    """The group is Dead: what it held is of no use, whoever still refers to it."""
    forget_group(group)
    group.state = DEAD


def has_timers(group):
    """Whether timers of the group may act: it is in the cache, and not Dead."""
    return group.state != ABSENT and group.state != DEAD


def subscribes(group):
    """isSubscribedToTopic of the offset's topic: unknown, so yes, before the first generation."""
    return group.generation == 0 or group.topic == 0


def unpark(member):
    """The parked request is answered."""
    member.parked = NOTHING_PARKED
    member.waiter = 0


def park(member, request, waiter):
    """Keep a request to be answered later; an older one of the same member is never answered."""
    member.parked = request
    member.waiter = waiter
