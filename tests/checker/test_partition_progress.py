"""What the reachable graph of partitions says: the moves of the state machines, and that all can come to rest (C17)."""

import networkx
import pytest

from kafkaproof.checker.explore.graph import state_graph
from kafkaproof.spec.kafka.state_machines import (
    PARTITION_ENTERED_FROM,
    REPLICA_ENTERED_FROM,
    PartitionState,
    ReplicaState,
)
from kafkaproof.spec.partition.model import FENCED, scope

SCOPE = scope()
MAY_HAPPEN = {
    "faults.crash",
    "faults.expire_session",
    "faults.shut_down",
    "faults.delete_controller",
    "faults.ask_for_preferred",
    "faults.ask_for_election",
    "faults.ask_for_reassignment",
    "faults.queue_deletion",
    "faults.fail_log_dir",
    "faults.allow_unclean",
    "isr.alter_partition",
    "triggers.unclean_enabled",  # told again and again, as long as some partition has no leader
}


@pytest.fixture(scope="module")
def graph():
    return state_graph(FENCED, SCOPE, 10_000)


def is_at_rest(graph, node):
    """Whether only faults, what operators and leaders may propose, and steps without an effect are left to do."""
    for _, after, steps in graph.out_edges(node, "steps"):
        if after != node and any(step.split("(")[0] not in MAY_HAPPEN for step in steps):
            return False
    return True


def ruler(state):
    """The controller by right, None without one."""
    owner = state["zk"]["controller"]
    context = None if owner is None else state["brokers"][owner]["controller"]
    return context if context and context["epoch"] == state["zk"]["epoch"] else None


def has_leader(state):
    """Whether every partition has a leader, or nobody of its ISR is online."""
    context = ruler(state)
    for znode, partition in zip(state["zk"]["partitions"], context["partitions"]):
        online = set(context["live"]) - set(context["leaving"]) - set(partition["failed"])
        if znode["leader"] is None and online & set(znode["isr"]):
            return False
    return True


def test_at_rest_somebody_rules_and_whoever_can_lead_does(graph):
    found = [graph.nodes[node]["state"] for node in graph if is_at_rest(graph, node)]
    ruled = [state for state in found if ruler(state)]
    asked = [state for state in ruled if not state["zk"]["ghosts"]["lost"] and not state["zk"]["deleting"]]
    assert asked and all(has_leader(state) for state in asked)
    assert all(state["zk"]["epoch"] == SCOPE["epochs"] for state in found if not ruler(state))


def test_a_failover_anywhere_can_come_to_rest(graph):
    rest = [node for node in graph if is_at_rest(graph, node) and ruler(graph.nodes[node]["state"])]
    reaching = set(rest).union(*(networkx.ancestors(graph, node) for node in rest))
    another = {node for node in graph if graph.nodes[node]["state"]["zk"]["epoch"] < SCOPE["epochs"]}
    assert another and another <= reaching


def moves(graph, states_of):
    """The pairs of different states that something passes through within a term, after its start-up."""
    found = set()
    for before, after in graph.edges:
        old, new = (graph.nodes[node]["state"]["brokers"] for node in (before, after))
        for mine, next_of_mine in zip(old, new):
            goes_on = mine["controller"]["epoch"] == next_of_mine["controller"]["epoch"] > 0
            if goes_on and not mine["controller"]["starting"] and not mine["controller"]["doing"].startswith("READING"):
                found |= set(zip(states_of(mine["controller"]), states_of(next_of_mine["controller"])))
    return {(old, new) for old, new in found if old != new}


def legal(entered_from, names):
    """The moves of a table that change the state, by the states' names."""
    return {(names[old], names[new]) for new, olds in entered_from.items() for old in olds if old != new}


def test_the_moves_of_partitions_that_are_seen_are_legal_and_the_others_need_a_topic_that_comes_or_goes(graph):
    def states_of(context):
        return [partition["state"] for partition in context["partitions"]]

    seen, allowed = moves(graph, states_of), legal(PARTITION_ENTERED_FROM, PartitionState.names)
    assert seen <= allowed
    assert allowed - seen == {
        ("OfflinePartition", "NonExistentPartition"),
        ("NonExistentPartition", "NewPartition"),
        ("NewPartition", "OfflinePartition"),  # a New partition has no leader to lose, unless its topic is deleted
    }


def test_the_moves_of_replicas_that_are_seen_are_legal_and_the_others_need_a_topic_that_comes_or_goes(graph):
    def states_of(context):
        return [replica for partition in context["partitions"] for replica in partition["replicas"]]

    seen, allowed = moves(graph, states_of), legal(REPLICA_ENTERED_FROM, ReplicaState.names)
    assert seen == {("OnlineReplica", "OfflineReplica"), ("OfflineReplica", "OnlineReplica")} and seen <= allowed
    unseen = {old for old, new in allowed - seen} | {new for old, new in allowed - seen}
    assert unseen - {"OnlineReplica", "OfflineReplica"} == {
        "NonExistentReplica",
        "NewReplica",
        "ReplicaDeletionStarted",
        "ReplicaDeletionSuccessful",
        "ReplicaDeletionIneligible",
    }
