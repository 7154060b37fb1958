"""Properties of a controller that deletes topics, when brokers come and go and log directories fail.

Sources: KafkaController.onBrokerStartup and onReplicasBecomeOffline, TopicDeletionManager, 2.7 to 3.9.
"""

from kafkaproof.spec.kafka.strategies import replicas_of
from kafkaproof.spec.language.model import always_step
from kafkaproof.spec.language.sets import contains, difference, intersection, is_empty, union, with_member
from kafkaproof.spec.partition.context import is_queued
from kafkaproof.spec.partition.deletion.zookeeper import topics_of


def newcomers_resume(before, after, b):
    """When brokers have come, the topics queued for deletion that have a replica there are eligible again, and if there are
    any, the deletion of all that are queued is resumed.
    """
    old = before.brokers[b].controller
    new = after.brokers[b].controller
    hosted = 0
    for p in range(len(old.partitions)):
        if not is_empty(intersection(replicas_of(old.partitions[p].assignment), old.joined)):
            hosted = with_member(hosted, p)
    topics = topics_of(before.zk, intersection(old.deleting, hosted))
    resumes = union(old.resuming, old.deleting if not is_empty(topics) else 0)
    return new.resuming == resumes and new.ineligible == difference(old.ineligible, topics)


def departed_fail(before, after, b):
    """When brokers have gone, the topics queued for deletion that have a replica there are ineligible, and if there are any,
    the deletion of all that are queued is resumed.
    """
    old = before.brokers[b].controller
    new = after.brokers[b].controller
    dead = old.gone if is_empty(old.bounced) else old.bounced
    hosted = 0
    for p in range(len(old.partitions)):
        if not is_empty(intersection(replicas_of(old.partitions[p].assignment), dead)):
            hosted = with_member(hosted, p)
    topics = topics_of(before.zk, intersection(old.deleting, hosted))
    resumes = union(old.resuming, old.deleting if not is_empty(topics) else 0)
    return new.resuming == resumes and new.ineligible == union(old.ineligible, topics)


def lost_fail(before, after, b, r):
    """When replicas are newly known as lost, those of topics queued for deletion make these ineligible, and if there are any,
    the deletion of all that are queued is resumed.
    """
    old = before.brokers[b].controller
    new = after.brokers[b].controller
    lost = 0
    for p in range(len(old.partitions)):
        fresh = contains(before.brokers[b].errors[r], p) and not contains(old.partitions[p].failed, r)
        if fresh and is_queued(old, p):
            lost = with_member(lost, p)
    resumes = union(old.resuming, old.deleting if not is_empty(lost) else 0)
    return new.resuming == resumes and new.ineligible == union(old.ineligible, topics_of(before.zk, lost))


BROKERS = (
    always_step(newcomers_resume, of=("broker_startup",)),
    always_step(departed_fail, of=("broker_failure",)),
    always_step(lost_fail, of=("storage_error",)),
)
