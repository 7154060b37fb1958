"""Lemmas of the partition machines, of one controller: what is left of an event, and what its context holds."""

from kafkaproof.spec.kafka.state_machines import (
    NEW_PARTITION,
    NON_EXISTENT_PARTITION,
    OFFLINE_PARTITION,
    ONLINE_PARTITION,
)
from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.spec.language.sets import contains, intersection, is_empty
from kafkaproof.spec.partition.context import (
    CONTROLLED_SHUTDOWN,
    FORCED,
    OFFLINE,
    REASSIGN,
    WRITING_LEADER,
    Broker,
    Partition,
    is_known,
    online,
)
from kafkaproof.spec.partition.network import UNCLEAN_TYPE
from kafkaproof.spec.partition.properties.controllers import same_sequence
from kafkaproof.spec.partition.properties.invariants import (
    batches_in_order,
    before_the_context,
    event_in_order,
    failover_in_order,
    is_first,
    is_loaded,
    machine_is_started,
    moved_were_live,
    no_broker_moves,
    replica_has_state,
    result_is_newer,
    result_is_to_be_written,
    rounds_in_order,
    watch_tells,
    while_states_are_read,
)
from kafkaproof.spec.partition.zookeeper import assigned, session_open


def assignment_is_whole(s, p: Partition):
    """An assignment names as many brokers as there are replicas, each once."""
    assignment = s.zk.assignments[p]
    for i in range(len(assignment.slots) - 1):
        for j in range(i):
            if assignment.slots[i] == assignment.slots[j]:
                return False
    return assignment.length == len(assignment.slots) - 1


def assignment_is_read(s, b: Broker, p: Partition):
    """A controller knows the assignment as it is."""
    known = s.brokers[b].controller.partitions[p].assignment
    return not is_loaded(s, b, p) or same_sequence(s.zk.assignments[p], known)


def queued_has_no_election(s, b: Broker):
    """A controller that knows that the topic is to be deleted has nothing to elect."""
    controller = s.brokers[b].controller
    return is_empty(controller.deleting) or is_empty(controller.todo) and is_empty(controller.next_round)


def written_is_not_new(s, b: Broker, p: Partition):
    """A partition whose election is to be written has a state, so it is not New: one that is New is created."""
    controller = s.brokers[b].controller
    written = controller.doing == WRITING_LEADER and is_first(controller.todo, p)
    return not written or controller.partitions[p].state != NEW_PARTITION


def asked_event_is_alone(s, b: Broker):
    """While an operator's request is dealt with, no broker that came or went is to be handled."""
    controller = s.brokers[b].controller
    return controller.strategy == OFFLINE or no_broker_moves(controller)


def target_is_of_a_reassignment(s, b: Broker):
    """There is a target exactly while an event elects for a reassignment."""
    controller = s.brokers[b].controller
    return (controller.target.length > 0) == (controller.strategy == REASSIGN)


def forced_is_asked(s, b: Broker):
    """An election is forced only if an administrator asked for it."""
    asked = s.brokers[b].controller.strategy == FORCED or s.network.asked == UNCLEAN_TYPE
    return not asked or s.zk.ghosts.forced == 1


def removed_is_known(s, b: Broker, p: Partition):
    """Replicas leave the ISRs of partitions whose leadership is known."""
    controller = s.brokers[b].controller
    return not contains(controller.removing, p) or is_known(controller.partitions[p])


def who_goes_is_not_online(s, b: Broker, p: Partition, r: Broker):
    """Replicas go offline whose brokers are gone or shutting down, or which are lost; others only elect by state."""
    controller = s.brokers[b].controller
    if not contains(controller.replicas, r):
        return True
    if is_empty(controller.removing):
        return controller.strategy == OFFLINE and not contains(controller.live, r)
    if controller.strategy != OFFLINE and controller.strategy != CONTROLLED_SHUTDOWN:
        return False
    if not contains(controller.removing, p):
        return True
    hosted = contains(assigned(s.zk, p), r) or not is_first(controller.replicas, r)
    return hosted and not contains(online(controller, controller.partitions[p]), r)


def loses_leader(controller, p, leader):
    """Whether the replica of a partition's leader is to go offline."""
    others = not is_empty(controller.removing) and not contains(controller.removing, p)
    return leader != NOBODY and not others and contains(controller.replicas, leader)


def online_keeps_leader(s, b: Broker, p: Partition):
    """An Online partition has a leader, and its replica does not go offline, until another controller is elected."""
    controller = s.brokers[b].controller
    partition = controller.partitions[p]
    if partition.state != ONLINE_PARTITION or controller.epoch != s.zk.epoch:
        return True
    return partition.leader != NOBODY and not loses_leader(controller, p, partition.leader)


def without_leader_is_offline(s, b: Broker, p: Partition):
    """A partition whose leader goes offline is Offline, until another is elected."""
    controller = s.brokers[b].controller
    partition = controller.partitions[p]
    if controller.strategy != OFFLINE or controller.starting or partition.state == OFFLINE_PARTITION:
        return True
    if controller.epoch != s.zk.epoch:
        return True
    return not loses_leader(controller, p, partition.leader)


def leader_goes_last(s, b: Broker, p: Partition):
    """A leader goes offline after an election has failed: no member of the ISR is online. (Without a session every
    election fails, and nothing is written.)
    """
    controller = s.brokers[b].controller
    partition = controller.partitions[p]
    state = s.zk.partitions[p]
    if controller.epoch != s.zk.epoch or not session_open(s.zk, b):
        return True
    if partition.state == NON_EXISTENT_PARTITION or contains(controller.todo, p):
        return True
    return not loses_leader(controller, p, state.leader) or is_empty(
        intersection(state.isr, online(controller, partition))
    )


EVENTS = (
    before_the_context,
    while_states_are_read,
    assignment_is_whole,
    assignment_is_read,
    event_in_order,
    failover_in_order,
    written_is_not_new,
    batches_in_order,
    rounds_in_order,
    result_is_to_be_written,
    result_is_newer,
    queued_has_no_election,
    asked_event_is_alone,
    target_is_of_a_reassignment,
    forced_is_asked,
    watch_tells,
    moved_were_live,
    machine_is_started,
    replica_has_state,
    removed_is_known,
    who_goes_is_not_online,
    online_keeps_leader,
    without_leader_is_offline,
    leader_goes_last,
)
