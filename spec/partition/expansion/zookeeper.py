"""ZooKeeper as the expansion of topics uses it: the topic znode gets more partitions.

As in `kafkaproof.spec.partition.zookeeper`, a function that answers with a code is one request.
"""

from kafkaproof.spec.kafka.placement import assign_among
from kafkaproof.spec.kafka.zookeeper import EXPIRED, LOST_DROPPED, NONODE, OK, outcome
from kafkaproof.spec.language.combine import checked
from kafkaproof.spec.language.sets import contains, difference, intersection, union
from kafkaproof.spec.partition.context import NO_EPOCH, clear
from kafkaproof.spec.partition.deletion.zookeeper import join_topic, topics_of
from kafkaproof.spec.partition.zookeeper import check_epoch, partitions_of_topics, session_open

KNOWN = ("added", "in_other_topics", "in_use")


def added(zk, known):
    """The partitions that topics have besides those that are known of them: watches on their data report them."""
    return intersection(difference(partitions_of_topics(zk), known), topics_of(zk, known))


def in_other_topics(zk, known):
    """The partitions of topics of which nothing is known: the watch on /brokers/topics reports them."""
    return difference(difference(partitions_of_topics(zk), known), topics_of(zk, known))


def in_use(zk):
    """The partitions that topics have or had."""
    return union(partitions_of_topics(zk), union(zk.deleted, zk.deleting))


def partitions_beside(zk, p):
    """How many partitions the topic of a partition has."""
    count = 0
    for q in range(len(zk.topics)):
        if zk.assignments[q].length > 0 and zk.topics[q] == zk.topics[p]:
            count += 1
    return count


def add_partitions(zk, b, p, new, replicas, start, live, delivery):
    """setData of the topic znode of a partition, with more partitions: OK, NONODE, EXPIRED or LOST."""
    if not session_open(zk, b):
        return EXPIRED
    answer = OK if zk.assignments[p].length > 0 else NONODE
    if answer == OK and delivery != LOST_DROPPED:
        assign_among(zk, new, partitions_beside(zk, p), replicas, start, start, live)
        for q in range(len(zk.topics)):
            if contains(new, q):
                join_topic(zk, q, p)
        if contains(zk.deleting, p):
            zk.deleting = union(zk.deleting, new)
    return outcome(zk, answer, delivery)


def restore_topic(zk, b, p, delivery):
    """getChildren of /brokers/topics/t/partitions, and setData of the topic znode with these partitions alone: OK,
    NONODE, EXPIRED or LOST.
    """
    if not session_open(zk, b):
        return EXPIRED
    answer = OK if zk.assignments[p].length > 0 else NONODE
    if answer == OK and delivery != LOST_DROPPED:
        for q in range(len(zk.topics)):
            if zk.topics[q] == zk.topics[p] and zk.partitions[q].leader_epoch == NO_EPOCH:
                clear(zk.assignments[q])
    return outcome(zk, answer, delivery)


checked_restore_topic = checked(restore_topic, check_epoch)
