"""A broker's side: whose log it has, which LeaderAndIsr it refuses because of that, and which StopReplica it obeys."""

from kafkaproof.spec.election.requests import is_stale
from kafkaproof.spec.partition.context import Broker, Partition
from kafkaproof.spec.partition.deletion.replica import delete_log as delete_any
from kafkaproof.spec.partition.network import arriving, leader_epoch_in, take_request
from kafkaproof.spec.partition.recreation.network import late_arrives, take_late, topic_in
from kafkaproof.spec.partition.replica import Epoch, is_lost, is_news
from kafkaproof.spec.partition.replica import leader_and_isr as obey


def is_of_another(replica, topic):
    """Whether a broker has the log of another topic than LeaderAndIsr is of, as it knows by their ids.

    Kafka: ReplicaManager.becomeLeaderOrFollower, 2.8 to 3.9 (KIP-516).
    """
    return replica.topic != 0 and replica.topic != topic


def leader_and_isr(s, b: Broker, epoch: Epoch, p: Partition):
    """A broker receives LeaderAndIsr: it leads or follows, unless it has seen higher epochs.

    Guards:  a request of `epoch` arrives; the process lives; it has no log of another topic.
    Effects: with a lower controller epoch than before it is refused (STALE_CONTROLLER_EPOCH); where the log directory
             has failed the answer is KAFKA_STORAGE_ERROR; without a higher leader epoch only the controller epoch
             changes. The log that it makes is of the topic in the request.
    Kafka:   ReplicaManager.becomeLeaderOrFollower, 0.8 to 3.9.
    """
    broker = s.brokers[b]
    replica = broker.replicas[p]
    topic = topic_in(s.network, epoch, p)
    is_obeyed = not is_stale(broker, epoch) and not is_lost(replica)
    is_new = is_news(replica, leader_epoch_in(s.network, epoch, p))
    if is_of_another(replica, topic) or not obey(s, b, epoch, p):
        return False

    if is_obeyed and is_new:
        replica.topic = topic
    return True


def refuse_topic(s, b: Broker, epoch: Epoch, p: Partition):
    """A broker refuses LeaderAndIsr: it has a log of another topic of that name (INCONSISTENT_TOPIC_ID).

    Guards:  a request of `epoch` arrives; the process lives; it has such a log, in a directory that works.
    Effects: only the controller epoch changes, unless it is lower than before.
    Kafka:   ReplicaManager.becomeLeaderOrFollower, 2.8 to 3.9 (KIP-516).
    """
    broker = s.brokers[b]
    if not broker.up or not arriving(s.network, epoch, p, b) or is_lost(broker.replicas[p]):
        return False
    if not is_of_another(broker.replicas[p], topic_in(s.network, epoch, p)):
        return False

    take_request(s.network, epoch, p, b)
    if not is_stale(broker, epoch):
        broker.seen_epoch = epoch
    return True


def late_stop_replica(s, b: Broker, epoch: Epoch, p: Partition):
    """A broker receives StopReplica(delete) a second time: it deletes the log that it has then, of whatever topic.

    Guards:  it arrives; the process lives, and is the one that it was sent to (broker epochs: 2.2+).
    Effects: with a lower controller epoch than before it is refused. Nobody awaits the answer.
    Kafka:   ReplicaManager.stopReplicas, 0.8 to 3.9 (no topic id; the leader epoch of a deletion, -2, overrides all, 2.6
             to 3.9).
    """
    broker = s.brokers[b]
    if not broker.up or not late_arrives(s.network, epoch, p, b):
        return False

    take_late(s.network, epoch, p, b)
    if not is_stale(broker, epoch):
        broker.seen_epoch = epoch
        if not is_lost(broker.replicas[p]):
            delete_log(s, b, p)
    return True


def delete_log(s, b, p):
    """A replica is deleted, with its log."""
    delete_any(s, b, p)
    s.brokers[b].replicas[p].topic = 0
