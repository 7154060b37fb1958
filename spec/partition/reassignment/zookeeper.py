"""ZooKeeper as a reassignment uses it: the assignment in the topic znode, and the request of an operator.

As in `kafkaproof.spec.partition.zookeeper`, a function that answers with a code is one request.
"""

from kafkaproof.spec.kafka.assignment import target
from kafkaproof.spec.kafka.strategies import replicas_of
from kafkaproof.spec.kafka.zookeeper import EXPIRED, LOST_DROPPED, NONODE, OK, outcome
from kafkaproof.spec.language.combine import checked
from kafkaproof.spec.language.sequences import begins_with
from kafkaproof.spec.language.sets import contains, is_empty, only
from kafkaproof.spec.partition.context import clear, copy
from kafkaproof.spec.partition.deletion.zookeeper import delete_topic as delete_assignments
from kafkaproof.spec.partition.deletion.zookeeper import topics_of
from kafkaproof.spec.partition.zookeeper import check_epoch, is_moved, listed, session_open
from kafkaproof.spec.partition.zookeeper import load_partition as load_known

KNOWN = ("is_listed", "is_aim", "is_unknown_listed")


def is_listed(zk, p, replicas):
    """Whether /admin/reassign_partitions lists a partition with exactly these replicas: the watch reports that."""
    return is_moved(zk, p) and zk.targets[p].length == replicas.length and begins_with(replicas, zk.targets[p])


def is_aim(zk, p, partition):
    """Whether it lists it with the target of the reassignment that `partition` is in."""
    aim = target(partition.assignment, partition.removing)
    return aim == replicas_of(zk.targets[p]) and begins_with(partition.assignment, zk.targets[p])


def is_unknown_listed(zk):
    """Whether it lists a partition that there never was: the watch reports that."""
    return zk.unknown_listed == 1


def delist(zk, b, partitions, delivery):
    """setData of /admin/reassign_partitions without some partitions (none: without those that there never were), or
    delete if none is left: OK, NONODE, EXPIRED or LOST.
    """
    if not session_open(zk, b):
        return EXPIRED
    answer = NONODE if is_empty(listed(zk)) and zk.unknown_listed == 0 else OK
    if delivery != LOST_DROPPED:
        if is_empty(partitions):
            zk.unknown_listed = 0
        for p in range(len(zk.targets)):
            if contains(partitions, p):
                clear(zk.targets[p])
    return outcome(zk, answer, delivery)


checked_delist = checked(delist, check_epoch)


def load_reassigned(zk, b, p, partition, reader):
    """getData of the topic, the assignment into `partition`, with what is added and removed, then as `get_state`."""
    answer = load_known(zk, b, p, partition, reader)
    if answer != EXPIRED:
        partition.adding = zk.adding[p]
        partition.removing = zk.removing[p]
    return answer


def set_assignments(zk, b, p, known, delivery):
    """setData of the topic znode of a partition, whatever its version: OK, NONODE, EXPIRED or LOST.

    `known` is the context of the controller. It is written whole: the topic loses partitions that are not in it.
    """
    if not session_open(zk, b):
        return EXPIRED
    answer = OK if zk.assignments[p].length > 0 else NONODE
    if answer == OK and delivery != LOST_DROPPED:
        for q in range(len(zk.assignments)):
            if contains(topics_of(zk, only(p)), q):
                copy(known.partitions[q].assignment, zk.assignments[q])
    return outcome(zk, answer, delivery)


def set_topic(zk, b, p, known, delivery):
    """The same, with what is added and removed."""
    answer = set_assignments(zk, b, p, known, delivery)
    if answer != EXPIRED and answer != NONODE and delivery != LOST_DROPPED:
        for q in range(len(zk.assignments)):
            if contains(topics_of(zk, only(p)), q):
                zk.adding[q] = known.partitions[q].adding
                zk.removing[q] = known.partitions[q].removing
    return answer


checked_set_assignments = checked(set_assignments, check_epoch)
checked_set_topic = checked(set_topic, check_epoch)


def delete_topic(zk, b, topic, delivery):
    """delete /brokers/topics/t with what is left below it: OK, EXPIRED or LOST."""
    answer = delete_assignments(zk, b, topic, delivery)
    if answer != EXPIRED and delivery != LOST_DROPPED:
        for p in range(len(zk.adding)):
            if contains(topic, p):
                zk.adding[p] = 0
                zk.removing[p] = 0
    return answer
