"""Properties of elections: P10 to P12, C15, T3 as far as it forbids elections, and what an administrator asks for."""

from kafkaproof.spec.kafka.strategies import (
    controlled_shutdown_isr,
    controlled_shutdown_leader,
    controlled_shutdown_recipients,
    new_topic_isr,
    new_topic_leader,
    offline_isr,
    offline_leader,
    offline_recipients,
    preferred_leader,
    reassign_leader,
    replicas_of,
)
from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.spec.language.model import always, always_step
from kafkaproof.spec.language.sets import contains, intersection, is_empty, with_member, without_member
from kafkaproof.spec.partition.context import (
    CONTROLLED_SHUTDOWN,
    ELECTING,
    FORCED,
    OFFLINE,
    PREFERRED,
    PREFERRED_BY_ZNODE,
    REASSIGN,
    WRITING_LEADER,
    is_known,
    is_queued,
    online,
    online_or_leaving,
)
from kafkaproof.spec.partition.network import UNCLEAN_TYPE, is_asked_of
from kafkaproof.spec.partition.properties.states import differs
from kafkaproof.spec.partition.rebalance import PERCENTAGE
from kafkaproof.spec.partition.zookeeper import known_as_they_are


def expected_leader(controller, p, state, unclean):
    """The leader that the strategy of the event in progress elects from a state."""
    assignment = controller.partitions[p].assignment
    candidates = online(controller, controller.partitions[p])
    if controller.strategy == OFFLINE:
        return offline_leader(assignment, state.isr, candidates, unclean)
    if controller.strategy == FORCED:
        return offline_leader(assignment, state.isr, candidates, 1)
    if controller.strategy == CONTROLLED_SHUTDOWN:
        candidates = online_or_leaving(controller, controller.partitions[p])
        return controlled_shutdown_leader(assignment, state.isr, candidates, controller.leaving)
    if controller.strategy == REASSIGN:
        return reassign_leader(controller.target, state.isr, candidates)
    return preferred_leader(assignment, state.isr, candidates)


def expected_isr(controller, p, state, leader):
    """The ISR that goes with it."""
    if controller.strategy == OFFLINE or controller.strategy == FORCED:
        return offline_isr(state.isr, online(controller, controller.partitions[p]), leader)
    if controller.strategy == CONTROLLED_SHUTDOWN:
        return controlled_shutdown_isr(state.isr, controller.leaving)
    return state.isr


def strategy(before, after, b, p, delivery):
    """An election writes what its strategy computes from the state that it replaces (P10)."""
    old = before.zk.partitions[p]
    new = after.zk.partitions[p]
    if not differs(old, new):
        return True
    controller = before.brokers[b].controller
    leader = expected_leader(controller, p, old, 0)
    if leader == NOBODY:
        leader = expected_leader(controller, p, old, after.zk.unclean)
    return new.leader == leader and new.isr == expected_isr(controller, p, old, leader)


def first_state(before, after, b, p, delivery):
    """The first state of a partition has all online replicas in the ISR, and the first of them leads (P10)."""
    new = after.zk.partitions[p]
    if not differs(before.zk.partitions[p], new):
        return True
    candidates = online(before.brokers[b].controller, before.brokers[b].controller.partitions[p])
    assignment = before.zk.assignments[p]
    return new.leader == new_topic_leader(assignment, candidates) and new.isr == new_topic_isr(assignment, candidates)


def leaderless_for_a_reason(before, after, b, p, r, delivery):
    """A partition loses its leader while a member of the ISR is online only at the start of a term, or if the topic is
    queued for deletion (P11).
    """
    controller = before.brokers[b].controller
    old = before.zk.partitions[p]
    taken = old.leader != NOBODY and after.zk.partitions[p].leader == NOBODY
    left = without_member(intersection(old.isr, online(controller, controller.partitions[p])), r)
    return not taken or controller.starting or is_queued(controller, p) or is_empty(left)


def rebalanced(before, after, b, p, delivery):
    """A preferred election does not change the ISR, and makes the first replica the leader (P12)."""
    old = before.zk.partitions[p]
    new = after.zk.partitions[p]
    chosen = before.brokers[b].controller.strategy
    if not differs(old, new) or (chosen != PREFERRED and chosen != PREFERRED_BY_ZNODE):
        return True
    return new.isr == old.isr and new.leader == before.zk.assignments[p].slots[0]


def is_elsewhere(controller, p):
    """Whether a partition is known to have another leader than its first replica."""
    partition = controller.partitions[p]
    return is_known(partition) and partition.leader != partition.assignment.slots[0]


def same_first_replica(some, others):
    """Whether two assignments begin with the same broker; an empty one begins with none."""
    return some.length > 0 and others.length > 0 and some.slots[0] == others.slots[0]


def share_exceeds_limit(controller, p):
    """Whether too many of the partitions with the same first replica as `p` have another leader, not counting queued
    ones.
    """
    same = 0
    elsewhere = 0
    for q in range(len(controller.partitions)):
        same_first = same_first_replica(controller.partitions[q].assignment, controller.partitions[p].assignment)
        if same_first and not is_queued(controller, q):
            same += 1
            elsewhere += 1 if is_elsewhere(controller, q) else 0
    return 100 * elsewhere > PERCENTAGE * same


