"""Properties of topics that are created again: whose log is deleted (T4), and whose context a controller has (T10)."""

from kafkaproof.spec.language.model import Property, always, always_step, sometimes
from kafkaproof.spec.language.sets import contains, difference, intersection, is_empty
from kafkaproof.spec.partition.context import is_known
from kafkaproof.spec.partition.creation import properties as topic_creation
from kafkaproof.spec.partition.deletion import properties as topic_deletion
from kafkaproof.spec.partition.deletion.properties import at_rest, may_lose_log
from kafkaproof.spec.partition.properties.controllers import is_forgotten
from kafkaproof.spec.partition.properties.states import exists
from kafkaproof.spec.partition.recreation.event_properties import EVENTS
from kafkaproof.spec.partition.recreation.network import late_arrives
from kafkaproof.spec.partition.zookeeper import partitions_of_topics


def has_own_log(s, b, p):
    """Whether a broker has a log of the topic that a partition belongs to, or did last."""
    return s.brokers[b].replicas[p].topic > 0 and s.brokers[b].replicas[p].topic == s.zk.ids[p]


def own_logs_deleted(before, after, b, epoch, p):
    """A broker deletes the log of a topic that exists only while that may be lost, as when the deletion of the topic is
    asked for (T4).
    """
    goes = has_own_log(before, b, p) and not has_own_log(after, b, p)
    return not goes or before.zk.assignments[p].length == 0 or may_lose_log(before, b, p)


def cache_of_this_topic(s):
    """The current controller, at rest, knows the leader of a partition only in the topic that there is now (T10)."""
    for b in range(len(s.brokers)):
        for p in range(len(s.zk.partitions)):
            known = s.brokers[b].controller.partitions[p]
            if at_rest(s, b) and is_known(known):
                if known.topic != s.zk.ids[p] or s.zk.assignments[p].length == 0:
                    return False
    return True


def log_of_this_topic(before, after, b, epoch, p):
    """LeaderAndIsr makes no log of one topic that of another (KIP-516)."""
    had = before.brokers[b].replicas[p].topic
    return had == 0 or after.brokers[b].replicas[p].topic == had


def is_of_no_topic(partition):
    """Whether a partition is not in the context any more: its topic is gone."""
    return partition.assignment.length == 0


def configured(s):
    """A topic that exists has its configuration (T2)."""
    return is_empty(difference(partitions_of_topics(s.zk), s.zk.configured))


def config_goes_before_marker(before, after):
    """The marker of a topic is removed only after its configuration (T2)."""
    unmarked = difference(before.zk.deleting, after.zk.deleting)
    return is_empty(intersection(unmarked, before.zk.configured)) or after.zk.configured != before.zk.configured


def created_again(s):
    """A topic of the same name has its first state."""
    for p in range(len(s.zk.partitions)):
        if s.zk.ids[p] > 1 and exists(s.zk.partitions[p]):
            return True
    return False


def stopped_twice(s):
    """A StopReplica for a topic that is gone is still on its way to a broker that has a log of the next one."""
    for epoch in range(len(s.network.stops) - 1):
        for p in range(len(s.zk.partitions)):
            for b in range(len(s.brokers)):
                if late_arrives(s.network, epoch, p, b) and s.brokers[b].replicas[p].topic > 1:
                    if not contains(s.zk.deleting, p):
                        return True
    return False


SAFETY = (
    always_step(own_logs_deleted, of=("stop_replica", "late_stop_replica")),
    always(cache_of_this_topic),
    always_step(log_of_this_topic, of=("leader_and_isr",)),
    always(configured),
    always_step(config_goes_before_marker),
)
GOALS = (sometimes(created_again, topics=2), sometimes(stopped_twice, topics=2, faults=1))
WITH_IDS = {topic_deletion.keeps_log: has_own_log, is_forgotten: is_of_no_topic}


def properties(found: tuple[Property, ...]) -> tuple[Property, ...]:
    """The properties of a model with deletions and creations, adapted, and those of topics that are created again."""
    others = topic_deletion.GOALS + topic_creation.CREATION
    kept = (p for p in found if p.kind != "sometimes" or p in others)
    return tuple(p.rebound(WITH_IDS) for p in kept) + SAFETY + EVENTS + GOALS
