"""The readable truth counts what one can count by hand."""

from dataclasses import replace

import pytest

from kafkaproof.checker.check.local import explore_here
from kafkaproof.checker.explore.reference import explore
from kafkaproof.checker.model.execution import ExecutionError
from tests.checker.models import DIAMOND, FAULTY, ISLANDS, PATH
from tests.toys import clock, counter, graph, queue


def counts(model):
    """(distinct, generated, depth) of a model at its own scope."""
    found = explore(model, model.scope)
    return found.distinct, found.generated, found.depth


def test_a_clock_has_two_states_both_initial_and_a_step_from_each():
    assert counts(clock()) == (2, 2 + 2, 1)


def test_a_counter_by_one_and_two_has_a_level_for_every_two_numbers():
    assert counts(counter(5)) == (6, 1 + 5 + 4, 4)


def test_a_queue_has_every_content_with_every_value_last_taken():
    puts, takes = (1 + 3) * 3 * 3, (3 + 9) * 3
    assert counts(queue()) == ((1 + 3 + 9) * 3, 1 + puts + takes, 5)


def test_a_state_that_is_reached_twice_counts_once_and_is_generated_twice():
    assert counts(DIAMOND) == (4, 1 + 5, 3)


def test_only_what_is_reachable_counts_and_equal_initial_states_are_one():
    assert counts(ISLANDS) == (3, 2 + 2, 2)


def test_depth_counts_levels():
    assert [counts(graph([(i, i + 1) for i in range(n)], [0]))[2] for n in (1, 2, 5)] == [2, 3, 6]


def test_a_violation_has_the_length_of_the_shortest_way_in_states():
    assert explore(PATH, PATH.scope).violated == {"never_at_last": 3}
    assert explore(graph([(0, 1), (1, 2), (0, 2)], [0], failing=True), {"nodes": 3}).violated == {"never_at_last": 2}
    assert explore(clock(failing=True), {}).violated == {"shows_zero": 1}


def test_a_sound_model_violates_nothing_and_reaches_its_goal():
    found = explore(queue(), queue().scope)
    assert (found.violated, found.reached) == ({}, {"full"})


def test_a_goal_that_no_state_satisfies_is_not_reached():
    assert explore(counter(2), {"limit": 2}).reached == set()


def test_each_transition_is_counted_and_steps_beyond_a_bound_are_cut():
    found = explore(queue(), queue().scope)
    assert found.coverage == {"toys.put": 36, "toys.take": 36}
    assert found.cuts == {"room": 3 * 9 * 3}


def test_a_value_out_of_a_range_that_is_no_bound_is_an_error_of_the_specification():
    with pytest.raises(ExecutionError, match=r"faulty/overflow: models.overflow\(\) sets number to 3, outside 0..2"):
        explore(FAULTY, {})


def begin_beyond(s):
    """The counter begins where a larger one would end."""
    s.number = 9


@pytest.mark.parametrize("exploring", [explore, explore_here])
def test_an_initial_state_beyond_a_bound_is_an_error(exploring):
    with pytest.raises(ExecutionError, match="an initial state is beyond the bound limit; choose a larger one"):
        exploring(replace(counter(2), initial=begin_beyond), {"limit": 2})
