"""The composed cluster keeps what its parts keep, and does to each part only what the part alone could do."""

import random
from collections import Counter

import pytest

from checker.execution import Execution
from checker.local import explore_here
from checker.reference import explore
from spec.language.plain import Plain
from spec.museum.cluster import FENCED
from spec.museum.partition import FENCED as PARTITION

QUICK = FENCED.scopes["quick"]
CALM = QUICK | {"leader_epochs": 0, "faults": 0}
FOUND = (111_216, 477_723, 37)
DATA_PLANE = {"confirm_isr", "refuse_isr"}
"""Answers to a leader: nothing that `partition` knows of changes."""


def test_a_failing_broker_loses_nothing_that_was_acknowledged():
    outcome = explore_here(FENCED, QUICK).outcome
    assert (outcome.distinct, outcome.generated, outcome.depth) == FOUND
    assert not outcome.violations
    assert {name for name, count in outcome.coverage.items() if not count} == {"control.confirm_isr"}
    goals = {prop.name for prop in FENCED.properties_at(QUICK) if prop.kind == "sometimes"}
    assert outcome.reached >= goals


def test_the_readable_explorer_finds_the_same():
    found, outcome = explore(FENCED, CALM), explore_here(FENCED, CALM).outcome
    assert (found.distinct, found.generated, found.depth) == (outcome.distinct, outcome.generated, outcome.depth)
    assert not found.violated and not outcome.violations


def projected(state, onto):
    """The fields of a composed state that `onto`, a state of `partition`, has."""
    for name in onto.__slots__:
        setattr(onto, name, _projected(getattr(state, name), getattr(onto, name)))
    return onto


def _projected(value, onto):
    if isinstance(onto, Plain):
        return projected(value, onto)
    if isinstance(onto, list):
        return [_projected(element, at) for element, at in zip(value, onto)]
    return value


def walk(execution, seed, steps):
    """Steps from the start on, each chosen at random: (before, transition, arguments, after)."""
    chosen, state = random.Random(seed), execution.initial_states()[0]
    for _ in range(steps):
        possible = list(execution.successors(state, Counter()))
        if not possible:
            return
        transition, arguments, after = chosen.choice(possible)
        yield state, transition, arguments, after
        state = after


@pytest.mark.parametrize("seed", range(12))
def test_what_partition_sees_of_a_step_is_a_step_of_partition_or_none(seed):
    scope = FENCED.scope | {"faults": 3}
    execution = Execution(FENCED, scope)
    alone = Execution(PARTITION, {name: scope[name] for name in PARTITION.scope})
    own = {t.function.__name__: t for t in PARTITION.transitions}
    for before, transition, arguments, after in walk(execution, seed, 60):
        old, new = (projected(state, alone.initial_states()[0]) for state in (before, after))
        name = transition.function.__name__
        if name in own:
            part = own[name]
            assert alone.after(old, part, arguments[:len(part.arguments)]) == new, f"{name}{arguments}"
        else:
            assert name in DATA_PLANE or transition.function.__module__ == "spec.cluster.data_plane"
            assert old == new, f"{name}{arguments}"
