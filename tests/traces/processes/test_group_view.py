"""Of a coordinator that was recorded, those properties are asked that read nothing but what its view has."""

from types import SimpleNamespace

import pytest

from kafkaproof.spec.group.network import NETWORK
from kafkaproof.spec.language.domains import Array, Record
from kafkaproof.spec.language.model import SAFETY
from kafkaproof.spec.language.plain import new_state
from kafkaproof.spec.running.coordinators import MODEL, SCOPE
from kafkaproof.traces.processes.groups.group import Group
from kafkaproof.traces.processes.groups.view import AFTER, BEFORE, SHOWN, TRANSITIONS, View


@pytest.fixture
def view():
    """What is seen of a group that does not exist, at the leader of an empty log."""
    log = SimpleNamespace(length=0, committed=0, leads=lambda: True, rules=lambda: True)
    group = Group("readers", 0, log, [True], {}, None)
    group.record.epoch = 1
    return View(group, log, [True], group.record.copy(), new_state(NETWORK, SCOPE), -1)


def fields(value):
    """The names of the fields of a part of a state."""
    return {*(vars(value) if isinstance(value, SimpleNamespace) else value.__slots__)}


def require_declared(value, domain):
    """Hold that a part of a state has the fields that are declared, and no others."""
    if isinstance(domain, Array):
        for element in value:
            require_declared(element, domain.of)
    elif isinstance(domain, Record):
        assert fields(value) == domain.fields.keys()
        for name, field in domain.fields.items():
            require_declared(getattr(value, name), field.domain)


def test_a_view_has_what_is_declared(view):
    require_declared(view.before, BEFORE)
    require_declared(view.after, AFTER)


def test_every_property_that_is_shown_can_be_asked(view):
    assert not list(view.broken())
    for transition in TRANSITIONS.values():
        list(view.broken_by_step(transition, dict.fromkeys(transition.arguments, 0)))


@pytest.mark.parametrize(
    "name, why",
    [("says_goodbye", "clients"), ("disjoint", "clients"), ("answers_are_so", "answers"), ("failed_once", "faults")],
)
def test_what_is_not_seen_is_not_asked(name, why):
    assert name in {p.name for p in MODEL.properties if p.kind in SAFETY} - {p.name for p in SHOWN}, why


def test_what_is_seen_is_asked():
    assert {"stable_is_stored", "commit_fence", "leader_assigns", "above_stored", "durable"} <= {p.name for p in SHOWN}
