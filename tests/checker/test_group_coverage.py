"""Every transition of a variant of groups is taken at one of its recorded scopes, or it is listed with the reason."""

from dataclasses import replace

import pytest

from kafkaproof.checker.check.local import explore_here
from kafkaproof.spec.catalogue import find
from kafkaproof.spec.group.unnoticed import NEVER_TAKEN

MOST = 40


def weight(at):
    """What grows the number of states fastest."""
    return at["brokers"] * at["clients"] * at["ids"] * at["generations"] * at["epochs"] * at["log"]


@pytest.mark.parametrize("model", find("group"), ids=lambda model: model.variant)
def test_a_transition_is_taken_at_a_recorded_scope_or_it_is_listed(model):
    """Scopes are explored, small ones first, until only those are left that are listed."""
    listed, left = set(NEVER_TAKEN.get(model.variant, {})), {transition.name for transition in model.transitions}
    for at in sorted(model.expected, key=lambda at: weight(at) * (1 + at["faults"]) * (1 + at["periods"])):
        if left > listed and weight(at) <= MOST:
            outcome = explore_here(replace(model, properties=()), at).outcome
            left -= {name for name, count in outcome.coverage.items() if count}
    assert left == listed
