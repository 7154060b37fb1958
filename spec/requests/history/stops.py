"""Which StopReplica without delete earlier releases refuse (see `kafkaproof.spec.partition.metadata.halting`)."""

from kafkaproof.spec.partition.context import NO_EPOCH


def is_later(replica, leader_epoch):
    """Whether StopReplica is of a later leader epoch than the replica has; none (-1) where a topic is deleted.

    Kafka: ReplicaManager.stopReplicas, 2.6 to 3.3 (KIP-570).
    """
    return leader_epoch == NO_EPOCH or leader_epoch > replica.leader_epoch


def whenever_it_was(replica, leader_epoch):
    """StopReplica carries no leader epoch: it is obeyed.

    Kafka: ReplicaManager.stopReplicas, 0.8 to 2.5.
    """
    return True
