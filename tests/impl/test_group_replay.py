"""A coordinator with a mistake diverges in replay, at the first step that shows it; or breaks a property there."""

import pytest
from hypothesis import Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from kafkaproof.impl.groups import group
from kafkaproof.spec.group.mutants.group import MUTANTS
from kafkaproof.traces.processes.state.result import Divergence
from tests.impl.test_group_machine import Groups

WRONG = (
    "stable-to-completing",
    "generation-from-zero",
    "everybody-leads",
    "assignment-of-anybody",
    "syncs-unanswered",
    "leader-not-replaced",
    "owned-for-ever",
)
SETTINGS = settings(
    max_examples=60,
    stateful_step_count=40,
    deadline=None,
    database=None,
    derandomize=True,
    report_multiple_bugs=False,
    phases=[Phase.generate],
)


@pytest.mark.parametrize("name", WRONG)
def test_a_coordinator_with_a_mistake_diverges(name, monkeypatch):
    mutant = next(each for each in MUTANTS if each.name == name)
    monkeypatch.setattr(group, "MODEL", mutant.mutate(group.MODEL))
    with pytest.raises(Divergence):
        run_state_machine_as_test(Groups, settings=SETTINGS)
