"""`replica` refines `replication` with two steps added: its leaders know less, its fetches may be empty."""

import pytest

from checker.local import explore_here
from checker.refinement import Abstract, Relation, refine
from spec.museum.replica import CURRENT, SIZES
from spec.museum.replication import KIP320
from spec.mutants.mutant import everywhere
from spec.mutants.replica import reached_with_answer
from spec.replica import leader
from spec.replica.refinement import ABSTRACT, agrees, passes, seen, seen_abstract

RELATION = Relation(seen, seen_abstract, passes, agrees)


def refined(model, abstract, *sizes):
    """Follow a model with an abstract one."""
    at = dict(zip(SIZES, sizes))
    return refine(model, at, Abstract(abstract, {name: at[name] for name in abstract.scope}, RELATION), RELATION)


def test_every_behaviour_is_an_abstract_one():
    found = refined(CURRENT, ABSTRACT, 2, 1, 1, 1, 0, 1, 0)
    assert found.diverged is None
    assert found.states == 2597


@pytest.mark.parametrize("at", [(2, 2, 2, 2), (3, 1, 1, 1)], ids=str)
def test_the_added_steps_break_nothing_in_the_abstract_model(at):
    assert not explore_here(ABSTRACT, dict(zip(ABSTRACT.scope, at))).traces


def test_without_the_added_steps_it_is_not_one():
    found = refined(CURRENT, KIP320, 2, 1, 1, 1, 0, 1, 0)
    assert found.diverged[-1] == "controller.alter_partition(sender=0)"


def test_a_follower_counted_before_it_has_the_record_is_no_refinement():
    mutant = everywhere({leader.reached: reached_with_answer})(CURRENT)
    found = refined(mutant, ABSTRACT, 2, 1, 1, 1, 0, 1, 0)
    assert found.diverged == [
        "leader.produce(b=0, acks=0)", "leader.serve_fetch(b=0, follower=1)", "follower.send_request(b=1)",
    ]
