"""Properties of a partitions' controller that adds partitions to topics."""

from kafkaproof.spec.kafka.state_machines import ONLINE_PARTITION
from kafkaproof.spec.kafka.zookeeper import ANSWERED, LOST_DROPPED
from kafkaproof.spec.language.model import Property, always_step, sometimes
from kafkaproof.spec.language.sets import contains, difference, everybody, intersection, is_empty
from kafkaproof.spec.partition.context import NO_EPOCH
from kafkaproof.spec.partition.creation import properties as topic_creation
from kafkaproof.spec.partition.creation.creation import known_partitions
from kafkaproof.spec.partition.deletion import properties as topic_deletion
from kafkaproof.spec.partition.deletion.zookeeper import topics_of
from kafkaproof.spec.partition.expansion.zookeeper import added
from kafkaproof.spec.partition.properties.controllers import same_sequence
from kafkaproof.spec.partition.properties.sessions import has_session, rests
from kafkaproof.spec.partition.reassignment import properties as partition_reassignment
from kafkaproof.spec.partition.reassignment.properties import is_assigned_so, unneeded_replicas


def added_to_topic(before, after, b, p, delivery):
    """The partitions that were to be added are added to a topic that is there, with as many replicas as another one of it
    (T6).
    """
    return are_added(before, after, b, before.brokers[b].expansion.new, delivery)


def added_at_once(before, after, b, p, new, start, delivery):
    """Partitions are added to a topic that is there, with as many replicas as another one of it (T6)."""
    return are_added(before, after, b, new, delivery)


def are_added(before, after, b, new, delivery):
    """Whether no partitions appear but these, and as many replicas of each as of another one of its topic."""
    for q in range(len(after.zk.assignments)):
        appears = before.zk.assignments[q].length == 0 and after.zk.assignments[q].length > 0
        possible = has_session(before, b) and delivery != LOST_DROPPED
        if appears and not (possible and contains(new, q) and is_one_of_topic(before.zk, after.zk, q)):
            return False
    return True


def is_one_of_topic(before, after, p):
    """Whether a partition has joined a topic, and has as many replicas as one of its partitions."""
    for q in range(len(after.topics)):
        beside = before.assignments[q].length > 0 and after.topics[q] == after.topics[p]
        if beside and after.assignments[q].length == after.assignments[p].length:
            return True
    return False


def expanded_if_kept(before, after, b, p, new, start, delivery):
    """No partitions are added to a topic that its controller knows to be queued for deletion."""
    return not contains(before.brokers[b].controller.deleting, p)


def read_if_kept(before, after, b, p, new, start):
    """A controller reads a topic to which partitions are to be added as it is; it does not know that it is queued for
    deletion, and the topic says that nothing of it is being reassigned.
    """
    if before.brokers[b].controller.epoch == 0 or contains(before.brokers[b].controller.deleting, p):
        return False
    if is_empty(after.brokers[b].expansion.new):
        return True
    for q in range(len(before.zk.assignments)):
        if before.zk.assignments[q].length > 0 and before.zk.topics[q] == before.zk.topics[p]:
            moves = not is_empty(before.zk.adding[q]) or not is_empty(before.zk.removing[q])
            if moves or not same_sequence(before.zk.assignments[q], after.brokers[b].expansion.assignments[q]):
                return False
    return True


def begins_without_request(before, after):
    """A new process knows of no request for more partitions that the former one had."""
    for b in range(len(after.brokers)):
        begins = before.brokers[b].up == 0 and after.brokers[b].up == 1
        if begins and not is_empty(after.brokers[b].expansion.new):
            return False
    return True


def no_reassignment_undone(before, after, b, p, delivery):
    """Partitions that are added leave the assignments of the others alone, and their reassignments."""
    for q in range(len(before.zk.assignments)):
        same = before.zk.adding[q] == after.zk.adding[q] and before.zk.removing[q] == after.zk.removing[q]
        kept = same_sequence(before.zk.assignments[q], after.zk.assignments[q])
        if before.zk.assignments[q].length > 0 and not (same and kept):
            return False
    return True


def taken_up_if_new(before, after, b):
    """A controller at work that hears of partitions that were added takes them up: they are New and elected at once, but those
    of a topic that is queued for deletion.
    """
    old = before.brokers[b].controller
    new = after.brokers[b].controller
    fresh = difference(known_partitions(new), known_partitions(old))
    if not rests(before, b):
        return False
    if not has_session(before, b):
        return is_empty(fresh) and rests(after, b)
    queued = topics_of(before.zk, old.deleting)
    return not is_empty(fresh) and is_empty(intersection(fresh, queued)) and new.todo == fresh


