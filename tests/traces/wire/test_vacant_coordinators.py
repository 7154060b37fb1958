"""A broker that is told of a leader that does not live may go on as coordinator, or, as a new process, begin."""

from types import SimpleNamespace

import pytest

from kafkaproof.traces.wire.groups import coordinators
from kafkaproof.traces.wire.groups.coordinators import OFFSETS_TOPIC, Coordinators


@pytest.mark.parametrize(
    "leader, live, vacant, heard", [(-1, (), False, []), (-1, (), True, [(7, 1)]), (1, (1,), False, [(7, 1)])]
)
def test_what_a_broker_has_heard_of(monkeypatch, leader, live, vacant, heard):
    place = OFFSETS_TOPIC, 0
    version = SimpleNamespace(stays=False, state=SimpleNamespace(leader_epoch=3))
    history = SimpleNamespace(states={place: [version]})
    entry = SimpleNamespace(partition=place, leader_epoch=3, elected=SimpleNamespace(leader=leader))
    monkeypatch.setattr(coordinators, "entries_of", lambda _: [entry])
    monkeypatch.setattr(coordinators, "errors_in", lambda _: {place: "NONE"})
    monkeypatch.setattr(coordinators, "error_in", lambda _: "NONE")
    told = SimpleNamespace(
        broker=0, told={}, answered=7, is_lost=False, asked={"live_leaders": [{"broker_id": each} for each in live]}
    )
    assert Coordinators(history).heard([told], "readers", vacant).get(0, []) == heard
