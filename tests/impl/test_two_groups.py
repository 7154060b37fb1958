"""Two groups on one coordinator: they share the offsets partition and its loads, and no step of one touches the other."""

import pytest
from hypothesis import Phase, settings
from hypothesis.stateful import invariant, run_state_machine_as_test

from kafkaproof.impl.groups.leader import Leader
from kafkaproof.spec.group.group_states import GroupState
from kafkaproof.spec.running.coordinators import digest_of
from kafkaproof.traces.processes.state.result import Divergence
from tests.impl.test_group_machine import NAME, Groups

OTHER, ALONE = "h", 2
SETTINGS = settings(
    max_examples=12,
    stateful_step_count=40,
    deadline=None,
    derandomize=True,
    database=None,
    report_multiple_bugs=False,
    phases=[Phase.generate],
)


class TwoGroups(Groups):
    """One client is in a group of its own; `recorded` has what was noted last of each group, by broker."""

    def __init__(self):
        self.recorded = {}
        super().__init__()
        for broker in self.brokers:
            broker.note = self._watched(broker, broker.note)

    def name_of(self, c):
        return OTHER if c == ALONE else NAME

    def _watched(self, broker, note):
        def watch(group, **line):
            note(group, **line)
            if "state" in line:
                self.recorded[broker.broker, group] = line["state"]

        return watch

    @invariant()
    def a_group_is_what_was_noted_of_it_last(self):
        for (b, name), state in self.recorded.items():
            assert digest_of(self.brokers[b].coordinator.groups[name].broker) == state

    @invariant()
    def offsets_and_members_are_their_own(self):
        for broker in self.brokers:
            groups = broker.coordinator.groups
            if NAME in groups and OTHER in groups:
                ids = [{member.id for member in groups[name].members.values()} for name in (NAME, OTHER)]
                assert not ids[0] & ids[1]


def test_two_groups_run_side_by_side():
    run_state_machine_as_test(TwoGroups, settings=SETTINGS)


def states(groups, b):
    """The states of the two groups at a broker."""
    found = groups.brokers[b].coordinator.groups
    return tuple(GroupState.names[found[name].broker.group.state] for name in (NAME, OTHER))


def test_one_is_stable_while_the_other_rebalances_and_both_move():
    groups = TwoGroups()
    groups.time_passes(0.0)
    for _ in range(10):
        groups.go_on(1)
    assert states(groups, 0) == ("Stable", "Stable")
    groups.join(0, 0, True)
    assert states(groups, 0) == ("PreparingRebalance", "Stable")
    groups.fail_over(1, 9)
    groups.time_passes(0.0)
    assert states(groups, 1) == ("Stable", "Stable")
    groups.teardown()


class Everybody(str):
    """The name of every group."""

    __hash__ = str.__hash__

    def __eq__(self, other):
        return True


def test_a_coordinator_that_loads_the_records_of_all_groups_into_each_is_noticed(monkeypatch):
    entries = Leader.entries
    mixed = lambda leader, place: [each._replace(group=Everybody(each.group)) for each in entries(leader, place)]  # noqa: E731
    monkeypatch.setattr(Leader, "entries", mixed)
    with pytest.raises((Divergence, AssertionError)):
        run_state_machine_as_test(TwoGroups, settings=SETTINGS)
