"""Properties of the events of a controller that deletes topics: what the step that begins or continues one must do.

Sources: TopicDeletionManager, KafkaController.processTopicDeletion and fetchTopicDeletionsInProgress, 2.7 to 3.9.
"""

from kafkaproof.spec.kafka.strategies import replicas_of
from kafkaproof.spec.language.model import always_step
from kafkaproof.spec.language.sets import difference, intersection, is_empty, union, with_member
from kafkaproof.spec.partition.context import READING_STATES
from kafkaproof.spec.partition.creation.creation import known_partitions
from kafkaproof.spec.partition.deletion.state import RESUMING
from kafkaproof.spec.partition.deletion.zookeeper import topics_of
from kafkaproof.spec.partition.properties.sessions import rests
from kafkaproof.spec.partition.zookeeper import partitions_of_topics


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
    if new.epoch == 0 or new.doing == READING_STATES:
        return True
    queued = intersection(before.zk.deleting, partitions_of_topics(before.zk))
    waits = union(topics_of(before.zk, intersection(queued, without_all_replicas(new))), moved_topics(after, b))
    return new.deleting == queued and new.resuming == queued and new.ineligible == intersection(queued, waits)


EVENTS = (
    always_step(queued_at_once, of=("topic_deletion",)),
    always_step(deletions_taken_over, of=("load_state",)),
)
