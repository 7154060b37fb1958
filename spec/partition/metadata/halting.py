"""A broker's side of StopReplica without delete. There are no fetches here; what they do is in `cluster`, and that a
replica fetches no more is kept in `requests`.
"""

from kafkaproof.spec.election.requests import is_stale
from kafkaproof.spec.kafka.control_requests import FENCED_LEADER_EPOCH, KAFKA_STORAGE_ERROR, NONE
from kafkaproof.spec.partition.context import NO_EPOCH, Broker, Partition
from kafkaproof.spec.partition.metadata.network import halt_arrives, take_halt
from kafkaproof.spec.partition.replica import Epoch, is_lost


def is_in_time(replica, leader_epoch):
    """Whether StopReplica is not of an older leader epoch than the replica has; none (-1) where a topic is deleted.

    Kafka: ReplicaManager.stopReplicas, 3.4 to 3.9.
    """
    return leader_epoch == NO_EPOCH or leader_epoch >= replica.leader_epoch


def stop_error(replica, leader_epoch):
    """The error code for a partition in a StopReplica that is accepted."""
    if is_lost(replica):
        return KAFKA_STORAGE_ERROR
    return NONE if is_in_time(replica, leader_epoch) else FENCED_LEADER_EPOCH


def halt_replica(s, b: Broker, epoch: Epoch, p: Partition):
    """A broker receives StopReplica without delete: it fetches no more.

    Guards:  a request of `epoch` arrives; the process lives.
    Effects: with a lower controller epoch than before it is refused (STALE_CONTROLLER_EPOCH), else that is remembered.
    Kafka:   ReplicaManager.stopReplicas, 0.8 to 3.9.
    """
    broker = s.brokers[b]
    if not broker.up or not halt_arrives(s.network, epoch, p, b):
        return False

    take_halt(s.network, epoch, p, b)
    if not is_stale(broker, epoch):
        broker.seen_epoch = epoch
    return True
