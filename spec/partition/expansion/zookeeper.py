"""ZooKeeper as the expansion of topics uses it: the topic znode gets more partitions.

As in `kafkaproof.spec.partition.zookeeper`, a function that answers with a code is one request.
"""

from kafkaproof.spec.kafka.placement import assign_among
from kafkaproof.spec.kafka.zookeeper import EXPIRED, LOST_DROPPED, NONODE, OK, outcome
from kafkaproof.spec.language.combine import checked
from kafkaproof.spec.language.sets import contains, difference, intersection, is_empty, union
from kafkaproof.spec.partition.context import NO_EPOCH, clear, copy
from kafkaproof.spec.partition.deletion.zookeeper import join_topic, topics_of
from kafkaproof.spec.partition.zookeeper import check_epoch, partitions_of_topics, session_open

KNOWN = ("added", "in_other_topics", "in_use", "is_settled", "has_brokers")


def added(zk, known):
    """The partitions that topics have besides those that are known of them: watches on their data report them."""
    return intersection(difference(partitions_of_topics(zk), known), topics_of(zk, known))


def in_other_topics(zk, known):
    """The partitions of topics of which nothing is known: the watch on /brokers/topics reports them."""
    return difference(difference(partitions_of_topics(zk), known), topics_of(zk, known))


def in_use(zk):
    """The partitions that topics have or had."""
    return union(partitions_of_topics(zk), union(zk.deleted, zk.deleting))


def is_settled(zk, p):
    """Whether the topic znode of a partition says that none of its partitions is being reassigned."""
    for q in range(len(zk.topics)):
        if zk.topics[q] == zk.topics[p] and not is_empty(union(zk.adding[q], zk.removing[q])):
            return False
    return True


def has_brokers(zk, replicas):
    """Whether so many brokers are registered."""
    count = 0
    for b in range(len(zk.clients)):
        if contains(zk.registered, b):
            count += 1
    return count >= replicas


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
        add_to_topic(zk, new, p)
    return outcome(zk, answer, delivery)


def read_topic(zk, b, p, reader):
    """getData of the topic znode of a partition, its assignments into `reader`: OK, NONODE or EXPIRED."""
    if not session_open(zk, b):
        return EXPIRED
    if zk.assignments[p].length == 0:
        return NONODE
    for q in range(len(zk.topics)):
        if zk.topics[q] == zk.topics[p]:
            copy(zk.assignments[q], reader.assignments[q])
    return OK


def write_topic(zk, b, p, reader, new, start, delivery):
    """setData of the topic znode of a partition, whatever its version, with the assignments in `reader` and more
    partitions: OK, NONODE, EXPIRED or LOST. No partition in it is being reassigned.
    """
    if not session_open(zk, b):
        return EXPIRED
    answer = OK if zk.assignments[p].length > 0 else NONODE
    if answer == OK and delivery != LOST_DROPPED:
        for q in range(len(zk.topics)):
            if zk.topics[q] == zk.topics[p]:
                copy(reader.assignments[q], zk.assignments[q])
                zk.adding[q] = 0
                zk.removing[q] = 0
        replicas = reader.assignments[p].length
        assign_among(zk, new, partitions_beside(zk, p), replicas, start, start, zk.registered)
        add_to_topic(zk, new, p)
    return outcome(zk, answer, delivery)


def add_to_topic(zk, new, p):
    """Partitions are of the topic of `p`."""
    for q in range(len(zk.topics)):
        if contains(new, q):
            join_topic(zk, q, p)
    if contains(zk.deleting, p):
        zk.deleting = union(zk.deleting, new)


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
