"""Properties of the events of a controller that deletes topics: what the step that begins or continues one must do.

Sources: TopicDeletionManager, KafkaController.processTopicDeletion and fetchTopicDeletionsInProgress, 2.7 to 3.9.
"""

from kafkaproof.spec.kafka.state_machines import (
    NON_EXISTENT_PARTITION,
    OFFLINE_REPLICA,
    REPLICA_DELETION_INELIGIBLE,
    REPLICA_DELETION_STARTED,
    REPLICA_DELETION_SUCCESSFUL,
)
from kafkaproof.spec.kafka.strategies import replicas_of
from kafkaproof.spec.language.model import always_step
from kafkaproof.spec.language.sets import contains, difference, intersection, is_empty, only, union, with_member
from kafkaproof.spec.partition.context import (
    DELETING_REQUEST,
    READING_STATES,
    REASSIGN,
    REMOVING,
    STUCK,
    is_queued,
    online,
)
from kafkaproof.spec.partition.creation.creation import known_partitions
from kafkaproof.spec.partition.deletion.network import DELETED, NO_ANSWER, answered
from kafkaproof.spec.partition.deletion.state import (
    DELETING_CONFIG,
    DELETING_LEFTOVERS,
    DELETING_MARKER,
    DELETING_STATES,
    DELETING_TOPIC,
    RESUMING,
    STOPPING,
)
from kafkaproof.spec.partition.deletion.zookeeper import topics_of
from kafkaproof.spec.partition.properties.invariants import is_first
from kafkaproof.spec.partition.properties.sessions import has_session, is_tried_again, is_unanswered, rests
from kafkaproof.spec.partition.zookeeper import known_as_they_are, partitions_of_topics


def request_dropped(before, after, b, p):
    """A request to reassign a partition that is queued for deletion, or is not known, is to be deleted; nothing moves."""
    old = before.brokers[b].controller
    new = after.brokers[b].controller
    known = contains(difference(known_partitions(old), old.deleting), p)
    if not rests(before, b) or before.zk.targets[p].length == 0 or known:
        return False
    return new.doing == DELETING_REQUEST and new.strategy == REASSIGN and is_empty(new.todo)


def moved_topics(s, b):
    """The partitions of topics that a controller reassigns: here none."""
    return 0


def queued_at_once(before, after, b):
    """Every topic that a controller knows and finds marked is queued, and the deletion of all that are queued is resumed;
    of these only those that were queued before are ineligible for deletion while they are being reassigned (T3).
    """
    old = before.brokers[b].controller
    new = after.brokers[b].controller
    queued = union(old.deleting, intersection(before.zk.deleting, known_partitions(old)))
    resumes = new.deleting == queued and new.resuming == queued and new.doing == RESUMING
    halted = union(old.ineligible, intersection(old.deleting, moved_topics(before, b)))
    return rests(before, b) and queued != old.deleting and resumes and new.ineligible == halted


def without_all_replicas(controller):
    """The partitions that have a replica on a broker that is not live."""
    found = 0
    for p in range(len(controller.partitions)):
        if not is_empty(difference(replicas_of(controller.partitions[p].assignment), controller.live)):
            found = with_member(found, p)
    return found


def deletions_taken_over(before, after, b, p):
    """When a term begins every topic that is there and marked is queued, and its deletion is to be resumed; one with a
    replica on a broker that is not live, or with a reassignment, is ineligible (T3).
    """
    new = after.brokers[b].controller
    if not has_session(before, b) or new.doing == READING_STATES:
        return True
    queued = intersection(before.zk.deleting, partitions_of_topics(before.zk))
    waits = union(topics_of(before.zk, intersection(queued, without_all_replicas(new))), moved_topics(after, b))
    return new.deleting == queued and new.resuming == queued and new.ineligible == intersection(queued, waits)


def has_replicas_in(controller, topic, state):
    """Whether a partition of a topic has a replica in a state."""
    for p in range(len(controller.partitions)):
        for r in range(len(controller.partitions[p].replicas)):
            assigned = contains(topic, p) and contains(replicas_of(controller.partitions[p].assignment), r)
            if assigned and controller.partitions[p].replicas[r] == state:
                return True
    return False


def is_wholly_deleted(controller, topic):
    """Whether every replica of a topic is DeletionSuccessful."""
    for p in range(len(controller.partitions)):
        for r in range(len(controller.partitions[p].replicas)):
            assigned = contains(topic, p) and contains(replicas_of(controller.partitions[p].assignment), r)
            if assigned and controller.partitions[p].replicas[r] != REPLICA_DELETION_SUCCESSFUL:
                return False
    return True


def ended(controller, topic):
    """Whether every partition of a topic is NonExistent, or the state machine of partitions is dead."""
    for p in range(len(controller.partitions)):
        if contains(topic, p) and controller.partitions[p].state != NON_EXISTENT_PARTITION:
            return controller.partition_batch == STUCK
    return True


