"""Threads of this process find what plain Python finds, without Spark."""

import pytest

from kafkaproof.checker.basics.errors import UserError
from kafkaproof.checker.explore import explorer
from kafkaproof.checker.explore.explorer import Limits
from kafkaproof.checker.runs.directory import RunDirectory
from kafkaproof.checker.runs.older import Older
from kafkaproof.checker.spark.session import Later, Place
from tests.checker.models import EVERYTHING, explored, facts, kernel_of
from tests.checker.test_explorer import ONE_OF_EACH, truth

SMALL = Limits(states=300)


class Unstarted(Later):
    """A local Spark of so many threads that must not be started."""

    def _started(self):
        raise AssertionError("Spark was started")


@pytest.fixture(autouse=True)
def every_level_is_shared(monkeypatch):
    """Levels of any size are worth tables and several threads."""
    monkeypatch.setattr(explorer, "LEAST", 0)
    monkeypatch.setattr(explorer, "ENOUGH", 1)


def in_threads(run, name, threads=2, **options):
    """An explorer that has explored a model with so many threads."""
    local = Unstarted(Place(f"local[{threads}]"))
    return explored(run, kernel_of(*EVERYTHING[name]), local, threads, **{"spread": None, **options})


@pytest.mark.parametrize("name", ["clock", "failing queue", "islands", *ONE_OF_EACH])
def test_two_threads_find_what_plain_python_finds(run_directory, name):
    assert facts(in_threads(run_directory, name, limits=SMALL).outcome) == truth(name, SMALL)


@pytest.mark.parametrize("threads", [3, 5])
def test_the_number_of_threads_changes_nothing(run_directory, threads):
    assert facts(in_threads(run_directory, "replication/kip101", threads).outcome) == truth("replication/kip101")
    writers = [{part["partition"] for part in level["parts"]} for level in run_directory.levels()]
    assert writers == [{None}] + [{*range(threads)}] * (len(writers) - 1)


@pytest.mark.parametrize("least", [1, 50, 2_000, 10_000])
def test_from_any_size_on_tables_find_what_a_set_has_found_before(run_directory, larger, monkeypatch, least):
    monkeypatch.setattr(explorer, "LEAST", least)
    found = explored(run_directory, larger, Unstarted(Place("local[2]")), 2, spread=None).outcome
    assert (found.distinct, found.generated) == (39_619, 104_488)
    threads = [{part["partition"] for part in level["parts"]} == {0, 1} for level in run_directory.levels()]
    sizes = [sum(part["states"] for part in level["parts"]) for level in run_directory.levels()]
    assert threads == [sum(sizes[:level]) >= least for level in range(len(sizes))]


@pytest.mark.parametrize("limits", [Limits(states=5), Limits(depth=4), Limits(minutes=0), Limits(disk=5_000)])
def test_what_follows_a_limit_gives_the_counts_of_a_run_without_it(run_directory, limits):
    stopped = in_threads(run_directory, "failing queue", limits=limits)
    assert stopped.stopped_by and not stopped.outcome.finished
    assert facts(in_threads(run_directory, "failing queue").outcome) == truth("failing queue")


def test_levels_that_grow_too_large_are_left_to_spark(run_directory, spark):
    kernel = kernel_of(*EVERYTHING["replication/kip320"])
    assert facts(explored(run_directory, kernel, spark, 2, spread=30).outcome) == truth("replication/kip320")


@pytest.fixture
def larger():
    """A kernel of 39,619 states, more than two of the smallest tables hold."""
    model, scope = EVERYTHING["replication/kip320"]
    return kernel_of(model, {**scope, "brokers": 3, "log": 2, "records": 2, "epochs": 1})


def test_without_memory_they_find_the_same(run_directory, larger):
    found = explored(run_directory, larger, Unstarted(Place("local[2]")), 2, spread=None, memory=0).outcome
    assert (found.distinct, found.generated) == (39_619, 104_488) and found.older > 0


def test_what_fails_in_a_thread_is_told_and_what_is_complete_stays(run_directory, larger, monkeypatch):
    def fail(*_):
        raise UserError("the disk is full")

    local = Unstarted(Place("local[2]"))
    with monkeypatch.context() as until, pytest.raises(UserError, match="the disk is full"):
        until.setattr(Older, "add", fail)
        explored(run_directory, larger, local, 2, spread=None, memory=0)
    assert len(run_directory.levels()) > 10
    found = explored(run_directory, larger, local, 2, spread=None).outcome
    assert (found.distinct, found.generated) == (39_619, 104_488)


def test_small_levels_are_left_to_one_thread(run_directory, monkeypatch):
    monkeypatch.setattr(explorer, "ENOUGH", 30)
    assert facts(in_threads(run_directory, "replication/kip320").outcome) == truth("replication/kip320")
    writers = [{part["partition"] for part in level["parts"]} for level in run_directory.levels()]
    sizes = [sum(part["states"] for part in level["parts"]) for level in run_directory.levels()]
    alone = next(number for number, size in enumerate(sizes) if size >= 30) + 1
    assert writers == [{None}] * alone + [{0, 1}] * (len(writers) - alone)


def test_time_that_is_up_within_a_level_ends_it(tmp_path, monkeypatch):
    run = RunDirectory(str(tmp_path / "run"))
    stopped = in_threads(run, "replication/kip320", limits=Limits(minutes=1e-9))
    assert stopped.stopped_by == "max-minutes" and not stopped.outcome.finished
    assert facts(in_threads(run, "replication/kip320").outcome) == truth("replication/kip320")
