"""The fast explorer finds what plain Python finds, in this process and on Spark, however it is divided."""

import math
from functools import cache

import pytest

from kafkaproof.checker.explore.explorer import Limits
from kafkaproof.checker.explore.reference import explore
from kafkaproof.checker.spark.blocks import LostLevel
from kafkaproof.checker.spark.cluster import Levels
from kafkaproof.checker.spark.session import ClusterError
from tests.checker.models import (
    ENOUGH,
    EVERYTHING,
    FAULTY,
    FIRST,
    MORE,
    PATH,
    TOYS,
    explored,
    facts,
    kernel_of,
    limits_of,
)
from tests.cluster.moments import wait_until
from tests.toys import clock, counter, graph, queue

ONE_OF_EACH = {name.split("/")[0]: name for name in FIRST}.values()
"""The newest variant of each system."""


@cache
def truth(name, limits=None):
    """What plain Python finds."""
    return facts(explore(*EVERYTHING[name], enough=(limits or limits_of(name)).states or math.inf))


def found_of(run, name, context=None, partitions=1, limits=None):
    """What the fast explorer finds as far."""
    kernel = kernel_of(*EVERYTHING[name])
    return facts(explored(run, kernel, context, partitions, limits=limits or limits_of(name)).outcome)


@pytest.mark.parametrize("name", EVERYTHING)
def test_in_this_process_it_finds_what_plain_python_finds(run_directory, name):
    assert found_of(run_directory, name) == truth(name)


@pytest.mark.thorough
@pytest.mark.parametrize("name", [name for name in EVERYTHING if limits_of(name) is ENOUGH])
def test_in_this_process_it_finds_further_what_plain_python_finds(run_directory, name):
    assert found_of(run_directory, name, limits=MORE) == truth(name, MORE)


@pytest.mark.parametrize("name", [name for name in FIRST if limits_of(name) is not ENOUGH])
def test_every_transition_of_the_newest_models_is_compared(name):
    taken = truth(name)["coverage"]
    assert {t.name for t in FIRST[name][0].transitions} - {*taken} <= {"failover.move_controller"}


@pytest.mark.parametrize("name", ["clock", "failing queue", "failing counter", "islands", *ONE_OF_EACH])
def test_on_spark_it_finds_what_plain_python_finds(run_directory, spark, name):
    assert found_of(run_directory, name, spark, 2) == truth(name)


@pytest.mark.parametrize("partitions", [1, 3, 5])
@pytest.mark.parametrize("name", ["diamond", "replication/kip101"])
def test_the_number_of_partitions_changes_nothing(run_directory, spark, name, partitions):
    assert facts(explored(run_directory, kernel_of(*EVERYTHING[name]), spark, partitions).outcome) == truth(name)


def test_half_in_this_process_and_half_on_spark_is_the_same(run_directory, spark):
    kernel = kernel_of(*EVERYTHING["replication/kip320"])
    found = explored(run_directory, kernel, spark, 2, spread=30)
    assert facts(found.outcome) == truth("replication/kip320")
    writers = [{part["partition"] for part in level["parts"]} for level in run_directory.levels()]
    assert writers[0] == {None} and writers[-1] == {0, 1}


def test_on_spark_blocks_are_removed_once_they_are_read(run_directory, spark, spark_files, monkeypatch):
    """Those of one level, and the ends of partitions, are there at the same time."""
    kept = []
    advance = Levels.advance

    def shuffles():
        return {path.name.split("_")[1] for path in spark_files.rglob("shuffle_*")}

    def watched(self, level):
        advance(self, level)
        wait_until(lambda: len(shuffles() - before) <= 2)
        kept.append(shuffles() - before)

    before = shuffles()
    monkeypatch.setattr(Levels, "advance", watched)
    explored(run_directory, kernel_of(TOYS["queue"]), spark, 2)
    wait_until(lambda: shuffles() <= before)
    assert len(kept) > 3 and len(set.union(*kept)) == len(kept) + 1


