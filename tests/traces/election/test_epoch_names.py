"""Steps of an election are the same whatever its epochs are called; computed under other names they are the real ones."""

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkaproof.spec.election.model import MODELS
from kafkaproof.spec.kafka.zookeeper import ANSWERED, LOST_APPLIED
from kafkaproof.traces.explain.election.epoch_names import Names
from kafkaproof.traces.explain.election.single_steps import ME, OTHER, ElectionSteps, Scene

STEPS = {model.variant: ElectionSteps(model) for model in MODELS if model.variant in ("zkclient", "legacy", "fenced")}
"""The variants that replay holds real logs to."""

numbers = st.lists(st.integers(-1, 60), min_size=1, max_size=8)


@given(numbers)
def test_names_keep_the_order_and_who_follows_whom(values):
    names = Names(values)
    for one in values:
        assert names.real(names.small(one)) == one
        assert (one <= 0) == (names.small(one) <= 0)
        for other in values:
            assert (names.small(one) < names.small(other)) == (one < other)
            assert (names.small(one) + 1 == names.small(other)) == (one + 1 == other)


@given(numbers)
def test_a_number_that_was_not_named_is_the_one_after(values):
    names = Names(values)
    for value in values:
        assert names.real(names.small(value) + 1) == value + 1


def reached(steps: ElectionSteps, version: int) -> dict[tuple, tuple]:
    """A state of one broker for each thing that it may be doing, and the scene there, long after the first elections."""
    start = steps.down, Scene(-1, version, version)
    found, waiting, seen = {}, [start], {start}
    for local, scene in waiting:
        found.setdefault(tuple(steps.field(local, name) for name in ("session", "doing", "ruling")), (local, scene))
        for name, delivery in product(steps.names, (ANSWERED, LOST_APPLIED)):
            if set(steps.arguments(name)) in ({"b"}, {"b", "delivery"}):
                outcome = steps._take(name, delivery, local, scene, None)
                after = outcome and (outcome.local, outcome.scene)
                if outcome and after not in seen and len(seen) < 150:
                    seen.add(after)
                    waiting.append(after)
    return found


@pytest.mark.parametrize("variant", STEPS)
def test_steps_are_those_under_their_real_names(variant):
    steps = STEPS[variant]
    found = reached(steps, 17)
    assert len(found) > 15
    for (local, before), by, holder, name in product(found.values(), (0, 2), (-1, ME, OTHER), steps.names):
        scene = before._replace(controller=holder, epoch=before.epoch + by, version=before.version + by)
        if set(steps.arguments(name)) <= {"b", "delivery"}:
            real = steps._take(name, ANSWERED, local, scene, None)
            assert steps.take(name, ANSWERED, local, scene) == real, (name, local, scene)
