"""What operators and administrators ask for: the reassignment of partitions."""

from kafkaproof.spec.language.domains import SetOf
from kafkaproof.spec.language.sequences import push
from kafkaproof.spec.language.sets import contains, difference, is_empty
from kafkaproof.spec.partition.context import Broker, Partition
from kafkaproof.spec.partition.reassignment.network import CANCELLATION, NOTHING_WANTED, REASSIGNMENT
from kafkaproof.spec.partition.znodes import count_request
from kafkaproof.spec.partition.zookeeper import listed, partitions_of_topics

Moved = SetOf("partitions")
Others = SetOf("brokers")


def size_of(zk, others):
    """How many brokers a set has."""
    size = 0
    for r in range(len(zk.clients)):
        if contains(others, r):
            size += 1
    return size


def put_target(zk, p, first, others):
    """List a target of a partition."""
    put_replicas(zk, zk.targets[p], first, others)


def put_replicas(zk, target, first, others):
    """A target: the preferred replica, then the others in the order of ids, starting after the preferred one and
    wrapping around.
    """
    push(target, first)
    for i in range(len(zk.clients)):
        r = first + i if first + i < len(zk.clients) else first + i - len(zk.clients)
        if contains(others, r):
            push(target, r)


def ask_for_unknown_reassignment(s):
    """An operator lists in /admin/reassign_partitions a partition that there never was, beside others or alone.

    Guards:  it lists none such.
    Effects: it lists one.
    """
    if s.zk.unknown_listed:
        return False

    s.zk.unknown_listed = 1
    count_request(s.zk)
    return True


def ask_for_reassignment(s, moved: Moved, first: Broker, others: Others):
    """An operator creates /admin/reassign_partitions: `first` is to be the preferred replica of some partitions, before
    `others`.

    Guards:  it does not exist; the partitions do; there are not more replicas than the scope says.
    Effects: it exists.
    """
    if not is_empty(listed(s.zk)) or is_empty(moved) or contains(others, first):
        return False
    if not is_empty(difference(moved, partitions_of_topics(s.zk))):
        return False
    if size_of(s.zk, others) + 2 > len(s.zk.targets[0].slots):
        return False

    for p in range(len(s.zk.targets)):
        if contains(moved, p):
            put_target(s.zk, p, first, others)
    count_request(s.zk)
    return True


def ask_for_alteration(s, p: Partition, first: Broker, others: Others):
    """An administrator asks the controller for a reassignment: `first` is to be the preferred replica of a partition,
    before `others`.

    Guards:  nothing is asked for; there are not more replicas than the scope says.
    Effects: it is asked for.
    """
    request = s.network.alteration
    if request.wanted != NOTHING_WANTED or contains(others, first):
        return False
    if size_of(s.zk, others) + 2 > len(s.zk.targets[0].slots):
        return False

    request.wanted = REASSIGNMENT
    request.partition = p
    put_replicas(s.zk, request.target, first, others)
    count_request(s.zk)
    return True


def ask_for_cancellation(s, p: Partition):
    """An administrator asks the controller to cancel a reassignment.

    Guards:  nothing is asked for.
    Effects: it is asked for.
    """
    if s.network.alteration.wanted != NOTHING_WANTED:
        return False

    s.network.alteration.wanted = CANCELLATION
    s.network.alteration.partition = p
    count_request(s.zk)
    return True
