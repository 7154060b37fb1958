"""ZooKeeper as a deletion uses it: the markers in /admin/delete_topics, and the znodes that are deleted.

As in `kafkaproof.spec.partition.zookeeper`, a function that answers with a code is one request, or several in a row, of
which the last decides. A znode that no longer exists counts as deleted (KafkaZkClient.deleteRecursive).
"""

from kafkaproof.spec.kafka.zookeeper import EXPIRED, LOST_DROPPED, NODEEXISTS, NONODE, OK, outcome
from kafkaproof.spec.language.combine import checked
from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.spec.language.sets import contains, difference, intersection, is_empty, only, union, with_member
from kafkaproof.spec.partition.context import NO_EPOCH, clear
from kafkaproof.spec.partition.creation.zookeeper import assign_new as assign_replicas
from kafkaproof.spec.partition.zookeeper import check_epoch, partitions_of_topics, session_open
from kafkaproof.spec.partition.zookeeper import create_state as create_first_state

KNOWN = ("deletion_wanted", "is_left_over", "topics_of")


def deletion_wanted(zk):
    """The partitions of existing topics that are queued for deletion: watches report them."""
    return intersection(zk.deleting, partitions_of_topics(zk))


def is_left_over(zk):
    """Whether there is the marker of a topic that does not exist: watches report it."""
    return zk.stray == 1 or not is_empty(intersection(zk.deleting, zk.deleted))


def topics_of(zk, partitions):
    """The partitions of the topics that some partitions belong to, which a controller has read and nothing changes."""
    found = 0
    for p in range(len(zk.topics)):
        for q in range(len(zk.topics)):
            if contains(partitions, q) and zk.topics[p] == zk.topics[q]:
                found = with_member(found, p)
    return found


def group_topics(zk, offsets):
    """Partition `offsets` (-1: none) is a topic of its own; the other initial partitions are one topic."""
    for p in range(len(zk.topics)):
        zk.topics[p] = p if p == offsets or zk.assignments[p].length == 0 else 0


def join_topic(zk, p, other):
    """A partition belongs to the topic of another one; its own is a new topic, of which it is the first partition."""
    zk.topics[p] = p if p == other else zk.topics[other]


def assign_new(zk, new, replicas, start, shift, live):
    """Give the partitions of a new topic their replicas."""
    first = NOBODY
    for p in range(len(zk.topics)):
        if contains(new, p):
            first = p if first == NOBODY else first
            join_topic(zk, p, first)
    assign_replicas(zk, new, replicas, start, shift, live)


def is_taken(zk, p):
    """Whether a partition belongs, or belonged, to a topic."""
    return zk.assignments[p].length > 0 or contains(zk.deleted, p)


def create_marker(zk, b, p, delivery):
    """create /admin/delete_topics/t, for the topic of a partition: OK, NODEEXISTS, EXPIRED or LOST.

    A topic that was deleted meanwhile is marked like one that never existed.
    """
    if not session_open(zk, b):
        return EXPIRED
    answer = NODEEXISTS if contains(zk.deleting, p) else OK
    if answer == OK and delivery != LOST_DROPPED:
        zk.deleting = union(zk.deleting, topics_of(zk, only(p)))
    return outcome(zk, answer, delivery)


def create_state(zk, b, p, epoch, leader, isr, delivery):
    """create a partition's state, as in `zookeeper`; NONODE where its topic was deleted. (Where writes are checked, only
    its own controller creates a state, and only while there is a topic.)
    """
    if session_open(zk, b) and contains(zk.deleted, p):
        return outcome(zk, NONODE, delivery)
    return create_first_state(zk, b, p, epoch, leader, isr, delivery)


def delete_state(zk, b, p, delivery):
    """delete a partition's state, and the znode above it: OK, EXPIRED or LOST."""
    if not session_open(zk, b):
        return EXPIRED
    if delivery != LOST_DROPPED:
        state = zk.partitions[p]
        state.leader = NOBODY
        state.isr = 0
        state.leader_epoch = NO_EPOCH
        state.controller_epoch = 0
        state.readers = 0
    return outcome(zk, OK, delivery)


def delete_topic(zk, b, topic, delivery):
    """delete /brokers/topics/t with what is left below it: OK, EXPIRED or LOST."""
    if not session_open(zk, b):
        return EXPIRED
    if delivery != LOST_DROPPED:
        whole = topics_of(zk, topic)
        for p in range(len(zk.assignments)):
            if contains(whole, p):
                clear(zk.assignments[p])
        zk.deleted = union(zk.deleted, whole)
    return outcome(zk, OK, delivery)


def delete_config(zk, b, topic, delivery):
    """delete /config/topics/t, which is not kept here: OK, EXPIRED or LOST."""
    return outcome(zk, OK, delivery) if session_open(zk, b) else EXPIRED


def delete_marker(zk, b, topic, delivery):
    """delete /admin/delete_topics/t: OK, EXPIRED or LOST."""
    if not session_open(zk, b):
        return EXPIRED
    if delivery != LOST_DROPPED:
        zk.deleting = difference(zk.deleting, topics_of(zk, topic))
    return outcome(zk, OK, delivery)


def delete_leftovers(zk, b, unknown, delivery):
    """delete configuration and marker of each topic that is marked and does not exist, and the markers of topics that
    the controller does not know: OK, EXPIRED or LOST.
    """
    if not session_open(zk, b):
        return EXPIRED
    if delivery != LOST_DROPPED:
        zk.deleting = difference(zk.deleting, union(zk.deleted, topics_of(zk, unknown)))
        zk.stray = 0
    return outcome(zk, OK, delivery)


checked_delete_state = checked(delete_state, check_epoch)
checked_delete_topic = checked(delete_topic, check_epoch)
checked_delete_config = checked(delete_config, check_epoch)
checked_delete_marker = checked(delete_marker, check_epoch)
checked_delete_leftovers = checked(delete_leftovers, check_epoch)
