"""A run that is killed at any moment goes on behind its last complete level, and counts the same."""

import os
import signal
import tempfile
from pathlib import Path

import pytest

from kafkaproof.checker.explore import explorer
from kafkaproof.checker.spark.partition import TABLES
from tests.checker.arguments import counts, kept, replication, resumed
from tests.cluster.moments import SMALLER, SMALLER_COUNTS, SPREAD, family, levels, on_spark, wait_until

MOMENTS = {
    "before the first level": lambda run: (run / "run.json").exists(),
    "in the driver's levels": lambda run: len(levels(run)) >= 4,
    "in the first level on Spark": lambda run: (
        levels(run) and any(run.glob(f"level-{len(levels(run)):05d}/part-[0-9]*"))
    ),
    "late": lambda run: len(levels(run)) >= 19,
}


@pytest.fixture(autouse=True)
def resumed_on_spark(monkeypatch):
    """A run that is resumed in this process goes on on Spark as early as it began there."""
    monkeypatch.setattr(explorer, "SPREAD_HERE", SPREAD)


def owner(directory: Path) -> int:
    """The process to which a directory of tables belongs."""
    return int(directory.name.removeprefix(TABLES).split("-")[0])


def tables(pid: int) -> list[Path]:
    """Directories in which the workers of a process keep what they have seen."""
    found = [path for base in ("/dev/shm", tempfile.gettempdir()) for path in Path(base).glob(f"{TABLES}*")]
    owners = family(pid)
    return [path for path in found if owner(path) in owners]


def killed(begin, run, moment, *more) -> list[Path]:
    """Begin a run and kill its driver at a moment; returns where its workers kept their tables."""
    process = begin(*replication(*SMALLER), *kept(run), *more, spread=SPREAD)
    wait_until(lambda: moment(run), process)
    left = tables(process.pid)
    os.kill(process.pid, signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    return left


@pytest.mark.parametrize("moment", MOMENTS)
def test_a_killed_driver_is_resumed_with_the_same_counts_and_verdict(begin, kafkaproof, tmp_path, moment):
    run = tmp_path / "run"
    killed(begin, run, MOMENTS[moment])
    done = len(levels(run))
    answer = kafkaproof(*resumed(run))
    assert answer.code == 0 and counts(answer.result) == SMALLER_COUNTS
    assert answer.result["expected"] is True and len(levels(run)) > done


def test_a_killed_run_with_states_on_disk_is_resumed_with_the_same_counts(begin, kafkaproof, tmp_path):
    run, less = tmp_path / "run", ("--memory", "100K")
    killed(begin, run, MOMENTS["late"], *less)
    assert levels(run)[-1]["parts"][0]["older_bytes"] > 0
    result = kafkaproof(*resumed(run), *less).result
    assert counts(result) == SMALLER_COUNTS and result["older"] > 0


def test_a_run_killed_twice_is_resumed_with_the_same_counts(begin, kafkaproof, tmp_path):
    run = tmp_path / "run"
    killed(begin, run, MOMENTS["in the driver's levels"])
    process = begin(*resumed(run), spread=SPREAD)
    wait_until(lambda: on_spark(run) >= 2, process)
    process.kill()
    assert counts(kafkaproof(*resumed(run)).result) == SMALLER_COUNTS


def test_tables_that_a_killed_run_leaves_are_removed_by_the_next_and_it_leaves_none(begin, kafkaproof, tmp_path):
    run, before = tmp_path / "run", tables(os.getpid())
    left = killed(begin, run, lambda run: on_spark(run) >= 3)
    assert left
    wait_until(lambda: not any(Path("/proc", str(owner(path))).exists() for path in left))
    assert counts(kafkaproof(*resumed(run)).result) == SMALLER_COUNTS
    assert not any(path.exists() for path in left)
    assert set(tables(os.getpid())) <= set(before), "a run that failed leaves its tables as long as its Spark is there"


def test_an_interrupted_run_says_so_in_a_line_and_is_kept(begin, answer_of, kafkaproof, tmp_path):
    run = tmp_path / "run"
    process = begin(*replication(*SMALLER), *kept(run), spread=SPREAD)
    wait_until(lambda: on_spark(run) >= 1, process)
    process.send_signal(signal.SIGINT)
    answer = answer_of(process)
    assert answer.code == 3 and "kafkaproof: interrupted; what is complete is kept" in answer.err
    assert "Traceback" not in answer.err
    assert counts(kafkaproof(*resumed(run)).result) == SMALLER_COUNTS
