"""JoinGroup, and the delayed join that collects members until a generation is complete."""

from kafkaproof.spec.group.coordinator import (
    JOIN_PARKED,
    MEMBER,
    PENDING,
    SYNC_PARKED,
    all_joined,
    forget_member,
    members_of,
    park,
)
from kafkaproof.spec.group.group_states import ABSENT, COMPLETING_REBALANCE, EMPTY, PREPARING_REBALANCE
from kafkaproof.spec.group.network import (
    GROUP_MAX_SIZE_REACHED,
    JOIN,
    MEMBER_ID_REQUIRED,
    NONE,
    PARKED,
    REBALANCE_IN_PROGRESS,
    answer,
    answer_joins,
    asked,
    give_generation,
    give_id,
    id_known,
    id_of,
    instance,
    may_be_told_id,
    refuse,
    waiter,
)
from kafkaproof.spec.group.protocols import is_elected, stays
from kafkaproof.spec.group.sorts import Broker, Client, MemberId, Protocol, Topic
from kafkaproof.spec.group.storage import store_empty
from kafkaproof.spec.group.verdicts import first_join_verdict, join_verdict, member_of_instance
from kafkaproof.spec.language.domains import NOBODY, Flag


def create_if_absent(group):
    """Create the group as Empty if it is not in the cache."""
    if group.state == ABSENT:
        group.state = EMPTY


def prepare_rebalance(group):
    """prepareRebalance: drop the assignment and start a delayed join, with the initial delay if the group was Empty.

    Kafka: GroupCoordinator.prepareRebalance, 0.11 to 3.9.
    """
    if group.state != PREPARING_REBALANCE:
        group.delayed = 1 if group.state == EMPTY else 0
        group.state = PREPARING_REBALANCE
        group.owner = NOBODY
        group.idle = 0


def offer(member, first, second):
    """The protocols that a member supports, best first."""
    member.first = first
    member.second = second


def add_member(group, id, who, first, second, clients):
    """Add a new member, which waits for the next generation. It leads if nobody else does."""
    member = group.members[id]
    member.status = MEMBER
    member.fresh = 1
    member.instance = who
    offer(member, first, second)
    park(member, JOIN_PARKED, clients)
    if group.leader == NOBODY:
        group.leader = id


def turn_away(group, id):
    """Drop a member that finds the group full, a pending one, too (3.0+). If it led, the member that has joined leads.

    Kafka picks any member as leader. A member that has not joined by the end cannot lead the next generation, and all
    others that join until then are turned away, too. With room for one member, only the one that has joined is left.
    """
    forget_member(group.members[id])
    for other in range(len(group.members) - 1):
        if group.leader == id and group.members[other].parked == JOIN_PARKED:
            group.leader = other


def first_join(s, b: Broker, m: Client, late: Flag(), first: Protocol, second: Protocol):
    """Client `m`, which has no member id, asks broker `b` to join. If it is static, its group.instance.id is new.

    Guards:  the request arrives; no member has its group.instance.id.
    Request: MEMBER_ID_REQUIRED or PARKED, or an error as in `first_join_verdict`.
    Effects: there is a pending member; or there is a new member, and a rebalance, which refuses the parked syncs.
    Kafka:   GroupCoordinator.doJoinGroup, 0.9 to 2.1; doUnknownJoinGroup, 2.2 to 2.8; doDynamicNewMemberJoinGroup,
             3.0 to 3.9 (KIP-394: 2.2 to 3.9).
    """
    group = s.brokers[b].group
    if asked(s.network, m, late) != JOIN or id_known(s.network, m, late):
        return False
    if member_of_instance(group, instance(s.network, m)) != NOBODY:
        return False

    id = id_of(s.network, m, late)
    who = instance(s.network, m)
    verdict = first_join_verdict(s.brokers[b], who, may_be_told_id(s.network, m), first, second)
    answer(s.network, m, late, verdict)
    if verdict == MEMBER_ID_REQUIRED:
        create_if_absent(group)
        group.members[id].status = PENDING
        give_id(s.network, waiter(m, late), id)
    elif verdict == PARKED:
        create_if_absent(group)
        refuse(s.network, group, SYNC_PARKED, REBALANCE_IN_PROGRESS)
        prepare_rebalance(group)
        add_member(group, id, who, first, second, waiter(m, late))
    return True


