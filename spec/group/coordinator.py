"""What a broker knows of the group: its part in the offsets partition, the group itself, appends in flight.

There is one group and one offsets partition. Members are indexed by member id; the entry of an id that the group does
not know is all zeros. Time is not modelled, except that a retention period may pass, and that any armed timer may fire
at any moment; restarting a session timer therefore has no effect. Subscriptions are not modelled either, except for the
topic that the members of a generation subscribe to: an argument of the step says whether the metadata of a rejoining
member has changed. One topic partition is assigned; the assignment names the member that gets it.

An answer that is due later (to a parked join or sync, or to a commit) is due to a connection: `waiter` holds the client
at its other end, and is empty once that client has closed it.

While a broker loads, its group fills as it reads; the state stays Absent until everything has been read. Meanwhile
requests are refused, and no timer is armed.
"""

from kafkaproof.spec.group.group_states import ABSENT, DEAD, GroupState
from kafkaproof.spec.group.records import APPEND, PREPARED, Kind
from kafkaproof.spec.group.sorts import NOWHERE, Epoch, Generation, MemberId, NowhereOr, Position, Protocol
from kafkaproof.spec.language.domains import NOBODY, Array, Bound, Choice, Flag, Id, Record, Sequence, SetOf

Status = Choice("GONE", "PENDING", "MEMBER")
GONE, PENDING, MEMBER = Status
Parked = Choice("NOTHING_PARKED", "JOIN_PARKED", "SYNC_PARKED")
NOTHING_PARKED, JOIN_PARKED, SYNC_PARKED = Parked

MEMBERSHIP = Record(
    status=(Status, "not known, a pending member (KIP-394), or a member"),
    parked=(Parked, "the request that waits for its answer"),
    waiter=(SetOf("clients"), "the client waiting for it, if it still waits"),
    fresh=(Flag(), "isNew: its first join has not yet completed"),
    first=(Protocol, "the protocol that it prefers"),
    second=(Protocol, "the other protocol that it supports; the preferred one again when there is no other"),
    instance=(SetOf("clients"), "the client whose group.instance.id the member has, if any (KIP-345)"),
)
GROUP = Record(
    state=(GroupState, "state of the group"),
    generation=(Generation, "generation, 0 before the first"),
    delayed=(Flag(), "PreparingRebalance was entered from Empty, and the initial delay is not over"),
    leader=(MemberId, "member id of the leader"),
    protocol=(Id("protocols", nobody=True), "the protocol chosen"),
    topic=(Id("topics", nobody=True), "the topic that the generation's members subscribe to; 0 is that of the offset"),
    owner=(MemberId, "the assignment: the member that gets the topic partition"),
    offset=(NowhereOr, "the committed offset, as the position of its record; -1 for none"),
    pending=(NowhereOr, "the offset that an open transaction is to commit, as the position of its record"),
    aged=(Flag(), "a retention period has passed since the offset was committed"),
    idle=(Flag(), "a retention period has passed since the group became Empty"),
    members=(Array(MEMBERSHIP, Bound("ids")), "members and pending members, by member id"),
)
BROKER = Record(
    epoch=(Epoch, "last leader epoch of the offsets partition whose change of leader was handled"),
    owned=(Flag(), "ownedPartitions holds the partition"),
    loading=(Flag(), "loadingPartitions holds the partition"),
    read=(Position, "how far it has read while it loads"),
    tombstone=(Kind, "tombstones that were decided on but not yet appended"),
    group=(GROUP, "the group"),
    prepared=(Sequence(PREPARED, Bound("prepared")), "records that threads are about to append (up to 0.10.2)"),
    appends=(Sequence(APPEND, Bound("appends")), "appends whose callback has not yet run, by position"),
)


def status(group, id):
    """What the group knows of a member id."""
    return GONE if id == NOBODY else group.members[id].status


def members_of(group):
    """The number of members in the group."""
    n = 0
    for member in group.members:
        if member.status == MEMBER:
            n += 1
    return n


def all_joined(group):
    """hasAllMembersJoined: every member has a parked join, and no member is pending."""
    for member in group.members:
        if member.status == PENDING or member.status == MEMBER and member.parked != JOIN_PARKED:
            return False
    return True


def is_heir(group, removed, heir):
    """Whether `heir` may lead once `removed` is gone: any other member may, and nobody if there is none."""
    if group.leader == NOBODY or group.leader != removed:
        return heir == group.leader
    if heir == NOBODY:
        return members_of(group) == 1
    return heir != removed and status(group, heir) == MEMBER


def forget_member(member):
    """Remove a member id from the group."""
    member.status = GONE
    member.parked = NOTHING_PARKED
    member.waiter = 0
    member.fresh = 0
    member.first = 0
    member.second = 0
    member.instance = 0


def forget_group(group):
    """Remove the group from the cache."""
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
    """Make the group Dead and clear what it held: nobody uses it any more."""
    forget_group(group)
    group.state = DEAD


def has_timers(group):
    """Whether the group's timers may fire: it is in the cache, and not Dead."""
    return group.state != ABSENT and group.state != DEAD


def subscribes(group):
    """isSubscribedToTopic for the offset's topic. Before the first generation this is unknown, and counts as yes."""
    return group.generation == 0 or group.topic == 0


def unpark(member):
    """Clear the parked request: it has been answered."""
    member.parked = NOTHING_PARKED
    member.waiter = 0


def park(member, request, waiter):
    """Keep a request to answer it later. An older one of the same member is never answered."""
    member.parked = request
    member.waiter = waiter
