"""The machine that exploration sees in a group's state is Kafka's table, both ways."""

import pytest

from kafkaproof.checker.explore.projection import projected
from kafkaproof.checker.model.fields import fields_of
from kafkaproof.spec.group.group_states import ABSENT, COMES_AS, DEAD, ENTERED_FROM, LEAVES_AS, GroupState
from kafkaproof.spec.group.model import CURRENT, GATED
from kafkaproof.spec.group.scopes import scope

TABLE = {(before, after) for after, befores in ENTERED_FROM.items() for before in befores if before != after}
COMING = {(ABSENT, state) for state in COMES_AS}
LEAVING = {(state, ABSENT) for state in LEAVES_AS}


def machine(model, at):
    """The edges of the machine that ``kafkaproof graph group --project state`` draws, with their transitions."""
    graph = projected(model, at, fields_of(model.state, at, list(model.projections["state"])), 3_000_000)
    return {(before[0], after[0]): set(edge["transitions"]) for before, after, edge in graph.edges(data=True)}


@pytest.fixture(scope="module")
def current():
    return machine(CURRENT, CURRENT.scopes["state"])


def test_the_edges_are_those_of_the_table(current):
    assert set(current) == TABLE | COMING | LEAVING


def test_each_edge_is_taken_by_the_transitions_that_kafka_names(current):
    named = {(GroupState.names[before], GroupState.names[after]): by for (before, after), by in current.items()}
    assert named[("Stable", "Dead")] == named[("CompletingRebalance", "Dead")] == {"loading.unload"}
    assert named[("Empty", "Dead")] == {"loading.unload", "deletion.clean_up"}
    assert named[("CompletingRebalance", "Stable")] == {"sync.group_stored"}
    assert named[("PreparingRebalance", "CompletingRebalance")] == {"join.complete_join", "join.join_timeout"}
    assert named[("Absent", "Stable")] == {"loading.load"}
    assert named[("Dead", "Absent")] == {"deletion.remove_dead"}


def test_a_process_that_dies_takes_its_groups_with_it():
    edges = machine(CURRENT, scope(faults=2, periods=1))
    lost = {edge for edge, by in edges.items() if "faults.crash" in by}
    assert lost <= {(state, ABSENT) for state in GroupState}
    assert {edge for edge, by in edges.items() if by - {"faults.crash"}} <= TABLE | COMING | LEAVING


def test_without_a_member_id_to_be_fetched_the_first_join_takes_an_empty_group_further_at_once():
    edges = machine(GATED, GATED.scopes["state"])
    assert set(edges) - (TABLE | COMING | LEAVING) == {(ABSENT, GroupState.names.index("PreparingRebalance"))}
    assert set(edges) >= (TABLE | COMING | LEAVING) - {(ABSENT, GroupState.names.index("Empty"))}


def test_dead_is_a_state_of_the_cache():
    assert DEAD in ENTERED_FROM and ABSENT not in ENTERED_FROM