def may_go_back(controller, partition):
    """Whether the preferred replica of a partition could lead: it is online and in the ISR."""
    return contains(intersection(partition.isr, online(controller, partition)), partition.assignment.slots[0])


def rebalance_acts(before, after, b):
    """When the timer fires, exactly those partitions are elected that may go back to their first replica, in the groups
    whose share of other leaders exceeds the limit (P12).
    """
    controller = before.brokers[b].controller
    expected = 0
    for p in range(len(controller.partitions)):
        partition = controller.partitions[p]
        able = may_go_back(controller, partition)
        if able and is_elsewhere(controller, p) and share_exceeds_limit(controller, p) and not is_queued(controller, p):
            expected = with_member(expected, p)
    return after.brokers[b].controller.todo == expected


def lacks_leader(controller, p):
    """Whether a partition is known to have no leader, or one that is gone or shutting down."""
    partition = controller.partitions[p]
    leader = partition.leader
    gone = leader == NOBODY or not contains(controller.live, leader) or contains(controller.leaving, leader)
    return is_known(partition) and gone


def asked_for(before, after, b):
    """An administrator's request elects exactly those partitions that need it (ELECTION_NOT_NEEDED), and none at all if
    one that it asks for has no state.
    """
    controller = before.brokers[b].controller
    expected = 0
    for p in range(len(controller.partitions)):
        partition = controller.partitions[p]
        unknown = partition.assignment.length > 0 and not is_known(partition) and not is_queued(controller, p)
        if unknown and is_asked_of(before.network, p):
            return is_empty(after.brokers[b].controller.todo)
        unclean = before.network.asked == UNCLEAN_TYPE
        needed = lacks_leader(controller, p) if unclean else is_elsewhere(controller, p)
        if needed and is_asked_of(before.network, p) and not is_queued(controller, p):
            expected = with_member(expected, p)
    return after.brokers[b].controller.todo == expected


def ends_something(controller):
    """Whether something that began before a deletion is being completed: here nothing is."""
    return False


def queued_left_alone(s):
    """A controller holds no election for a partition whose topic it knows to be queued for deletion (T3)."""
    for broker in s.brokers:
        controller = broker.controller
        elects = controller.doing == ELECTING or controller.doing == WRITING_LEADER
        elects = elects and not ends_something(controller)
        if elects and not is_empty(intersection(controller.todo, controller.deleting)):
            return False
    return True


def queued_has_no_offline_leader(before, after, b):
    """The failure of a broker changes the state of no partition whose topic is known to be queued for deletion (T3)."""
    old = before.brokers[b].controller
    for p in range(len(old.partitions)):
        if is_queued(old, p) and after.brokers[b].controller.partitions[p].state != old.partitions[p].state:
            return False
    return True


def told(after, b, p):
    """The brokers to which the newest request of the controller of `b` is on its way."""
    return after.network.requests[after.brokers[b].controller.epoch][p].to


def expected_recipients(controller, partition):
    """The live replicas that the strategy of the event in progress names as recipients."""
    if controller.strategy == OFFLINE or controller.strategy == FORCED:
        return offline_recipients(partition.assignment, online(controller, partition))
    if controller.strategy == CONTROLLED_SHUTDOWN:
        return controlled_shutdown_recipients(partition.assignment, online_or_leaving(controller, partition))
    if controller.strategy == REASSIGN:
        return intersection(replicas_of(controller.target), controller.live)
    return intersection(replicas_of(partition.assignment), controller.live)


def recipients(before, after, b, p, delivery):
    """After an election LeaderAndIsr is sent to every live replica that its strategy names, and to no other broker
    (C15).
    """
    controller = before.brokers[b].controller
    if after.brokers[b].controller.partitions[p].leader_epoch != controller.result.leader_epoch:
        return True
    expected = expected_recipients(controller, controller.partitions[p])
    return told(after, b, p) == known_as_they_are(before.zk, b, expected)


def removal_recipients(before, after, b, p, r, delivery):
    """When a replica is removed from the ISR, LeaderAndIsr is sent to every other live replica, and to no other broker;
    to none if the topic is queued for deletion (C15).
    """
    controller = before.brokers[b].controller
    if after.brokers[b].controller.partitions[p].leader_epoch != controller.result.leader_epoch:
        return True
    if is_queued(controller, p):
        return told(after, b, p) == told(before, b, p)
    others = without_member(intersection(replicas_of(controller.partitions[p].assignment), controller.live), r)
    return told(after, b, p) == known_as_they_are(before.zk, b, others)


ELECTIONS = (
    always_step(strategy, of=("write_leader",)),
    always_step(first_state, of=("create_first_state",)),
    always_step(leaderless_for_a_reason, of=("write_removal",)),
    always_step(rebalanced, of=("write_leader",)),
    always_step(rebalance_acts, of=("rebalance",)),
    always(queued_left_alone),
    always_step(queued_has_no_offline_leader, of=("broker_failure",)),
    always_step(recipients, of=("write_leader",)),
    always_step(removal_recipients, of=("write_removal",)),
)
ADMIN_ELECTIONS = (always_step(asked_for, of=("admin_election",)),)
