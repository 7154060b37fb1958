"""What a broker holds of the group: its share in the offsets partition, the group, appends in flight.

One group, one offsets partition. A member of the group is kept at its member id; an id that the group does
not know is all zeros. Time is left out: a timer may fire whenever it is armed, so that "restart the
session timer" is no effect. Subscriptions are left out: whether the metadata of a member that joins again
has changed is said by the step. The assignment is of one topic partition: the member that gets it.

An answer that is due later (a parked join or sync, a commit) is due to a connection: `waiter` holds the
client behind it, and is empty when that client has closed it.
"""

from spec.group.states import ABSENT, GroupState
from spec.language.domains import NOBODY, Array, Bound, Choice, Flag, Id, Number, Record, Sequence, SetOf
from spec.language.sets import is_empty

Broker = Id("brokers")
Client = Id("clients")
MemberId = Number(NOBODY, Bound("ids", -1))
KnownId = Number(0, Bound("ids", -1))
Generation = Number(0, Bound("generations"))
Epoch = Number(0, Bound("epochs"))
Protocol = Id("protocols")
NowhereOr = Number(-1, Bound("log", -1))
NOWHERE = -1

Status = Choice("GONE", "PENDING", "MEMBER")
GONE, PENDING, MEMBER = Status
Parked = Choice("NOTHING_PARKED", "JOIN_PARKED", "SYNC_PARKED")
NOTHING_PARKED, JOIN_PARKED, SYNC_PARKED = Parked
Kind = Choice(
    "NO_RECORD", "GROUP_RECORD", "OFFSET_RECORD", "GROUP_TOMBSTONE", "OFFSET_TOMBSTONE", "TOMBSTONES",
    "STATIC_RECORD",  # a group record, and the callback is that of a static member
)
NO_RECORD, GROUP_RECORD, OFFSET_RECORD, GROUP_TOMBSTONE, OFFSET_TOMBSTONE, TOMBSTONES, STATIC_RECORD = Kind

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
    owner=(MemberId, "assignment: the member that has the topic partition"),
    offset=(NowhereOr, "the committed offset: position of its record, -1 for none"),
    members=(Array(MEMBERSHIP, Bound("ids")), "members and pending members, by member id"),
)
APPEND = Record(
    kind=(Kind, "what was appended"),
    position=(NowhereOr, "where, -1 when it is in no log that lives on"),
    generation=(Generation, "generation in the callback"),
    waiter=(SetOf("clients"), "the client that waits for the answer to a commit"),
    orphan=(Flag(), "the group of the callback is Dead"),
    id=(KnownId, "of a static member: its new member id"),
    former=(KnownId, "and its former one"),
)
BROKER = Record(
    epoch=(Epoch, "leader epoch of the offsets partition up to which changes of the leader were handled"),
    owned=(Flag(), "ownedPartitions holds the partition"),
    loading=(Flag(), "loadingPartitions holds the partition"),
    group=(GROUP, "the group"),
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
    group.offset = NOWHERE
    for member in group.members:
        forget_member(member)


def unpark(member):
    """The parked request is answered."""
    member.parked = NOTHING_PARKED
    member.waiter = 0


def park(member, request, waiter):
    """Keep a request to be answered later; an older one of the same member is never answered."""
    member.parked = request
    member.waiter = waiter


def supports(member, protocol):
    """Whether a member supports a protocol."""
    return member.first == protocol or member.second == protocol


def stays(member):
    """Whether a member is one of the next generation: it has joined again, or is static (KIP-345)."""
    return member.parked == JOIN_PARKED or not is_empty(member.instance)


def candidate(group, protocol):
    """Whether all who stay support a protocol."""
    for member in group.members:
        if member.status == MEMBER and stays(member) and not supports(member, protocol):
            return False
    return True


def votes(group, protocol):
    """How many of those who stay have `protocol` as the first candidate in their list."""
    n = 0
    for member in group.members:
        if member.status == MEMBER and stays(member):
            chosen = member.first if candidate(group, member.first) else member.second
            if chosen == protocol:
                n += 1
    return n


def is_elected(group, protocol):
    """selectProtocol: a candidate with the most votes; ties are free. 0 stands for the choice of nobody."""
    nobody = True
    for member in group.members:
        if member.status == MEMBER and stays(member):
            nobody = False
            for other in range(max(member.first, member.second) + 1):
                if votes(group, other) > votes(group, protocol):
                    return False
    return protocol == 0 if nobody else candidate(group, protocol) and votes(group, protocol) > 0


def common(group, first, second):
    """supportsProtocols: the group has no members, or all of them support one of the protocols offered."""
    return supported_by_all(group, first) or supported_by_all(group, second)


def supported_by_all(group, protocol):
    """Whether all members support a protocol."""
    for member in group.members:
        if member.status == MEMBER and not supports(member, protocol):
            return False
    return True


def remember_append(broker, kind, position, generation, waiter):
    """Keep a callback."""
    append = broker.appends.slots[broker.appends.length]
    append.kind = kind
    append.position = position
    append.generation = generation
    append.waiter = waiter
    broker.appends.length += 1


def forget_append(broker, i):
    """A callback has run."""
    appends = broker.appends
    for k in range(len(appends.slots) - 1):
        if k >= i:
            copy_append(appends.slots[k], appends.slots[k + 1])
    appends.length -= 1


def copy_append(to, source):
    """Make one append like another."""
    to.kind = source.kind
    to.position = source.position
    to.generation = source.generation
    to.waiter = source.waiter
    to.orphan = source.orphan
    to.id = source.id
    to.former = source.former
