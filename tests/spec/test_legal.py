"""The tables of legal moves of partitions and replicas, and the functions that say the same."""

import pytest

from kafkaproof.spec.kafka import legal
from kafkaproof.spec.language.accepted import check_text

PAIRS = [
    (legal.PartitionState, legal.PARTITION_ENTERED_FROM, legal.partition_move_is_legal),
    (legal.ReplicaState, legal.REPLICA_ENTERED_FROM, legal.replica_move_is_legal),
    (legal.ReplicaState, legal.REPLICA_ENTERED_FROM_TO_2_2, legal.replica_move_was_legal),
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
    assert named(legal.PARTITION_ENTERED_FROM, legal.PartitionState) == {
        "NonExistentPartition": {"OfflinePartition"},
        "NewPartition": {"NonExistentPartition"},
        "OnlinePartition": {"NewPartition", "OnlinePartition", "OfflinePartition"},
        "OfflinePartition": {"NewPartition", "OnlinePartition", "OfflinePartition"},
    }


def test_the_table_of_replicas():
    alive = {"NewReplica", "OnlineReplica", "OfflineReplica", "ReplicaDeletionIneligible"}
    assert named(legal.REPLICA_ENTERED_FROM, legal.ReplicaState) == {
        "NonExistentReplica": {"ReplicaDeletionSuccessful"},
        "NewReplica": {"NonExistentReplica"},
        "OnlineReplica": alive,
        "OfflineReplica": alive,
        "ReplicaDeletionStarted": {"OfflineReplica"},
        "ReplicaDeletionSuccessful": {"ReplicaDeletionStarted"},
        "ReplicaDeletionIneligible": {"ReplicaDeletionStarted", "OfflineReplica"},
    }


def test_up_to_2_2_an_offline_replica_could_not_become_ineligible():
    before, after = legal.OFFLINE_REPLICA, legal.REPLICA_DELETION_INELIGIBLE
    assert legal.replica_move_is_legal(before, after) and not legal.replica_move_was_legal(before, after)
    differing = [
        after
        for after in legal.ReplicaState
        if legal.REPLICA_ENTERED_FROM[after] != legal.REPLICA_ENTERED_FROM_TO_2_2[after]
    ]
    assert differing == [after]
