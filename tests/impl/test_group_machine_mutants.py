"""The machine that drives two coordinators notices a mistake in a transition of *group*: one of the listed mutants."""

import pytest
from hypothesis import Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from impl import group
from spec.mutants.group import MUTANTS
from tests.impl.test_group_machine import Groups

NOTICED = ("stable-to-completing",)
SETTINGS = settings(max_examples=25, stateful_step_count=40, deadline=None, database=None, derandomize=True,
                    report_multiple_bugs=False, phases=[Phase.generate])


@pytest.mark.parametrize("mutant", [mutant for mutant in MUTANTS if mutant.name in NOTICED], ids=lambda each: each.name)
def test_the_machine_notices(mutant, monkeypatch):
    monkeypatch.setattr(group, "MODEL", mutant.mutate(group.MODEL))
    with pytest.raises(AssertionError):
        run_state_machine_as_test(Groups, settings=SETTINGS)
