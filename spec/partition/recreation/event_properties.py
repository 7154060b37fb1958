"""Properties of the steps of topics that are created again: what is known of each by its id, and what arrives twice.

Sources: ControllerContext.removeTopic, KafkaController.processTopicChange, ReplicaManager.becomeLeaderOrFollower, 2.8 to 3.9.
"""

from kafkaproof.spec.kafka.strategies import replicas_of
from kafkaproof.spec.kafka.zookeeper import LOST_DROPPED
from kafkaproof.spec.language.model import always, always_step
from kafkaproof.spec.language.sets import (
    contains,
    difference,
    intersection,
    is_empty,
    union,
    with_member,
    without_member,
)
from kafkaproof.spec.partition.creation.creation import known_partitions
from kafkaproof.spec.partition.deletion.network import stop_arrives
from kafkaproof.spec.partition.deletion.state import DELETING_CONFIG
from kafkaproof.spec.partition.properties.sessions import has_session, rests
from kafkaproof.spec.partition.recreation.network import late_arrives, topic_in
from kafkaproof.spec.partition.zookeeper import partitions_of_topics


def without_topic(zk):
    """The partitions that belong to no topic that is there, nor does another one of theirs."""
    found = 0
    for p in range(len(zk.topics)):
        there = False
        for q in range(len(zk.topics)):
            there = there or zk.topics[q] == zk.topics[p] and zk.assignments[q].length > 0
        if not there:
            found = with_member(found, p)
    return found


def gone_forgotten(before, after, b):
    """A controller at work that hears that topics are gone forgets exactly their partitions, unless its session is over."""
    known = known_partitions(before.brokers[b].controller)
    gone = intersection(known, without_topic(before.zk))
    kept = known if not has_session(before, b) else difference(known, gone)
    return (
        rests(before, b)
        and rests(after, b)
        and not is_empty(gone)
        and known_partitions(after.brokers[b].controller) == kept
    )


def id_with_assignment(s):
    """A controller knows the id of a topic exactly while it knows the assignment of its partition; no id is ahead."""
    for broker in s.brokers:
        for partition in broker.controller.partitions:
            if (partition.topic > 0) != (partition.assignment.length > 0) or partition.topic > s.zk.created:
                return False
    return True


def sent_of_topic(before, after):
    """LeaderAndIsr that is newly of a topic is of the one that its controller knows, and on its way to replicas of that."""
    for b in range(len(before.brokers)):
        controller = after.brokers[b].controller
        for p in range(len(controller.partitions)):
            request = after.network.requests[controller.epoch][p]
            fresh = request.topic != before.network.requests[controller.epoch][p].topic
            known = controller.partitions[p]
            others = difference(request.to, replicas_of(known.assignment))
            if controller.epoch > 0 and fresh and (request.topic != known.topic or not is_empty(others)):
                return False
    return True


def drops_nothing(before, after, b):
    """Whether LeaderAndIsr that says the same as before is still on its way to all that it was on its way to."""
    for p in range(len(after.zk.partitions)):
        epoch = before.brokers[b].controller.epoch
        old = before.network.requests[epoch][p]
        new = after.network.requests[epoch][p]
        same = old.leader == new.leader and old.leader_epoch == new.leader_epoch and old.topic == new.topic
        if same and not is_empty(difference(old.to, new.to)):
            return False
    return True


def sent_besides(before, after, b):
    """What newcomers are told is told besides what is on its way to others."""
    return drops_nothing(before, after, b)


def removed_besides(before, after, b, p, r):
    """What others are told when a replica that is not in the ISR goes offline is told besides what is on its way."""
    return drops_nothing(before, after, b)


def another_refused(before, after, b, epoch, p):
    """LeaderAndIsr is refused for its topic where there is a log of another one; nothing of the replica changes."""
    old = before.brokers[b].replicas[p]
    new = after.brokers[b].replicas[p]
    another = old.topic > 0 and old.topic != topic_in(before.network, epoch, p)
    taken = not contains(after.network.requests[epoch][p].to, b)
    return (
        another
        and taken
        and old.leader == new.leader
        and old.leader_epoch == new.leader_epoch
        and old.topic == new.topic
    )


def own_obeyed(before, after, b, epoch, p):
    """LeaderAndIsr is obeyed where there is no log, or one of its topic."""
    had = before.brokers[b].replicas[p].topic
    return had == 0 or had == topic_in(before.network, epoch, p)


def late_taken_once(before, after, b, epoch, p):
    """A StopReplica that arrives again is taken once, and no other is."""
    old = before.network.stops[epoch][p].late
    return contains(old, b) and after.network.stops[epoch][p].late == without_member(old, b)


def sent_again_once(before, after, b, epoch, p):
    """A StopReplica that is on its way is sent again, once, which is a fault."""
    twice = stop_arrives(before.network, epoch, p, b) and not late_arrives(before.network, epoch, p, b)
    return twice and late_arrives(after.network, epoch, p, b) and after.zk.faults == before.zk.faults + 1


def late_ends_with_process(before, after, b):
    """No StopReplica that was sent again reaches another process, or another registration."""
    for epoch in range(len(after.network.stops)):
        for p in range(len(after.zk.partitions)):
            if late_arrives(after.network, epoch, p, b):
                return False
    return True


def config_goes_with_topic(before, after, b, delivery):
    """Configurations are deleted of the topic in hand, or with the markers of topics that are gone, and by a controller
    with a session.
    """
    old = before.brokers[b].controller
    gone = difference(before.zk.configured, after.zk.configured)
    left = intersection(before.zk.deleting, before.zk.deleted)
    allowed = old.dropping if old.doing == DELETING_CONFIG else left
    applied = has_session(before, b) and delivery != LOST_DROPPED
    return is_empty(difference(gone, allowed)) and (applied or is_empty(gone))


def configured_with_topic(before, after, b, new, replicas, start, shift, delivery):
    """A topic that is created has a configuration, and no other gets one."""
    appeared = difference(partitions_of_topics(after.zk), partitions_of_topics(before.zk))
    return after.zk.configured == union(before.zk.configured, appeared)


EVENTS = (
    always_step(gone_forgotten, of=("topic_gone",)),
    always(id_with_assignment),
    always_step(sent_of_topic),
    always_step(sent_besides, of=("broker_startup",)),
    always_step(removed_besides, of=("read_for_removal",)),
    always_step(another_refused, of=("refuse_topic",)),
    always_step(own_obeyed, of=("leader_and_isr",)),
    always_step(late_taken_once, of=("late_stop_replica",)),
    always_step(sent_again_once, of=("send_stop_again",)),
    always_step(late_ends_with_process, of=("crash", "stop", "restart", "reopen")),
    always_step(config_goes_with_topic, of=("delete_config", "delete_leftovers")),
    always_step(configured_with_topic, of=("create_topic",)),
)
