"""ZooKeeper as the creation of topics uses it.

As in `zookeeper`, a function that answers with a code is one request.
"""

from kafkaproof.spec.kafka.placement import assign_among
from kafkaproof.spec.kafka.zookeeper import EXPIRED, LOST_DROPPED, NODEEXISTS, OK, outcome
from kafkaproof.spec.language.combine import checked
from kafkaproof.spec.language.sets import contains, difference
from kafkaproof.spec.partition.context import clear
from kafkaproof.spec.partition.zookeeper import check_epoch, partitions_of_topics, read_assignment, session_open

KNOWN = ("in_new_topics",)


def in_new_topics(zk, known):
    """The partitions of topics that are not known: the watch on /brokers/topics reports them."""
    return difference(partitions_of_topics(zk), known)


def write_topic_config(zk, b, delivery):
    """setData of /config/topics/t, or create: OK, EXPIRED or LOST."""
    return outcome(zk, OK, delivery) if session_open(zk, b) else EXPIRED


def read_topics(zk, b, new, controller):
    """getChildren of /brokers/topics, watch armed, getData of each that is new, into `controller`: OK or EXPIRED."""
    if not session_open(zk, b):
        return EXPIRED
    for p in range(len(zk.assignments)):
        if contains(new, p):
            read_assignment(zk, p, controller.partitions[p])
    return OK


def is_taken(zk, p):
    """Whether a partition belongs to a topic."""
    return zk.assignments[p].length > 0


def create_topic(zk, b, new, replicas, start, shift, live, delivery):
    """create /brokers/topics/t, with an assignment: OK, NODEEXISTS, EXPIRED or LOST."""
    if not session_open(zk, b):
        return EXPIRED
    answer = OK
    for p in range(len(zk.assignments)):
        if contains(new, p) and is_taken(zk, p):
            answer = NODEEXISTS
    if answer == OK and delivery != LOST_DROPPED:
        assign_new(zk, new, replicas, start, shift, live)
    return outcome(zk, answer, delivery)


checked_create_topic = checked(create_topic, check_epoch)


def assign_new(zk, new, replicas, start, shift, live):
    """Give the partitions of a new topic their replicas."""
    assign_among(zk, zk, new, 0, replicas, start, shift, live)


def leave_unused(zk, first):
    """The partitions from `first` on belong to no topic yet."""
    for p in range(len(zk.assignments)):
        if p >= first:
            clear(zk.assignments[p])
