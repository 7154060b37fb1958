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


def is_settled(zk, p):
    """Whether the topic znode of a partition says that none of its partitions is being reassigned.

    Kafka: AdminManager.createPartitions, 2.4 to 2.7; ZkAdminManager.createPartitions, 2.8 to 3.9.
    """
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


def read_topic(zk, b, p, new, start, reader):
    """getChildren of /brokers/ids, and getData of the topic znode of a partition: OK, NONODE or EXPIRED.

    Its assignments go into `reader`, with those of new partitions, unless one of the topic is being reassigned, or has
    more replicas than there are brokers.
    """
    if not session_open(zk, b):
        return EXPIRED
    replicas = zk.assignments[p].length
    if replicas == 0:
        return NONODE
    if is_settled(zk, p) and has_brokers(zk, replicas):
        for q in range(len(zk.topics)):
            if zk.topics[q] == zk.topics[p]:
                copy(zk.assignments[q], reader.assignments[q])
        assign_among(zk, reader, new, partitions_beside(zk, p), replicas, start, start, zk.registered)
        reader.of = p
        reader.new = new
    return OK


def write_topic(zk, b, p, reader, delivery):
    """setData of the topic znode of a partition, whatever its version, with the assignments in `reader`: OK, NONODE,
    EXPIRED or LOST. No partition in it is being reassigned.
    """
    if not session_open(zk, b):
        return EXPIRED
    answer = OK if zk.assignments[p].length > 0 else NONODE
    if answer == OK and delivery != LOST_DROPPED:
        add_to_topic(zk, reader.new, p)
        for q in range(len(zk.topics)):
            if zk.topics[q] == zk.topics[p]:
                copy(reader.assignments[q], zk.assignments[q])
                forget_reassignment(zk, q)
    return outcome(zk, answer, delivery)


def forget_reassignment(zk, q):
    """The topic znode does not say any more that a partition is being reassigned."""
    zk.adding[q] = 0
    zk.removing[q] = 0


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
