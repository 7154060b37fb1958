"""Invariants of controllers and of what they know: parts of properties, on which proofs rest."""

from kafkaproof.spec.kafka.state_machines import (
    NEW_PARTITION,
    NON_EXISTENT_PARTITION,
    NON_EXISTENT_REPLICA,
    OFFLINE_REPLICA,
    ONLINE_REPLICA,
    REPLICA_DELETION_INELIGIBLE,
)
from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.spec.language.sets import contains, difference, intersection, is_empty, union
from kafkaproof.spec.partition.context import (
    COLLECTED,
    DELETING_EVENTS,
    DELETING_REQUEST,
    ELECTING,
    EMPTY,
    IDLE,
    LAPSED,
    MOVING,
    NO_EPOCH,
    OFFLINE,
    PREFERRED_BY_ZNODE,
    READING_BROKERS,
    READING_REQUEST,
    READING_STATES,
    REASSIGN,
    REMOVING,
    WRITING_LEADER,
    WRITING_REMOVAL,
    WRITTEN,
    Broker,
    Partition,
    is_known,
)
from kafkaproof.spec.partition.znodes import ARMED, NONE
from kafkaproof.spec.partition.zookeeper import assigned


def is_first(members, x):
    """Whether `x` is the lowest member of a set."""
    for lower in range(x):
        if contains(members, lower):
            return False
    return contains(members, x)


def has_no_context(controller):
    """Whether there is no term, or nothing is read in it yet, or its failover has failed without a session."""
    return controller.epoch == 0 or controller.doing == READING_BROKERS or controller.doing == LAPSED


def is_reading(controller):
    """Whether there is no term, or its context is not complete."""
    return has_no_context(controller) or controller.doing == READING_STATES


def is_loaded(s, b, p):
    """Whether a controller has read a partition."""
    controller = s.brokers[b].controller
    if has_no_context(controller):
        return False
    return controller.doing != READING_STATES or not contains(controller.todo, p)


def no_broker_moves(controller):
    """Whether no broker that came or went is still to be handled."""
    return is_empty(controller.joined) and is_empty(controller.bounced) and is_empty(controller.gone)


def has_no_event(controller):
    """Whether no strategy was chosen, no replica is to go offline, and nothing starts up."""
    chosen = controller.strategy != OFFLINE or controller.target.length != 0
    chosen = chosen or controller.starting or controller.failing_over
    moves = not is_empty(controller.removing) or not is_empty(controller.replicas)
    return not chosen and not moves and no_broker_moves(controller)


def is_forgotten(partition):
    """Whether nothing is known of a partition."""
    known = partition.leader != NOBODY or not is_empty(partition.isr) or partition.leader_epoch != NO_EPOCH
    state = partition.state != NON_EXISTENT_PARTITION or not is_empty(partition.failed)
    return not known and not state and partition.assignment.length == 0


def before_the_context(s, b: Broker, p: Partition):
    """Without a term, until it has read the brokers, and when it has lapsed, a controller has no context."""
    controller = s.brokers[b].controller
    if not has_no_context(controller):
        return True
    if controller.epoch == 0 and controller.doing != IDLE:
        return False
    empty = is_empty(controller.todo) and is_empty(controller.live) and is_empty(controller.leaving)
    return (
        empty and has_no_event(controller) and is_empty(controller.deleting) and is_forgotten(controller.partitions[p])
    )


def while_states_are_read(s, b: Broker, p: Partition):
    """While the states are read, what is not read yet is not known, and there is no event."""
    controller = s.brokers[b].controller
    partition = controller.partitions[p]
    if controller.doing != READING_STATES:
        return True
    if not has_no_event(controller) or not is_empty(controller.deleting):
        return False
    if is_empty(controller.todo) or not is_empty(controller.leaving):
        return False
    return not contains(controller.todo, p) or is_forgotten(partition)


def failover_in_order(s, b: Broker):
    """While the state machines start up, they elect by state alone, and no broker that came or went is to be handled."""
    controller = s.brokers[b].controller
    if not controller.failing_over:
        return not controller.starting
    works = not is_empty(controller.todo) or not is_empty(controller.replicas)
    by_state = controller.strategy == OFFLINE and controller.target.length == 0
    return controller.epoch > 0 and works and by_state and no_broker_moves(controller)


def batches_in_order(s, b: Broker):
    """What the partition state machine collects is sent with its last election; with one partition that is at once. The
    replica state machine has nothing collected between its steps.
    """
    controller = s.brokers[b].controller
    batch = controller.partition_batch
    if controller.replica_batch == COLLECTED or controller.replica_batch == WRITTEN:
        return False
    if len(controller.partitions) == 1 and batch != EMPTY:
        return False
    elects = controller.doing == ELECTING or controller.doing == WRITING_LEADER
    return elects if batch == COLLECTED or batch == WRITTEN else batch == EMPTY or not elects


def rounds_in_order(s, b: Broker, p: Partition):
    """There is another round while partitions are elected, and one that this round has passed is to be elected again."""
    controller = s.brokers[b].controller
    if not contains(controller.next_round, p):
        return controller.another_round == (not is_empty(controller.next_round))
    elects = controller.doing == ELECTING or controller.doing == WRITING_LEADER
    passed = not contains(controller.todo, p) and not is_empty(controller.todo)
    return elects and passed and controller.partitions[p].state != NEW_PARTITION


