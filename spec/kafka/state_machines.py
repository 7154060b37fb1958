"""Which moves of partitions and replicas are legal: for each state, the states from which it may be entered.

The tables are Kafka's; the functions say the same in the little language. An illegal move is refused for
that partition or replica alone, which keeps its state; the rest of the batch goes on.

Source: kafka.controller.PartitionState.validPreviousStates, kafka.controller.ReplicaState.validPreviousStates, 1.1 to
        3.9.
"""

from kafkaproof.spec.language.domains import Choice

PartitionState = Choice("NonExistentPartition", "NewPartition", "OnlinePartition", "OfflinePartition")
NON_EXISTENT_PARTITION, NEW_PARTITION, ONLINE_PARTITION, OFFLINE_PARTITION = PartitionState

ReplicaState = Choice(
    "NonExistentReplica",
    "NewReplica",
    "OnlineReplica",
    "OfflineReplica",
    "ReplicaDeletionStarted",
    "ReplicaDeletionSuccessful",
    "ReplicaDeletionIneligible",
)
(
    NON_EXISTENT_REPLICA,
    NEW_REPLICA,
    ONLINE_REPLICA,
    OFFLINE_REPLICA,
    REPLICA_DELETION_STARTED,
    REPLICA_DELETION_SUCCESSFUL,
    REPLICA_DELETION_INELIGIBLE,
) = ReplicaState

PARTITION_ENTERED_FROM = {
    NON_EXISTENT_PARTITION: (OFFLINE_PARTITION,),
    NEW_PARTITION: (NON_EXISTENT_PARTITION,),
    ONLINE_PARTITION: (NEW_PARTITION, ONLINE_PARTITION, OFFLINE_PARTITION),
    OFFLINE_PARTITION: (NEW_PARTITION, ONLINE_PARTITION, OFFLINE_PARTITION),
}
REPLICA_ENTERED_FROM = {
    NON_EXISTENT_REPLICA: (REPLICA_DELETION_SUCCESSFUL,),
    NEW_REPLICA: (NON_EXISTENT_REPLICA,),
    ONLINE_REPLICA: (NEW_REPLICA, ONLINE_REPLICA, OFFLINE_REPLICA, REPLICA_DELETION_INELIGIBLE),
    OFFLINE_REPLICA: (NEW_REPLICA, ONLINE_REPLICA, OFFLINE_REPLICA, REPLICA_DELETION_INELIGIBLE),
    REPLICA_DELETION_STARTED: (OFFLINE_REPLICA,),
    REPLICA_DELETION_SUCCESSFUL: (REPLICA_DELETION_STARTED,),
    REPLICA_DELETION_INELIGIBLE: (OFFLINE_REPLICA, REPLICA_DELETION_STARTED),
}
"""From 2.3 on."""
REPLICA_ENTERED_FROM_TO_2_2 = REPLICA_ENTERED_FROM | {REPLICA_DELETION_INELIGIBLE: (REPLICA_DELETION_STARTED,)}
"""Up to 2.2 a dead replica that was offline already could not be marked as ineligible for deletion."""


def partition_move_is_legal(before, after):
    """Whether a partition may go from one PartitionState to another.

    Kafka: PartitionStateMachine.handleStateChange, 0.8 to 1.0; PartitionState.validPreviousStates, 0.11 to 3.9.
    """
    if after == NON_EXISTENT_PARTITION:
        return before == OFFLINE_PARTITION
    if after == NEW_PARTITION:
        return before == NON_EXISTENT_PARTITION
    return before != NON_EXISTENT_PARTITION


def replica_move_is_legal(before, after):
    """Whether a replica may go from one ReplicaState to another.

    Kafka: ReplicaState.validPreviousStates, 2.3 to 3.9.
    """
    if after == REPLICA_DELETION_INELIGIBLE and before == OFFLINE_REPLICA:
        return True
    return is_legal_in_all_releases(before, after)


def replica_move_was_legal(before, after):
    """Whether a replica may go from one ReplicaState to another, up to 2.2.

    Kafka: ReplicaStateMachine.handleStateChange, 0.8.1 to 1.0; ReplicaState.validPreviousStates, 0.11 to 2.2.
    """
    return is_legal_in_all_releases(before, after)


def is_legal_in_all_releases(before, after):
    """Whether a replica may go from one ReplicaState to another, up to 2.2 and later."""
    if after == NON_EXISTENT_REPLICA:
        return before == REPLICA_DELETION_SUCCESSFUL
    if after == NEW_REPLICA:
        return before == NON_EXISTENT_REPLICA
    if after == REPLICA_DELETION_STARTED:
        return before == OFFLINE_REPLICA
    if after == REPLICA_DELETION_SUCCESSFUL or after == REPLICA_DELETION_INELIGIBLE:
        return before == REPLICA_DELETION_STARTED
    lives = before == NEW_REPLICA or before == ONLINE_REPLICA or before == OFFLINE_REPLICA
    return lives or before == REPLICA_DELETION_INELIGIBLE
