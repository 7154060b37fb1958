"""ZooKeeper as the creation of topics uses it, and the placement of a new topic's replicas.

As in `zookeeper`, a function that answers with a code is one request.
"""

from kafkaproof.spec.kafka.zookeeper import EXPIRED, LOST_DROPPED, NODEEXISTS, OK, outcome
from kafkaproof.spec.language.combine import checked
from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.spec.language.sequences import push
from kafkaproof.spec.language.sets import contains, difference
from kafkaproof.spec.partition.context import clear, copy
from kafkaproof.spec.partition.zookeeper import check_epoch, partitions_of_topics, session_open

KNOWN = ("in_new_topics",)
MOST = 64
"""Bounds sums of numbers of brokers or partitions: none here is more than this many times one of them."""


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
            copy(zk.assignments[p], controller.partitions[p].assignment)
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
    assign_among(zk, new, new, replicas, start, shift, live)


def assign_among(zk, topic, new, replicas, start, shift, live):
    """Give the new partitions of a topic, in order, their replicas among the live brokers, as `assign_replicas` of
    `topics` does it for the whole topic.
    """
    size = 0
    for r in range(len(zk.clients)):
        if contains(live, r):
            size += 1
    first = remainder(start, size)
    farther = shift
    since = 0
    for p in range(len(zk.assignments)):
        if contains(topic, p):
            if contains(new, p):
                assign_one(zk, zk.assignments[p], replicas, first, farther, live, size)
            first = remainder(first + 1, size)
            since += 1
            farther = farther + 1 if since == size else farther
            since = 0 if since == size else since


def assign_one(zk, assignment, replicas, first, farther, live, size):
    """Replicas of one partition: the `first` live broker and those that follow it, `farther` of them skipped."""
    push(assignment, live_broker(zk, live, first))
    for j in range(len(assignment.slots) - 1):
        if j < replicas - 1:
            place = remainder(first + 1 + remainder(farther + j, size - 1), size)
            push(assignment, live_broker(zk, live, place))


def remainder(x, n):
    """What is left of `x` divided by `n`, both not negative; `n` at least 1."""
    for _ in range(MOST):
        if x >= n:
            x -= n
    return x


def live_broker(zk, live, place):
    """The live broker at a place in the order of ids."""
    found = NOBODY
    left = place
    for r in range(len(zk.clients)):
        if contains(live, r):
            found = r if left == 0 else found
            left -= 1
    return found


def leave_unused(zk, first):
    """The partitions from `first` on belong to no topic yet."""
    for p in range(len(zk.assignments)):
        if p >= first:
            clear(zk.assignments[p])
