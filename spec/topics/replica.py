"""A broker's side: LeaderAndIsr makes a log, StopReplica(delete) deletes it; the controller epoch fences both."""

from kafkaproof.spec.election.requests import is_stale
from kafkaproof.spec.language.domains import Bound, Number
from kafkaproof.spec.topics.context import Broker, Partition
from kafkaproof.spec.topics.network import DELETE, DELETED, DROP, START, answer, kind_of, take, topic_of

Epoch = Number(0, Bound("epochs"))


def leader_and_isr(s, b: Broker, epoch: Epoch, p: Partition):
    """A broker receives LeaderAndIsr: it has a log of the topic.

    Guards:  a request of `epoch` arrives; the process lives.
    Effects: with a lower controller epoch than before it is refused.
    Kafka:   ReplicaManager.becomeLeaderOrFollower, 0.8 to 3.9.
    """
    broker = s.brokers[b]
    if not broker.up or kind_of(s.network, epoch, b, p) != START:
        return False

    if not is_stale(broker, epoch):
        broker.seen_epoch = epoch
        broker.logs[p] = topic_of(s.network, epoch, b, p)
    take(s.network, epoch, b, p)
    return True


def stop_replica(s, b: Broker, epoch: Epoch, p: Partition):
    """A broker receives StopReplica(delete): the log is deleted, whatever topic it was made for.

    Guards:  a request of `epoch` arrives; the process lives.
    Effects: with a lower controller epoch than before it is refused; the answer to a deletion of the topic is
             on its way.
    Kafka:   ReplicaManager.stopReplicas, 0.8 to 3.9.
    """
    broker = s.brokers[b]
    kind = kind_of(s.network, epoch, b, p)
    if not broker.up or (kind != DELETE and kind != DROP):
        return False

    if is_stale(broker, epoch):
        take(s.network, epoch, b, p)
    else:
        broker.seen_epoch = epoch
        broker.logs[p] = 0
        if kind == DELETE:
            answer(s.network, epoch, b, p, DELETED)
        else:
            take(s.network, epoch, b, p)
    return True