def failed_are_retried(old, new, topic):
    """Whether the replicas of a topic whose deletion failed go offline, unless the state machine of replicas is dead."""
    for p in range(len(old.partitions)):
        for r in range(len(old.partitions[p].replicas)):
            assigned = contains(topic, p) and contains(replicas_of(old.partitions[p].assignment), r)
            goes = contains(new.replicas, r) or new.partitions[p].replicas[r] == OFFLINE_REPLICA
            failed = old.partitions[p].replicas[r] == REPLICA_DELETION_INELIGIBLE
            if assigned and failed and not goes and old.replica_batch != STUCK:
                return False
    return True


def resumed_in_turn(before, after, b, p):
    """The deletion of the first topic that is to be resumed is completed if all its replicas are deleted, goes on by itself
    if one is being deleted, and begins otherwise, unless the topic is ineligible: then only what failed goes offline.
    """
    old = before.brokers[b].controller
    new = after.brokers[b].controller
    topic = topics_of(before.zk, only(p))
    if old.doing != RESUMING or not is_first(old.resuming, p) or new.resuming != difference(old.resuming, topic):
        return False
    if is_wholly_deleted(old, topic):
        return new.doing == DELETING_STATES and new.dropping == topic and new.todo == topic and ended(new, topic)
    if has_replicas_in(old, topic, REPLICA_DELETION_STARTED):
        return is_empty(new.dropping) and (new.doing == RESUMING) != is_empty(new.resuming)
    if not failed_are_retried(old, new, topic):
        return False
    if not is_empty(intersection(old.ineligible, topic)):
        retries = has_replicas_in(old, topic, REPLICA_DELETION_INELIGIBLE)
        return new.dropping == (topic if new.doing == REMOVING else 0) and (retries or new.doing != REMOVING)
    return new.dropping == topic and ended(new, topic) and (new.doing == REMOVING or new.doing == STOPPING)


def replicas_stopped(before, after, b):
    """Every replica of the topic in hand that is online and was Offline is DeletionStarted, and sent StopReplica where the
    controller knows its registration; one that is not online makes the topic ineligible.
    """
    old = before.brokers[b].controller
    new = after.brokers[b].controller
    if old.doing != STOPPING or not is_empty(new.dropping):
        return False
    waits = 0
    for p in range(len(old.partitions)):
        partition = old.partitions[p]
        for r in range(len(partition.replicas)):
            if contains(old.dropping, p) and contains(replicas_of(partition.assignment), r):
                goes = contains(online(old, partition), r) and partition.replicas[r] == OFFLINE_REPLICA
                goes = goes and new.replica_batch != STUCK
                told = contains(after.network.stops[old.epoch][p].to, r)
                knows = contains(known_as_they_are(before.zk, b, only(r)), r)
                if goes and (new.partitions[p].replicas[r] != REPLICA_DELETION_STARTED or told != knows):
                    return False
                if not contains(online(old, partition), r):
                    waits = old.dropping
    return new.ineligible == union(old.ineligible, waits)


def counts(s, b, p, r):
    """Whether a controller heeds the answer to StopReplica: the deletion of the topic has started."""
    controller = s.brokers[b].controller
    started = controller.partitions[p].state == NON_EXISTENT_PARTITION or controller.partition_batch == STUCK
    return started and is_queued(controller, p)


def answer_counted(before, after, b, p, r):
    """An answer to StopReplica is handled in its turn, once. If the deletion of the topic has started, a replica that was
    being deleted is DeletionSuccessful or, if it failed, ineligible like its topic, and all deletions are resumed;
    otherwise it changes nothing.
    """
    old = before.brokers[b].controller
    new = after.brokers[b].controller
    answer = answered(before.network, old.epoch, p, r)
    if not rests(before, b) or answer == NO_ANSWER or answered(after.network, old.epoch, p, r) != NO_ANSWER:
        return False
    if not counts(before, b, p, r):
        return rests(after, b) and new.ineligible == old.ineligible
    failed = topics_of(before.zk, only(p)) if answer != DELETED else 0
    expected = REPLICA_DELETION_SUCCESSFUL if answer == DELETED else REPLICA_DELETION_INELIGIBLE
    moves = old.partitions[p].replicas[r] == REPLICA_DELETION_STARTED and old.replica_batch != STUCK
    moved = not moves or new.partitions[p].replicas[r] == expected
    return moved and new.ineligible == union(old.ineligible, failed) and new.resuming == old.deleting


