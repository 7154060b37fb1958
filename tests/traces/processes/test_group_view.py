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
from kafkaproof.traces.processes.recorded.offset_records import GroupEntry


@pytest.fixture
def view():
    """What is seen of a group that does not exist, at the leader of an empty log."""
    log = SimpleNamespace(length=0, committed=0, leads=lambda: True, rules=lambda: True)
    group = Group("readers", 0, log, [True], {}, None)
    group.record.epoch = 1
    return View(group, log, [True], group.record.copy(), new_state(NETWORK, SCOPE), -1)


def test_what_another_leader_has_written_in_the_place_of_an_append_has_its_own_assignment():
    """The follower has truncated its own batch 1, and has fetched batch 2, before the coordinator is unloaded."""
    ids = [1]
    log = SimpleNamespace(length=1, committed=1, id=lambda place: ids[place], leads=lambda: False, rules=lambda: False)
    left = GroupEntry("readers", 2, None, None, ())
    group = Group("readers", 0, log, [True, False], {1: (), 2: (left,)}, None)
    group.record.epoch, group.entries, group.owners = 2, [0], {1: 3}
    ids[0] = 2
    seen = View(group, log, [True, False], group.record.copy(), new_state(NETWORK, SCOPE), -1)
    assert seen.after.storage.log.slots[0].generation == 2
    assert not list(seen.broken())


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
