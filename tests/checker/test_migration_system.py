"""The migration: recorded verdicts, what ends each exhibit, and that the brokers' steps are those of election."""

import pytest

from kafkaproof.checker.check.local import explore_here
from kafkaproof.spec.catalogue import model_of
from kafkaproof.spec.election import active_controller, election, session
from kafkaproof.spec.language.rebind import callees, original
from kafkaproof.spec.migration.hybrid.model import MODELS as HYBRIDS
from kafkaproof.spec.migration.hybrid.model import SIZES
from kafkaproof.spec.migration.model import MODELS, MUSEUM, ONE_CHANGE, QUICK
from tests.checker.exhibits import exhibits_of, require_exhibit

EXHIBITS = exhibits_of("migration", SIZES)
COUNTS = {"fenced": (24_862, 108_806, 32), "repaired": (25_530, 113_270, 31)}


@pytest.mark.parametrize("variant", COUNTS)
def test_quick_scopes_give_the_recorded_verdicts(variant):
    model = model_of("migration", variant)
    explored = explore_here(model, QUICK)
    outcome = explored.outcome
    assert (outcome.distinct, outcome.generated, outcome.depth) == COUNTS[variant]
    assert {found: trace.states for found, trace in explored.traces.items()} == model.expectation(QUICK)
    assert outcome.reached == {p.name for p in model.properties_at(QUICK) if p.kind == "sometimes"}


@pytest.mark.parametrize("variant", ["deletions-copied", "hasty"])
def test_an_exhibit_fails_and_what_ends_it_does_not(variant):
    exhibit = model_of("migration", variant)
    found = {name: trace.states for name, trace in explore_here(exhibit, ONE_CHANGE).traces.items()}
    assert found == exhibit.expectation(ONE_CHANGE) != {}
    assert not set(found) & set(explore_here(model_of("migration", "repaired"), ONE_CHANGE).traces)


def test_each_exhibit_shows_its_failure_at_its_quick_scope():
    assert all(model.expectation(model.scopes["quick"]) for model in MUSEUM)


def test_the_steps_of_brokers_are_those_of_election():
    """No rule of election stands twice: the text itself is called."""
    there = (election.maybe_resign, election.register, active_controller.load, session.register_broker)
    for model in MODELS:
        called = {original(each) for each in callees(*(t.function for t in model.transitions))}
        assert called.issuperset(there), model.name


@pytest.mark.parametrize("exhibit", EXHIBITS, ids=lambda each: f"{each.variant}-{each.name}")
def test_an_exhibit_of_control_requests_is_one(exhibit):
    require_exhibit(model_of("migration", exhibit.variant), exhibit)


@pytest.mark.parametrize("model", HYBRIDS, ids=lambda model: model.variant)
def test_control_requests_give_the_recorded_verdicts(model):
    for sizes, expected in model.expected.items():
        assert {name: trace.states for name, trace in explore_here(model, sizes).traces.items()} == expected


def test_each_exhibit_of_control_requests_is_told_with_its_steps():
    assert {each.variant for each in EXHIBITS} == {model.variant for model in HYBRIDS} - {"hybrid-repaired"}
