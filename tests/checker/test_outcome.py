"""An outcome is what the complete levels say, whoever wrote their parts; limits stop in time."""

import pytest

from kafkaproof.checker.explore.explorer import Limits
from kafkaproof.checker.runs.outcome import Fault, Found, Outcome, Tally
from tests.checker.models import kernel_of
from tests.toys import queue

COMPILED = kernel_of(queue(failing=True)).compiled
KINDS = {"full": "sometimes", "below_two": "always"}


def part(states=1, judged=(None, None), broken=(None,), coverage=(0, 0), deadlock=None, fault=None, cuts=(0,)):
    """What one partition writes beside its states."""
    return {
        "states": states,
        "judged": list(judged),
        "broken": list(broken),
        "coverage": list(coverage),
        "generated": sum(coverage),
        "cuts": list(cuts),
        "deadlock": deadlock,
        "fault": fault,
        "bytes": 10,
        "table_bytes": 100,
        "older_bytes": 7,
        "rss": 1000,
    }


def outcome_of(*levels, deadlock=False):
    """The outcome after levels that are given as lists of parts."""
    tally = Tally(COMPILED, KINDS, initial=1, deadlock=deadlock)
    for number, parts in enumerate(levels):
        tally.add({"level": number, "parts": parts})
    return tally.outcome


def test_the_names_are_those_of_the_model():
    assert COMPILED.state_names == ("full", "below_two") and COMPILED.step_names == ("oldest_first",)


def test_counts_are_sums_over_levels_and_partitions():
    found = outcome_of([part(1, coverage=(3, 0))], [part(2, coverage=(1, 1), cuts=(4,)), part(3, coverage=(0, 2))])
    assert (found.distinct, found.generated, found.depth, found.frontier) == (6, 1 + 7, 2, 5)
    assert found.coverage == {"toys.put": 4, "toys.take": 3} and found.cuts == {"room": 4}
    assert (found.bytes, found.memory, found.older) == (30, 200 + 1000, 14)


def test_a_level_without_states_ends_the_exploration_and_is_no_depth():
    assert not outcome_of().finished
    assert not outcome_of([part(1)]).finished
    found = outcome_of([part(1)], [part(0), part(0)])
    assert found.finished and found.depth == 1


def test_a_goal_is_reached_and_a_broken_law_is_a_violation():
    found = outcome_of([part()], [part(judged=("aa", "bb"))])
    assert found.reached == {"full"}
    assert found.violations == [Found("below_two", 1, "bb")] and found.violations[0].trace_length == 2


def test_the_first_violation_stays_and_partitions_in_any_order_give_the_same_one():
    parts = [part(judged=(None, "cc")), part(judged=(None, "bb"))]
    first, other = outcome_of([part()], parts, [part(judged=(None, "aa"))]), outcome_of([part()], parts[::-1])
    assert first.violations == other.violations == [Found("below_two", 1, "bb")]


def test_a_broken_step_counts_the_state_that_it_leads_to():
    (found,) = outcome_of([part(broken=[["aa", 3]])]).violations
    assert (found.name, found.number, found.trace_length) == ("oldest_first", 3, 2)


def test_deadlocks_are_violations_only_when_asked_for():
    assert outcome_of([part(deadlock="aa")]).violations == []
    assert outcome_of([part(deadlock="aa")], deadlock=True).violations == [Found("deadlock", 0, "aa")]


def test_the_first_fault_of_the_specification_is_kept():
    found = outcome_of([part(fault=["bb", 1]), part(fault=["aa", 2])], [part(fault=["00", 0])])
    assert found.fault == Fault(0, "aa", 2)


@pytest.mark.parametrize(
    ("limits", "stop"),
    [
        (Limits(), None),
        (Limits(states=11), None),
        (Limits(states=10), "max-states"),
        (Limits(depth=4), None),
        (Limits(depth=3), "max-depth"),
        (Limits(minutes=1.1), None),
        (Limits(minutes=1), "max-minutes"),
        (Limits(disk=101), None),
        (Limits(disk=100), "max-disk"),
    ],
)
def test_a_limit_stops_when_it_is_reached(limits, stop):
    assert limits.reached(Outcome(distinct=10, depth=3, bytes=100), seconds=60.0) == stop