@pytest.mark.parametrize("context", ["here", "on spark"])
def test_it_stops_at_the_level_of_the_first_violation(run_directory, spark, context):
    model = counter(9, failing=True)
    on = spark if context == "on spark" else None
    found = explored(run_directory, kernel_of(model), on, 2, keep_going=False).outcome
    assert [(v.name, v.trace_length) for v in found.violations] == [("below_four", 3)]
    assert (found.depth, found.distinct, found.finished) == (3, 5, False)


def test_a_deadlock_is_a_violation_when_asked_for(run_directory):
    found = explored(run_directory, kernel_of(PATH), deadlock=True).outcome
    assert [(v.name, v.trace_length) for v in found.violations] == [("never_at_last", 3), ("deadlock", 3)]


def test_a_deadlock_is_found_on_spark(run_directory, spark):
    found = explored(run_directory, kernel_of(graph([(0, 1), (1, 2)], [0])), spark, 3, deadlock=True).outcome
    assert [(v.name, v.trace_length) for v in found.violations] == [("deadlock", 3)]


@pytest.mark.parametrize("model", [clock(), queue(), counter(3)], ids=["clock", "queue", "counter"])
def test_neither_a_cycle_nor_a_state_whose_steps_are_cut_is_a_deadlock(run_directory, model):
    assert explored(run_directory, kernel_of(model), deadlock=True).outcome.violations == []


@pytest.mark.parametrize("context", ["here", "on spark"])
def test_a_value_out_of_a_range_that_is_no_bound_is_a_fault_and_no_cut(run_directory, spark, context):
    kernel = kernel_of(FAULTY)
    found = explored(run_directory, kernel, spark if context == "on spark" else None, 2).outcome
    transition, arguments = kernel.step(found.fault.number)
    assert (transition.name, arguments, found.fault.level, sum(found.cuts.values())) == ("models.overflow", (), 2, 0)


@pytest.mark.parametrize("limits", [Limits(states=1), Limits(depth=4), Limits(minutes=0), Limits(disk=1000)])
@pytest.mark.parametrize("context", ["here", "on spark"])
def test_a_limit_stops_and_what_follows_gives_the_counts_of_a_run_without_it(run_directory, spark, limits, context):
    kernel, on = kernel_of(TOYS["failing queue"]), spark if context == "on spark" else None
    stopped = explored(run_directory, kernel, on, 2, limits=limits)
    assert stopped.stopped_by and not stopped.outcome.finished
    assert facts(explored(run_directory, kernel, on, 2).outcome) == truth("failing queue")


def test_a_finished_run_explored_again_is_the_same_and_writes_nothing(run_directory):
    kernel = kernel_of(TOYS["queue"])
    first = explored(run_directory, kernel).outcome
    size = run_directory.size()
    assert explored(run_directory, kernel).outcome == first and run_directory.size() == size


def fail_at(monkeypatch, levels):
    """Let Spark lose these levels, once for each time that they are named."""
    advance = Levels.advance

    def failing(self, level):
        if level in levels:
            levels.remove(level)
            raise LostLevel("executor lost")
        return advance(self, level)

    monkeypatch.setattr(Levels, "advance", failing)


def test_a_lost_level_is_run_again(run_directory, spark, monkeypatch):
    fail_at(monkeypatch, [1, 3, 3])
    assert facts(explored(run_directory, kernel_of(TOYS["queue"]), spark, 2).outcome) == truth("queue")


def test_a_level_lost_again_and_again_is_told_and_what_is_complete_stays(run_directory, spark, monkeypatch):
    fail_at(monkeypatch, [2] * 5)
    kernel = kernel_of(TOYS["queue"])
    with pytest.raises(ClusterError, match="Spark failed 5 times at level 2: executor lost"):
        explored(run_directory, kernel, spark, 2)
    assert len(run_directory.levels()) == 2
    assert facts(explored(run_directory, kernel, spark, 2).outcome) == truth("queue")
