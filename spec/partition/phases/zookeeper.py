"""ZooKeeper as a reassignment in two phases uses it: the topic znode, and the list of partitions to reassign."""

from kafkaproof.spec.kafka.assignment import append_members
from kafkaproof.spec.kafka.strategies import replicas_of
from kafkaproof.spec.kafka.zookeeper import EXPIRED, LOST_DROPPED, OK, outcome
from kafkaproof.spec.language.combine import checked
from kafkaproof.spec.language.sets import difference, is_empty
from kafkaproof.spec.partition.context import clear
from kafkaproof.spec.partition.zookeeper import check_epoch, session_open

KNOWN = ("is_in_isr", "leave_unhandled")


def is_in_isr(zk, p, replicas):
    """Whether some replicas are in the ISR of a partition: the watch on its state reports that."""
    return is_empty(difference(replicas, zk.partitions[p].isr))


def leave_unhandled(zk, b, bounced):
    """Brokers that bounced are not handled: their registrations count as not read."""
    zk.clients[b].seen = difference(zk.clients[b].seen, bounced)


def set_list(zk, b, p, known, delivery):
    """setData (or create) of /admin/reassign_partitions, as the controller knows it, without one partition; delete if
    nothing is left: OK, EXPIRED or LOST.
    """
    if not session_open(zk, b):
        return EXPIRED
    if delivery != LOST_DROPPED:
        for q in range(len(zk.targets)):
            clear(zk.targets[q])
            if q != p:
                append_members(known.partitions[q].aim, replicas_of(known.partitions[q].aim), zk.targets[q])
    return outcome(zk, OK, delivery)


checked_set_list = checked(set_list, check_epoch)