def join(s, b: Broker, m: Client, late: Flag(), first: Protocol, second: Protocol, changed: Flag()):
    """Client `m`, which has a member id, asks broker `b` to join.

    Guards:  the request arrives.
    Request: PARKED, or NONE at once, or an error as in `join_verdict`.
    Effects: a pending member becomes a member; a member's protocols are replaced by those that it offers. Both wait,
             and there is a rebalance, which refuses the parked syncs. NONE gives the present generation. A client that
             finds the group full is dropped.
    Kafka:   GroupCoordinator.doJoinGroup, 0.9 to 2.8; doCurrentMemberJoinGroup, 3.0 to 3.9.
    """
    broker = s.brokers[b]
    group = broker.group
    if asked(s.network, m, late) != JOIN or not id_known(s.network, m, late):
        return False

    id = id_of(s.network, m, late)
    verdict = join_verdict(broker, id, instance(s.network, m), first, second, changed)
    answer(s.network, m, late, verdict)
    if verdict == NONE:
        leads = 1 if group.leader == id else 0
        give_generation(s.network, waiter(m, late), id, group.generation, broker.epoch, leads)
    elif verdict == PARKED:
        refuse(s.network, group, SYNC_PARKED, REBALANCE_IN_PROGRESS)
        prepare_rebalance(group)
        if group.members[id].status == PENDING:
            add_member(group, id, instance(s.network, m), first, second, waiter(m, late))
        offer(group.members[id], first, second)
        park(group.members[id], JOIN_PARKED, waiter(m, late))
    elif verdict == GROUP_MAX_SIZE_REACHED:
        turn_away(group, id)
    return True


def is_parked(group, id):
    """Whether a member has a parked join."""
    return id != NOBODY and group.members[id].parked == JOIN_PARKED


def anybody_parked(group):
    """Whether some member has a parked join."""
    for member in group.members:
        if member.parked == JOIN_PARKED:
            return True
    return False


def is_next_leader(group, leader):
    """Whether `leader` may lead the next generation: the present leader if it has joined, else any member that has."""
    if is_parked(group, group.leader) or not anybody_parked(group):
        return leader == group.leader
    return is_parked(group, leader)


def anybody_stays(group):
    """Whether some member stays in the group."""
    for member in group.members:
        if stays(member):
            return True
    return False


def remove_absent(group):
    """Remove the members that have not joined in time."""
    for member in group.members:
        if member.status == MEMBER and not stays(member):
            forget_member(member)


def is_subscription(group, topic):
    """Whether the members of the next generation may subscribe to a topic: to any topic; to none without members."""
    return topic == 0 or anybody_stays(group)


def begin_generation(group, leader, protocol, topic):
    """initNextGeneration: the next generation is Empty without members; else it awaits the leader's assignment."""
    group.generation += 1
    group.delayed = 0
    group.idle = 0
    if members_of(group) == 0:
        group.leader = NOBODY
        group.protocol = NOBODY
        group.topic = NOBODY
        group.state = EMPTY
    else:
        group.leader = leader
        group.protocol = protocol
        group.topic = topic
        group.state = COMPLETING_REBALANCE
    for member in group.members:
        member.fresh = 0


def complete_join(s, b: Broker, leader: MemberId, protocol: Protocol, topic: Topic):
    """The rebalance is complete: every member has joined.

    Guards:  every member has a parked join, no member is pending, and the initial delay is over; `leader` is the
             present leader, or any member if that one has not joined; `protocol` is supported by all members, and none
             has more votes; `topic` is the topic that they subscribe to.
    Effects: a new generation begins; every parked join is answered. Without members the group is Empty, and is stored.
    Kafka:   GroupCoordinator.onCompleteJoin, 0.9 to 3.9 (the choice of a leader: 2.3 to 3.9).
    """
    broker = s.brokers[b]
    group = broker.group
    if group.state != PREPARING_REBALANCE or group.delayed or not all_joined(group):
        return False
    if not is_next_leader(group, leader) or not is_elected(group, protocol) or not is_subscription(group, topic):
        return False

    begin_generation(group, leader, protocol, topic)
    if group.state == EMPTY:
        store_empty(s.storage, b, broker)
    answer_joins(s.network, group, broker.epoch)
    return True


def join_timeout(s, b: Broker, leader: MemberId, protocol: Protocol, topic: Topic):
    """The rebalance timeout expires, or the initial delay.

    Guards:  a rebalance goes on; it is not the case that only static members remain and nobody has joined, for then the
             wait goes on; `leader`, `protocol` and `topic` are as when every member has joined.
    Effects: members that have not joined are removed, except static ones; then the same as when every member has
             joined.
    Kafka:   DelayedJoin.onExpiration, GroupCoordinator.onCompleteJoin, 0.9 to 3.9.
    """
    broker = s.brokers[b]
    group = broker.group
    if group.state != PREPARING_REBALANCE or not group.delayed and all_joined(group):
        return False
    if not anybody_parked(group) and anybody_stays(group):
        return False
    if not is_next_leader(group, leader) or not is_elected(group, protocol) or not is_subscription(group, topic):
        return False

    remove_absent(group)
    begin_generation(group, leader, protocol, topic)
    if group.state == EMPTY:
        store_empty(s.storage, b, broker)
    answer_joins(s.network, group, broker.epoch)
    return True