def znode_deleted_in_turn(before, after, b, delivery):
    """The znodes of a topic are deleted in order: topic, configuration, marker; then the controller forgets the topic."""
    old = before.brokers[b].controller
    new = after.brokers[b].controller
    ordered = old.doing == DELETING_TOPIC or old.doing == DELETING_CONFIG or old.doing == DELETING_MARKER
    if not ordered or is_unanswered(before, after, b, delivery):
        return ordered and is_tried_again(before, after, b)
    if old.doing == DELETING_MARKER:
        gone = is_empty(intersection(union(new.deleting, union(new.ineligible, known_partitions(new))), old.dropping))
        return gone and is_empty(new.dropping)
    return new.doing == (DELETING_CONFIG if old.doing == DELETING_TOPIC else DELETING_MARKER)


def states_deleted_in_turn(before, after, b, p, delivery):
    """The states of a topic are deleted one by one, then the topic znode."""
    old = before.brokers[b].controller
    new = after.brokers[b].controller
    if old.doing != DELETING_STATES or not is_first(old.todo, p):
        return False
    if is_unanswered(before, after, b, delivery):
        return is_tried_again(before, after, b)
    left = difference(old.todo, only(p))
    return new.todo == left and new.doing == (DELETING_TOPIC if is_empty(left) else DELETING_STATES)


def unknown_marked(zk, controller):
    """The marked partitions that exist, of topics of which a controller knows no partition."""
    found = intersection(zk.deleting, partitions_of_topics(zk))
    for p in range(len(controller.partitions)):
        if controller.partitions[p].assignment.length > 0:
            found = difference(found, topics_of(zk, only(p)))
    return found


def leftovers_found(before, after, b):
    """A controller at work that finds the marker of a topic that is not there, or of one that it does not know beside one
    that it knows and has not queued, is to delete them, and changes nothing else.
    """
    old = before.brokers[b].controller
    new = after.brokers[b].controller
    left = before.zk.stray == 1 or not is_empty(intersection(before.zk.deleting, before.zk.deleted))
    unknown = unknown_marked(before.zk, old)
    queued = difference(intersection(before.zk.deleting, known_partitions(old)), old.deleting)
    beside = not is_empty(unknown) and not is_empty(intersection(queued, partitions_of_topics(before.zk)))
    found = new.doing == DELETING_LEFTOVERS and new.dropping == unknown
    return rests(before, b) and (left or beside) and found


def leftovers_deleted(before, after, b, delivery):
    """Markers of topics that are not there, or were not known, are deleted once, and the event is over."""
    if before.brokers[b].controller.doing != DELETING_LEFTOVERS:
        return False
    new = after.brokers[b].controller
    if is_unanswered(before, after, b, delivery):
        return is_tried_again(before, after, b)
    lost = union(after.zk.deleted, before.brokers[b].controller.dropping)
    left = after.zk.stray == 1 or not is_empty(intersection(after.zk.deleting, lost))
    return not left and is_empty(new.dropping) and new.doing != DELETING_LEFTOVERS


def marked_whole(before, after, b, p, delivery):
    """A controller at work marks a topic that it knows and that is not queued, whole, and knows no more than before."""
    old = before.brokers[b].controller
    topic = topics_of(before.zk, only(p))
    known = contains(difference(known_partitions(old), old.deleting), p)
    marked = after.zk.deleting == before.zk.deleting or after.zk.deleting == union(before.zk.deleting, topic)
    return rests(before, b) and known and marked and rests(after, b)


def is_counted(before, after):
    """Whether what operators ask for is counted: here as a fault."""
    return after.zk.faults == before.zk.faults + 1


def deletion_asked(before, after, p):
    """An operator marks a topic that is there, whole, which is a fault."""
    asked = not contains(before.zk.deleting, p) and before.zk.assignments[p].length > 0
    marked = after.zk.deleting == union(before.zk.deleting, topics_of(before.zk, only(p)))
    return asked and marked and is_counted(before, after)


def unknown_deletion_asked(before, after):
    """An operator marks a topic that never was, once, which is a fault."""
    return before.zk.stray == 0 and after.zk.stray == 1 and is_counted(before, after)


EVENTS = (
    always_step(queued_at_once, of=("topic_deletion",)),
    always_step(deletions_taken_over, of=("load_state",)),
    always_step(resumed_in_turn, of=("resume_deletion",)),
    always_step(replicas_stopped, of=("stop_replicas",)),
    always_step(answer_counted, of=("replica_stopped",)),
    always_step(states_deleted_in_turn, of=("delete_state",)),
    always_step(znode_deleted_in_turn, of=("delete_topic", "delete_config", "delete_marker")),
    always_step(request_dropped, of=("drop_reassignment",)),
    always_step(leftovers_found, of=("leftover_deletion",)),
    always_step(leftovers_deleted, of=("delete_leftovers",)),
    always_step(marked_whole, of=("mark_topic",)),
    always_step(deletion_asked, of=("ask_for_deletion",)),
    always_step(unknown_deletion_asked, of=("ask_for_unknown_deletion",)),
)