def restored_to_states(before, after, b, p, delivery):
    """A controller at work writes the topic znode of a topic that it has queued for deletion: it keeps exactly the partitions
    that have a state. The controller goes on as before; if another one has been elected nothing is written, and its term is
    over, unless its session is.
    """
    old = before.brokers[b].controller
    deposed = has_session(before, b) and old.epoch < before.zk.epoch
    if not contains(old.deleting, p) or not rests(before, b):
        return False
    if delivery == ANSWERED and rests(after, b) == deposed:
        return False
    written = has_session(before, b) and not deposed and delivery != LOST_DROPPED
    for q in range(len(before.zk.assignments)):
        stateless = before.zk.topics[q] == before.zk.topics[p] and before.zk.partitions[q].leader_epoch == NO_EPOCH
        goes = before.zk.assignments[q].length > 0 and stateless and written
        if (after.zk.assignments[q].length == 0) != (before.zk.assignments[q].length == 0 or goes):
            return False
    return True


def no_partition_undone(before, after, b, p, delivery):
    """A reassignment takes no partition out of the topic, which a controller does that does not know it yet."""
    for q in range(len(before.zk.assignments)):
        if before.zk.assignments[q].length > 0 and after.zk.assignments[q].length == 0:
            return False
    return True


def is_taken_back(zk, p):
    """Whether a partition is gone from a topic that is queued for deletion."""
    return contains(zk.deleting, p) and zk.assignments[p].length == 0


def is_gone_or_taken_back(s, p):
    """Whether a partition is gone: with its topic, or from one that is queued for deletion."""
    return contains(s.zk.deleted, p) or is_taken_back(s.zk, p)


def is_assigned_so_or_taken_back(zk, p, cached):
    """Whether a controller remembers the current assignment, or one that it has taken back."""
    return is_taken_back(zk, p) or is_assigned_so(zk, p, cached)


def unneeded_or_taken_back(s, b, p):
    """The replicas that an assignment does not have any more as soon as it is written."""
    return everybody(len(s.brokers)) if is_taken_back(s.zk, p) else unneeded_replicas(s, b, p)


def added_is_led(s):
    """A partition that was added to a topic has a leader."""
    last = len(s.zk.partitions) - 1
    for broker in s.brokers:
        online = broker.controller.partitions[last].state == ONLINE_PARTITION
        if broker.controller.epoch > 0 and online and s.zk.topics[last] != last:
            return True
    return False


def added_to_queued(s):
    """A topic that is queued for deletion has a partition that the controller does not know."""
    for broker in s.brokers:
        known = intersection(known_partitions(broker.controller), broker.controller.deleting)
        if not is_empty(added(s.zk, known)):
            return True
    return False


EXPANSION = (
    always_step(taken_up_if_new, of=("new_partitions",)),
    always_step(restored_to_states, of=("restore_partitions",)),
    always_step(no_partition_undone, of=("write_assignment", "write_union", "write_target")),
    sometimes(added_is_led),
    sometimes(added_to_queued),
)

AT_ONCE = (always_step(added_at_once, of=("add_partitions",)), always_step(expanded_if_kept, of=("add_partitions",)))
IN_TWO_STEPS = (
    always_step(added_to_topic, of=("write_partitions",)),
    always_step(read_if_kept, of=("read_topic",)),
    always_step(begins_without_request),
    always_step(no_reassignment_undone, of=("write_partitions",)),
)


def properties(found: tuple[Property, ...]) -> tuple[Property, ...]:
    """The properties of a model with expansions: those of reassignments, adapted, and those of expansions."""
    return with_expansions(without_creation(found))


def properties_of_steps(found: tuple[Property, ...]) -> tuple[Property, ...]:
    """The same of a model in which an expansion first reads and then writes."""
    return with_steps(without_creation(found))


def without_creation(found: tuple[Property, ...]) -> tuple[Property, ...]:
    """The properties of a model with reassignments, without those of a topic that is created."""
    kept = partition_reassignment.with_alterations(topic_creation.properties(found))
    return tuple(p for p in kept if p.name not in WITHOUT)


def with_expansions(found: tuple[Property, ...]) -> tuple[Property, ...]:
    """Properties of a model with reassignments, adapted, and those of expansions that read and write at once."""
    return expanded(found) + AT_ONCE


def with_steps(found: tuple[Property, ...]) -> tuple[Property, ...]:
    """Properties of a model with reassignments, adapted, and those of expansions that read first."""
    return expanded(found) + IN_TWO_STEPS


def expanded(found: tuple[Property, ...]) -> tuple[Property, ...]:
    """Properties of a model with reassignments, adapted, and those of all expansions."""
    return tuple(p.rebound(WITH_EXPANSIONS) for p in found) + EXPANSION


WITH_EXPANSIONS = {
    topic_deletion.is_deleted_topic: is_gone_or_taken_back,
    is_assigned_so: is_assigned_so_or_taken_back,
    unneeded_replicas: unneeded_or_taken_back,
}
WITHOUT = {"created_is_led", "created_is_taken_over"} | {prop.name for prop in topic_creation.EVENTS}
"""Properties of a topic that is created."""
