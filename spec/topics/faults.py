"""Faults, and requests of operators: each kind has its own count and bound.

A process that dies takes its session with it: between death and expiry it would only be a broker that does not answer.
`delete_controller` is that of `kafkaproof.spec.election.faults`.
"""

from kafkaproof.spec.election.requests import is_stale
from kafkaproof.spec.kafka.assignment import origin, target
from kafkaproof.spec.kafka.strategies import replicas_of
from kafkaproof.spec.language.sequences import push
from kafkaproof.spec.language.sets import contains, is_empty, union
from kafkaproof.spec.partition.znodes import ARMED, FIRED
from kafkaproof.spec.partition.zookeeper import end_session, register
from kafkaproof.spec.topics.context import Broker, Partition, end_process
from kafkaproof.spec.topics.network import DELETE, FAILED, answer, drop_requests, kind_of
from kafkaproof.spec.topics.replica import Epoch
from kafkaproof.spec.topics.znodes import CANCELLATION, NOTHING, REASSIGNMENT


def crash(s, b: Broker):
    """The process of `b` dies, and its session ends.

    Guards:  there is a process.
    Effects: all that it knew is gone; its logs stay.
    """
    if not s.brokers[b].up:
        return False

    end_process(s.brokers[b])
    end_session(s.zk, b)
    drop_requests(s.network, b)
    s.zk.faults += 1
    return True


def restart(s, b: Broker):
    """A new process of `b` starts and registers.

    Guards:  there is none.
    Effects: it knows nothing, and obeys no request that was sent to the former process.
    """
    if s.brokers[b].up:
        return False

    register(s.zk, b)
    s.brokers[b].up = 1
    return True


def refuse_deletion(s, b: Broker, epoch: Epoch, p: Partition):
    """A broker cannot delete a log: its directory is offline (KAFKA_STORAGE_ERROR).

    Guards:  StopReplica(delete) arrives, in order; the process lives.
    Effects: the answer is on its way.
    """
    broker = s.brokers[b]
    if not broker.up or kind_of(s.network, epoch, b, p) != DELETE or is_stale(broker, epoch):
        return False

    broker.seen_epoch = epoch
    answer(s.network, epoch, b, p, FAILED)
    s.zk.faults += 1
    return True


def create_topic(zk, first):
    """Create configuration and topic znode, with one partition; its replicas start at broker `first`."""
    zk.created += 1
    zk.topic = zk.created
    zk.config = 1
    add_replicas(zk, 0, first)


def add_replicas(zk, p, first):
    """The assignment of a partition: broker `first` and those that follow it."""
    brokers = len(zk.clients)
    for i in range(len(zk.request.target.slots) - 1):
        replica = first + i
        push(zk.assignments[p], replica if replica < brokers else replica - brokers)


def create_again(s):
    """An operator creates a topic of the same name.

    Guards:  there is no topic, and no deletion is asked for.
    Effects: there is one, with one partition.
    """
    if s.zk.topic > 0 or s.zk.marker:
        return False

    create_topic(s.zk, 0)
    s.zk.requests += 1
    return True


def ask_for_deletion(s):
    """An operator creates /admin/delete_topics/t.

    Guards:  it does not exist; the topic does.
    Effects: it exists.
    """
    if s.zk.marker or s.zk.topic == 0:
        return False

    s.zk.marker = 1
    s.zk.requests += 1
    return True


def expand(s, p: Partition):
    """An operator writes the topic znode with another partition, whatever its version.

    Guards:  the topic exists; `p` is the next.
    Effects: the watches on its data fire.
    """
    if s.zk.topic == 0 or p == 0 or s.zk.assignments[p].length > 0:
        return False
    if s.zk.assignments[p - 1].length == 0:
        return False

    add_replicas(s.zk, p, 0)
    for client in s.zk.clients:
        if client.topic_watch == ARMED:
            client.topic_watch = FIRED
    s.zk.requests += 1
    return True


def is_another(zk, p, old, new, first):
    """Whether replacing `old` by `new` (perhaps the same) and putting `first` first changes a partition's target or
    assignment.
    """
    if zk.topic == 0 or zk.assignments[p].length == 0:
        return False
    wanted = target(zk.assignments[p], zk.removing[p])
    if old == new:
        return first == old and contains(wanted, old) and zk.assignments[p].slots[0] != first
    stays = first != old and contains(wanted, first)
    return contains(wanted, old) and not contains(wanted, new) and (first == new or stays)


def put_request(zk, request, p, old, new, first):
    """Ask for that: `first`, then the others in their order, with `new` in place of `old`."""
    assigned = zk.assignments[p]
    request.wanted = REASSIGNMENT
    request.partition = p
    push(request.target, first)
    for i in range(assigned.length):
        replica = assigned.slots[i]
        wanted = new if replica == old else replica
        if contains(target(assigned, zk.removing[p]), replica) and wanted != first:
            push(request.target, wanted)


def ask_for_reassignment(s, p: Partition, old: Broker, new: Broker, first: Broker):
    """An administrator asks the controller to replace one replica by another, and to make one the preferred replica.

    Guards:  nothing is asked for; `old` is in the target, and `new` is not, or is the same; the target changes.
    Effects: the request is on its way.
    """
    if s.network.asked.wanted != NOTHING or not is_another(s.zk, p, old, new, first):
        return False

    put_request(s.zk, s.network.asked, p, old, new, first)
    if not is_empty(union(s.zk.adding[p], s.zk.removing[p])):
        s.zk.ghosts.replaced = 1
    s.zk.requests += 1
    return True


def ask_for_cancellation(s, p: Partition):
    """An administrator asks the controller to give up a reassignment.

    Guards:  nothing is asked for; the partition is being reassigned.
    Effects: the request is on its way.
    """
    replicas = s.zk.assignments[p]
    if s.network.asked.wanted != NOTHING or origin(replicas, s.zk.adding[p]) == replicas_of(replicas):
        return False

    s.network.asked.wanted = CANCELLATION
    s.network.asked.partition = p
    s.zk.ghosts.cancelled = 1
    s.zk.requests += 1
    return True


def list_reassignment(s, p: Partition, old: Broker, new: Broker, first: Broker):
    """An operator creates /admin/reassign_partitions, to replace one replica by another and make one the preferred
    replica.

    Guards:  it does not exist; `old` is a replica, and `new` is not, or is the same; the target differs from the
             assignment.
    Effects: it exists.
    """
    if s.zk.request.wanted != NOTHING or not is_another(s.zk, p, old, new, first):
        return False

    put_request(s.zk, s.zk.request, p, old, new, first)
    s.zk.requests += 1
    return True
