"""Moves of partitions and replicas during a deletion: a move that is not legal changes nothing."""

from kafkaproof.spec.kafka.state_machines import (
    NON_EXISTENT_PARTITION,
    OFFLINE_PARTITION,
    partition_move_is_legal,
    replica_move_is_legal,
)
from kafkaproof.spec.language.sets import contains


def move_replica(partition, r, state):
    """Move a replica to another state if that is legal, else leave it as it is."""
    if replica_move_is_legal(partition.replicas[r], state):
        partition.replicas[r] = state


def move_replicas(partition, brokers, state):
    """Move the replicas of several brokers, each only if that is legal."""
    for r in range(len(partition.replicas)):
        if contains(brokers, r):
            move_replica(partition, r, state)


def move_partition(partition, state):
    """Move a partition to another state if that is legal, else leave it as it is."""
    if partition_move_is_legal(partition.state, state):
        partition.state = state


def end_partition(partition):
    """A partition goes Offline, then NonExistent."""
    if partition.state != NON_EXISTENT_PARTITION:
        move_partition(partition, OFFLINE_PARTITION)
        move_partition(partition, NON_EXISTENT_PARTITION)
