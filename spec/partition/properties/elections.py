"""Properties of elections: P10 to P12, C15, T3 as far as nothing is elected, and what an administrator asks for."""

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
from kafkaproof.spec.partition.network import UNCLEAN_TYPE
from kafkaproof.spec.partition.properties.states import differs
from kafkaproof.spec.partition.rebalance import PERCENTAGE
from kafkaproof.spec.partition.zookeeper import known_as_they_are


def expected_leader(controller, p, state, unclean):
    """Whom the strategy of the event in progress elects from a state."""
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


def strategy(before, after, b, p, fate):
    """What an election writes is what its strategy makes of the state that it replaces (P10)."""
    old = before.zk.partitions[p]
    new = after.zk.partitions[p]
    if not differs(old, new):
        return True
    controller = before.brokers[b].controller
    leader = expected_leader(controller, p, old, 0)
    if leader == NOBODY:
        leader = expected_leader(controller, p, old, after.zk.unclean)
    return new.leader == leader and new.isr == expected_isr(controller, p, old, leader)


def first_state(before, after, b, p, fate):
    """The first state of a partition has all online replicas in the ISR, led by the first of them (P10)."""
    new = after.zk.partitions[p]
    if not differs(before.zk.partitions[p], new):
        return True
    candidates = online(before.brokers[b].controller, before.brokers[b].controller.partitions[p])
    assignment = before.zk.assignments[p]
    return new.leader == new_topic_leader(assignment, candidates) and new.isr == new_topic_isr(assignment, candidates)


def leaderless_for_a_reason(before, after, b, p, r, fate):
    """Only at the start of a reign is a leader taken away while a member of the ISR is online, unless the topic is
    queued for deletion (P11).
    """
    controller = before.brokers[b].controller
    old = before.zk.partitions[p]
    taken = old.leader != NOBODY and after.zk.partitions[p].leader == NOBODY
    left = without_member(intersection(old.isr, online(controller, controller.partitions[p])), r)
    return not taken or controller.starting or is_queued(controller, p) or is_empty(left)


def rebalanced(before, after, b, p, fate):
    """A preferred election leaves the ISR alone, and moves to the first replica (P12)."""
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
    """Whether two assignments begin with the same broker; one that is not there yet begins with none."""
    return some.length > 0 and others.length > 0 and some.slots[0] == others.slots[0]


def share_exceeds_limit(controller, p):
    """Whether too many of the partitions with the same first replica as `p` have another leader; queued ones apart."""
    same = 0
    elsewhere = 0
    for q in range(len(controller.partitions)):
        same_first = same_first_replica(controller.partitions[q].assignment, controller.partitions[p].assignment)
        if same_first and not is_queued(controller, q):
            same += 1
            elsewhere += 1 if is_elsewhere(controller, q) else 0
    return 100 * elsewhere > PERCENTAGE * same


def rebalance_acts(before, after, b):
    """The timer has exactly those partitions elected that may go back to their first replica, of the groups whose
    share of leaders elsewhere exceeds the limit (P12).
    """
    controller = before.brokers[b].controller
    expected = 0
    for p in range(len(controller.partitions)):
        partition = controller.partitions[p]
        able = contains(intersection(partition.isr, online(controller, partition)), partition.assignment.slots[0])
        if able and is_elsewhere(controller, p) and share_exceeds_limit(controller, p) and not is_queued(controller, p):
            expected = with_member(expected, p)
    return after.brokers[b].controller.todo == expected


def lacks_leader(controller, p):
    """Whether a partition is known to be led by nobody, or by a broker that is gone or shutting down."""
    partition = controller.partitions[p]
    leader = partition.leader
    gone = leader == NOBODY or not contains(controller.live, leader) or contains(controller.leaving, leader)
    return is_known(partition) and gone


def asked_for(before, after, b):
    """An administrator's request has exactly those partitions elected that need it (ELECTION_NOT_NEEDED)."""
    controller = before.brokers[b].controller
    expected = 0
    for p in range(len(controller.partitions)):
        unclean = before.network.asked == UNCLEAN_TYPE
        needed = lacks_leader(controller, p) if unclean else is_elsewhere(controller, p)
        if needed and not is_queued(controller, p):
            expected = with_member(expected, p)
    return after.brokers[b].controller.todo == expected


def ends_something(controller):
    """Whether what was begun before a deletion comes to its end: nothing does."""
    return False


def queued_left_alone(s):
    """No election is held by a controller of a partition whose topic it knows to be queued for deletion (T3)."""
    for broker in s.brokers:
        controller = broker.controller
        elects = controller.doing == ELECTING or controller.doing == WRITING_LEADER
        elects = elects and not ends_something(controller)
        if elects and not is_empty(intersection(controller.todo, controller.deleting)):
            return False
    return True


def queued_has_no_offline_leader(before, after, b):
    """The failure of a broker moves no partition of a topic that is known to be queued for deletion (T3)."""
    old = before.brokers[b].controller
    for p in range(len(old.partitions)):
        if is_queued(old, p) and after.brokers[b].controller.partitions[p].state != old.partitions[p].state:
            return False
    return True


def told(after, b, p):
    """Whom the newest request of the controller of `b` is on its way to."""
    return after.network.requests[after.brokers[b].controller.epoch][p].to


def expected_recipients(controller, partition):
    """The live replicas that the strategy of the event in progress tells."""
    if controller.strategy == OFFLINE or controller.strategy == FORCED:
        return offline_recipients(partition.assignment, online(controller, partition))
    if controller.strategy == CONTROLLED_SHUTDOWN:
        return controlled_shutdown_recipients(partition.assignment, online_or_leaving(controller, partition))
    if controller.strategy == REASSIGN:
        return intersection(replicas_of(controller.target), controller.live)
    return intersection(replicas_of(partition.assignment), controller.live)


def recipients(before, after, b, p, fate):
    """Every live replica that its strategy names is told of an election, and nobody else (C15)."""
    controller = before.brokers[b].controller
    if after.brokers[b].controller.partitions[p].leader_epoch != controller.result.leader_epoch:
        return True
    expected = expected_recipients(controller, controller.partitions[p])
    return told(after, b, p) == known_as_they_are(before.zk, b, expected)


def removal_recipients(before, after, b, p, r, fate):
    """Every other live replica is told when a replica is taken out of the ISR, and nobody else; nobody at all when
    the topic is queued for deletion (C15).
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