def event_in_order(s, b: Broker):
    """What is left of an event agrees with what is done next: elections, then removals, then the rest."""
    controller = s.brokers[b].controller
    doing = controller.doing
    if not is_empty(controller.removing) and is_empty(controller.replicas):
        return False
    if doing == ELECTING or doing == WRITING_LEADER:
        return not is_empty(controller.todo) and not controller.starting
    if doing == READING_STATES or doing == READING_BROKERS:
        return True
    if not is_empty(controller.todo):
        return False
    if doing == IDLE or doing == DELETING_EVENTS:
        return has_no_event(controller)
    if doing == REMOVING or doing == WRITING_REMOVAL:
        return not is_empty(controller.removing)
    if doing == READING_REQUEST or doing == MOVING or doing == LAPSED:
        return has_no_event(controller)
    if not is_empty(controller.replicas) or controller.starting:
        return False
    asked = controller.strategy == PREFERRED_BY_ZNODE or controller.strategy == REASSIGN
    if doing == DELETING_REQUEST:
        return asked or has_no_event(controller)
    return not asked and not no_broker_moves(controller)


def result_is_to_be_written(s, b: Broker):
    """There is a result exactly while it is to be written."""
    controller = s.brokers[b].controller
    result = controller.result
    if controller.doing == WRITING_LEADER or controller.doing == WRITING_REMOVAL:
        return result.leader_epoch > NO_EPOCH
    return result.leader_epoch == NO_EPOCH and result.leader == NOBODY and is_empty(result.isr) and not result.unclean


def result_is_newer(s, b: Broker, p: Partition):
    """It has a higher leader epoch than what the controller remembers."""
    controller = s.brokers[b].controller
    elected = controller.doing == WRITING_LEADER and is_first(controller.todo, p)
    removed = controller.doing == WRITING_REMOVAL and is_first(controller.removing, p)
    return not elected and not removed or controller.result.leader_epoch > controller.partitions[p].leader_epoch


def watch_tells(s, b: Broker):
    """Until its watch fires, a controller knows who is registered, or is to handle who came and went."""
    controller = s.brokers[b].controller
    watch = s.zk.clients[b].watch
    if controller.epoch == 0 or controller.doing == READING_BROKERS or not contains(s.zk.registered, b):
        return True
    known = union(difference(controller.live, controller.gone), controller.joined)
    return watch != NONE and (watch != ARMED or known == s.zk.registered)


def moved_were_live(s, b: Broker):
    """Who bounced or went is known as live, who came is not."""
    controller = s.brokers[b].controller
    moved = union(controller.bounced, controller.gone)
    apart = is_empty(intersection(controller.bounced, controller.gone))
    return (
        apart
        and is_empty(difference(moved, controller.live))
        and is_empty(intersection(controller.joined, controller.live))
    )


def machine_is_started(s, b: Broker, p: Partition):
    """Partitions are in no state until their machine starts; then those are New of which no leadership is known."""
    controller = s.brokers[b].controller
    partition = controller.partitions[p]
    if is_reading(controller) or controller.starting:
        return partition.state == NON_EXISTENT_PARTITION
    if partition.state == NON_EXISTENT_PARTITION:
        return False
    return (partition.state == NEW_PARTITION) != is_known(partition)


def replica_has_state(s, b: Broker, p: Partition, r: Broker):
    """Replicas are in no state until their machine starts; then they are online or not."""
    controller = s.brokers[b].controller
    state = controller.partitions[p].replicas[r]
    if is_reading(controller):
        return state == NON_EXISTENT_REPLICA
    started = state == ONLINE_REPLICA or state == OFFLINE_REPLICA or state == REPLICA_DELETION_INELIGIBLE
    return started or not contains(assigned(s.zk, p), r)


def owner_rules(s, b: Broker):
    """Who owns /controller is registered, and rules in the present epoch or not at all."""
    epoch = s.brokers[b].controller.epoch
    if s.zk.controller != b:
        return True
    return contains(s.zk.registered, b) and (epoch == 0 or epoch == s.zk.epoch)


def dead_knows_nothing(s, b: Broker, p: Partition):
    """A broker without a process holds nothing, and asks for nothing."""
    broker = s.brokers[b]
    replica = broker.replicas[p]
    if broker.up:
        return True
    holds = broker.controller.epoch != 0 or broker.seen_epoch != 0 or broker.unnotified or broker.deaf or replica.failed
    holds = holds or broker.controller.partition_batch != EMPTY or broker.controller.replica_batch != EMPTY
    asks = contains(s.network.shutdowns, b) or s.network.proposals[p][b] != NO_EPOCH
    return not holds and not asks and replica.leader_epoch == NO_EPOCH


def reader_rules(s, b: Broker, p: Partition):
    """Who knows the version of a state rules, has read the brokers, and has a session."""
    controller = s.brokers[b].controller
    if not contains(s.zk.partitions[p].readers, b):
        return True
    return contains(s.zk.registered, b) and controller.epoch > 0 and controller.doing != READING_BROKERS


def taken_has_leader(s, b: Broker, p: Partition):
    """A replica without a leader epoch knows no leader."""
    replica = s.brokers[b].replicas[p]
    return replica.leader_epoch != NO_EPOCH or replica.leader == NOBODY
