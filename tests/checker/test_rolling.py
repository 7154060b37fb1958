"""A rolling upgrade: with all brokers of one version it is that version, exactly; with one old broker left, its verdicts."""

from dataclasses import replace

import pytest

from kafkaproof.checker.check.local import explore_here
from kafkaproof.spec.catalogue import find
from kafkaproof.spec.election import model as election
from kafkaproof.spec.election.history.versions import is_old
from kafkaproof.spec.election.properties.rolling import UPGRADED
from kafkaproof.spec.election.rolling import model as rolling
from kafkaproof.spec.language.model import SAFETY
from kafkaproof.spec.partition.releases import model as partition
from kafkaproof.spec.partition.rolling import model as rolling_partition

SCOPE = election.scope()
PARTITION = partition.scope()


def never(b):
    return False


def always(b):
    return True


def counts(explored):
    outcome = explored.outcome
    return outcome.distinct, outcome.generated, outcome.depth, {name: t.states for name, t in explored.traces.items()}


@pytest.mark.parametrize(("old", "same"), [(0, election.FENCED), (2, election.LEGACY)])
def test_with_all_brokers_of_one_version_the_election_is_that_version(old, same):
    transitions = rolling.upgrade(old) + election.REQUESTS + election.FAULTS
    mixed = replace(rolling.ROLLING, transitions=transitions, properties=same.properties)
    alone = replace(same, initial=rolling.initial)
    assert counts(explore_here(mixed, SCOPE)) == counts(explore_here(alone, SCOPE))


def test_each_broker_takes_the_transitions_of_its_own_version():
    scope = {**SCOPE, "brokers": 3}
    takers = {
        t.name: {arguments[0] for arguments in t.choices(scope)}
        for t in rolling.ROLLING.transitions
        if "b" in t.arguments
    }
    assert takers["legacy.raise_epoch"] == {0} and takers["election.register"] == {1, 2}
    assert takers["session.register_broker"] == takers["active_controller.send"] == {0, 1, 2}


@pytest.mark.parametrize("model", [rolling.ROLLING, rolling_partition.ROLLING], ids=lambda model: model.system)
def test_the_quick_scope_has_the_recorded_verdict(model):
    explored = explore_here(model, model.scopes["quick"])
    assert {name: trace.states for name, trace in explored.traces.items()} == model.expectation(model.scopes["quick"])
    goals = {p.name for p in model.properties_at(model.scopes["quick"]) if p.kind == "sometimes"}
    assert explored.outcome.reached == goals


def test_without_a_fault_one_old_broker_does_no_harm():
    scope = election.scope(epochs=3, faults=0)
    assert explore_here(rolling.ROLLING, scope).traces == {}


def test_partitions_with_old_brokers_alone_are_those_of_legacy():
    old = rolling_partition.ROLLING.rebound({is_old: always})
    assert counts(explore_here(old, PARTITION)) == counts(explore_here(partition.LEGACY, PARTITION))


def test_when_the_last_old_broker_is_gone_the_writes_of_zombies_are_refused():
    upgraded = rolling_partition.ROLLING.rebound({is_old: never})
    explored = explore_here(upgraded, PARTITION)
    safety = {p.name for p in upgraded.properties if p.kind in SAFETY}
    assert {name: t.states for name, t in explored.traces.items() if name in safety} == {"leaderless_for_a_reason": 15}
    assert explored.outcome.distinct == 23_948


def test_the_recorded_scopes_say_who_writes_too_late():
    """C4 fails by the old broker alone: the property of the upgraded ones holds wherever a verdict is recorded."""
    (upgraded,) = UPGRADED
    for lengths in find("election", "rolling")[0].expected.values():
        assert "no_stale_write" in lengths and upgraded.name not in lengths
