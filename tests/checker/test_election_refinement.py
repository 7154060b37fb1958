"""An election in steps is an election in one step from 2.1 on, and is none up to 2.0."""

import pytest

from kafkaproof.checker.refine.search import refine
from kafkaproof.spec.partition.electing.model import FENCED, LEGACY
from kafkaproof.spec.partition.electing.refinement import TO_ONE_STEP
from kafkaproof.spec.partition.model import scope


def last_step(found):
    """The step that no step of the abstract model follows, as text."""
    return str(found.diverged.steps[-1][0])


@pytest.mark.parametrize(
    "without, step",
    [
        ("elect_unheard", "election.register(b=0, delivery=1) -> LOST"),
        ("hear_of_election", "election.confirm_epoch(b=0) -> OK"),
    ],
)
def test_a_lost_answer_needs_two_steps_more(without, step):
    assert last_step(refine(FENCED, scope(), TO_ONE_STEP, without=(without,))) == step


def test_to_create_the_controller_alone_is_no_step_of_an_election_in_one():
    assert last_step(refine(LEGACY, scope(), TO_ONE_STEP)) == "legacy.create(b=0, delivery=0) -> OK"
