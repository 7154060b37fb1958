"""The tables of legal moves of partitions and replicas, and the functions that say the same."""

import pytest

from kafkaproof.spec.kafka import state_machines
from kafkaproof.spec.language.accepted import check_text

PAIRS = [
    (state_machines.PartitionState, state_machines.PARTITION_ENTERED_FROM, state_machines.partition_move_is_legal),
    (state_machines.ReplicaState, state_machines.REPLICA_ENTERED_FROM, state_machines.replica_move_is_legal),
    (state_machines.ReplicaState, state_machines.REPLICA_ENTERED_FROM_TO_2_2, state_machines.replica_move_was_legal),
]
EACH = pytest.mark.parametrize("states, table, is_legal", PAIRS, ids=["partition", "replica", "replica-to-2.2"])


@EACH
def test_the_function_says_what_the_table_says(states, table, is_legal):
    check_text(is_legal)
    assert set(table) == set(states)
    for after in states:
        assert [before for before in states if is_legal(before, after)] == sorted(table[after])


@EACH
def test_names_are_kafka_s_and_what_is_unknown_does_not_exist(states, table, is_legal):
    assert states.names[0] == f"NonExistent{'Partition' if len(table) == 4 else 'Replica'}"
    assert len(set(states.names)) == len(states.names) == len(table)


def named(table, states):
    return {states.names[after]: {states.names[before] for before in table[after]} for after in table}


def test_the_table_of_partitions():
    assert named(state_machines.PARTITION_ENTERED_FROM, state_machines.PartitionState) == {
        "NonExistentPartition": {"OfflinePartition"},
        "NewPartition": {"NonExistentPartition"},
        "OnlinePartition": {"NewPartition", "OnlinePartition", "OfflinePartition"},
        "OfflinePartition": {"NewPartition", "OnlinePartition", "OfflinePartition"},
    }


def test_the_table_of_replicas():
    alive = {"NewReplica", "OnlineReplica", "OfflineReplica", "ReplicaDeletionIneligible"}
    assert named(state_machines.REPLICA_ENTERED_FROM, state_machines.ReplicaState) == {
        "NonExistentReplica": {"ReplicaDeletionSuccessful"},
        "NewReplica": {"NonExistentReplica"},
        "OnlineReplica": alive,
        "OfflineReplica": alive,
        "ReplicaDeletionStarted": {"OfflineReplica"},
        "ReplicaDeletionSuccessful": {"ReplicaDeletionStarted"},
        "ReplicaDeletionIneligible": {"ReplicaDeletionStarted", "OfflineReplica"},
    }


def test_up_to_2_2_an_offline_replica_could_not_become_ineligible():
    before, after = state_machines.OFFLINE_REPLICA, state_machines.REPLICA_DELETION_INELIGIBLE
    assert state_machines.replica_move_is_legal(before, after) and not state_machines.replica_move_was_legal(
        before, after
    )
    differing = [
        after
        for after in state_machines.ReplicaState
        if state_machines.REPLICA_ENTERED_FROM[after] != state_machines.REPLICA_ENTERED_FROM_TO_2_2[after]
    ]
    assert differing == [after]
