"""What operators ask for: the reassignment of a partition."""

from kafkaproof.spec.language.domains import SetOf
from kafkaproof.spec.language.sequences import push
from kafkaproof.spec.language.sets import contains
from kafkaproof.spec.partition.context import Broker, Partition

Others = SetOf("brokers")


def size_of(zk, others):
    """How many brokers a set has."""
    size = 0
    for r in range(len(zk.clients)):
        if contains(others, r):
            size += 1
    return size


def put_target(zk, first, others):
    """List a target: the preferred replica, then the others in the order of ids, starting after the preferred one and
    wrapping around.
    """
    push(zk.reassignment.target, first)
    for i in range(len(zk.clients)):
        r = first + i if first + i < len(zk.clients) else first + i - len(zk.clients)
        if contains(others, r):
            push(zk.reassignment.target, r)


def ask_for_reassignment(s, p: Partition, first: Broker, others: Others):
    """An operator creates /admin/reassign_partitions: `first` is to be the preferred replica of a partition, before
    `others`.

    Guards:  it does not exist; the partition does; there are not more replicas than the scope says.
    Effects: it exists.
    """
    request = s.zk.reassignment
    if request.target.length > 0 or s.zk.assignments[p].length == 0 or contains(others, first):
        return False
    if size_of(s.zk, others) + 2 > len(request.target.slots):
        return False

    request.partition = p
    put_target(s.zk, first, others)
    s.zk.faults += 1
    return True
