"""Invariants of controllers and of the topic's znodes: parts of properties, on which proofs rest."""

from kafkaproof.spec.kafka.assignment import target
from kafkaproof.spec.kafka.strategies import replicas_of
from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.spec.language.sequences import begins_with
from kafkaproof.spec.language.sets import contains, is_empty, union
from kafkaproof.spec.partition.context import READING_BROKERS
from kafkaproof.spec.partition.deletion.state import DELETING_CONFIG, DELETING_MARKER
from kafkaproof.spec.partition.properties.controllers import same_sequence
from kafkaproof.spec.partition.reassignment.state import WRITING_ASSIGNMENT
from kafkaproof.spec.partition.znodes import NONE
from kafkaproof.spec.topics.context import REWRITING, Broker, Partition, is_present
from kafkaproof.spec.topics.properties.events_in_progress import deletes_znodes, finishes
from kafkaproof.spec.topics.properties.safety import by_right, has_state
from kafkaproof.spec.topics.reassignment import origin_of


def owner_rules(s, b: Broker):
    """Who owns /controller is registered, and rules in the present epoch."""
    if s.zk.controller != b:
        return True
    return contains(s.zk.registered, b) and s.brokers[b].controller.epoch == s.zk.epoch and s.zk.epoch > 0


def dead_rules_not(s, b: Broker):
    """A broker without a process is not registered, and rules not."""
    if s.brokers[b].up:
        return True
    return not contains(s.zk.registered, b) and s.brokers[b].controller.epoch == 0 and s.brokers[b].seen_epoch == 0


def watches_in_term(s, b: Broker):
    """Who rules not, or has no session, has no watch and knows no registration."""
    client = s.zk.clients[b]
    rules = s.brokers[b].controller.epoch > 0 and contains(s.zk.registered, b)
    return rules or client.watch == NONE and client.topic_watch == NONE and is_empty(client.seen)


def queued_is_marked(s, b: Broker):
    """While a controller by right has queued a topic for deletion, its marker stands."""
    return not by_right(s, b) or not s.brokers[b].controller.deleting or s.zk.marker == 1


def topic_is_known(s, b: Broker):
    """The topic that a controller by right knows exists until it deletes it; then there is none."""
    controller = s.brokers[b].controller
    if not by_right(s, b):
        return True
    if controller.doing == DELETING_CONFIG or controller.doing == DELETING_MARKER and controller.deleting:
        return s.zk.topic == 0
    if controller.topic == 0:
        return not controller.deleting or s.zk.topic == 0
    return controller.topic == s.zk.topic


def config_goes_before_marker(s, b: Broker):
    """Who deletes the marker of a topic has deleted the configuration."""
    controller = s.brokers[b].controller
    deletes = by_right(s, b) and controller.doing == DELETING_MARKER and controller.deleting
    return not deletes or s.zk.config == 0


def no_topic_is_nothing(s, p: Partition):
    """Without a topic there is no assignment and no state; a topic has its first partition."""
    state = s.zk.partitions[p]
    if s.zk.topic > 0:
        return s.zk.assignments[0].length > 0
    empty = s.zk.assignments[p].length == 0 and is_empty(union(s.zk.adding[p], s.zk.removing[p]))
    return empty and is_empty(state.isr) and state.leader == NOBODY and not has_state(s, p)


def left_over_is_deleted(s, b: Broker):
    """The configuration of a topic that is gone is being deleted, or there is a marker for the next controller."""
    controller = s.brokers[b].controller
    if s.zk.topic > 0 or s.zk.config == 0:
        return True
    if not by_right(s, b) or controller.doing == READING_BROKERS:
        return s.zk.marker == 1
    return s.zk.marker == 1 and controller.deleting and controller.doing != DELETING_MARKER


def same_assignment(one, other):
    """Whether two assignments are equal."""
    sets = one.adding == other.adding and one.removing == other.removing
    return sets and same_sequence(one.assignment, other.assignment)


def is_in_znode(zk, p, assigned):
    """Whether the topic znode has an assignment for a partition."""
    sets = zk.adding[p] == assigned.adding and zk.removing[p] == assigned.removing
    return sets and same_sequence(zk.assignments[p], assigned.assignment)


def is_target_of_znode(zk, p, assigned):
    """Whether an assignment is the target of the one in the topic znode, in its order."""
    wanted = target(zk.assignments[p], zk.removing[p])
    marked = is_empty(union(assigned.adding, assigned.removing))
    return marked and replicas_of(assigned.assignment) == wanted and begins_with(zk.assignments[p], assigned.assignment)


def assignment_is_known(s, b: Broker, p: Partition):
    """A controller by right knows the assignments of its partitions, or those that it is going to write."""
    controller = s.brokers[b].controller
    assigned = controller.partitions[p]
    if not by_right(s, b) or not is_present(controller.partitions[p]) or s.zk.topic == 0:
        return True
    if finishes(controller) and contains(controller.moving, p):
        return is_target_of_znode(s.zk, p, assigned) and same_assignment(controller.wanted, assigned)
    return is_in_znode(s.zk, p, assigned)


def wanted_when_written(s, b: Broker, p: Partition):
    """There is an assignment to write while a reassignment is written or finished, with the same origin at first."""
    controller = s.brokers[b].controller
    assigned = controller.partitions[p]
    if controller.doing == REWRITING:
        return same_assignment(controller.wanted, controller.partitions[0])
    if controller.doing != WRITING_ASSIGNMENT and not finishes(controller):
        return controller.wanted.assignment.length == 0
    if controller.doing == WRITING_ASSIGNMENT and contains(controller.moving, p):
        return controller.wanted.assignment.length > 0 and origin_of(controller.wanted) == origin_of(assigned)
    return controller.wanted.assignment.length > 0


def cache_is_state(s, b: Broker, p: Partition):
    """A controller by right remembers leader and leader epoch of the state, and of no state that there is none."""
    controller = s.brokers[b].controller
    partition = controller.partitions[p]
    if not by_right(s, b) or not is_present(partition) or deletes_znodes(controller):
        return True
    state = s.zk.partitions[p]
    return partition.leader_epoch == state.leader_epoch and partition.leader == state.leader


def unknown_partition_has_no_state(s, b: Broker, p: Partition):
    """A partition that a controller by right does not know has no state, once it has read ZooKeeper."""
    controller = s.brokers[b].controller
    if not by_right(s, b) or controller.doing == READING_BROKERS or is_present(controller.partitions[p]):
        return True
    return not has_state(s, p)


def state_was_written(s, p: Partition):
    """A state was written by a controller that was elected; one that does not exist says nothing."""
    state = s.zk.partitions[p]
    if not has_state(s, p) and (state.leader != NOBODY or not is_empty(state.isr)):
        return False
    return state.controller_epoch <= s.zk.epoch
