"""A cluster of a master and two workers gives the same counts, also when they spill, are slow, or end on the way."""

import json
import os
import signal
import time
from collections import defaultdict
from pathlib import Path

import pytest

from tests.checker.arguments import counts, kept, replication
from tests.cluster.moments import COUNTS, KIP320, SMALLER, SMALLER_COUNTS, SPREAD, family, levels, on_spark, wait_until
from tests.cluster.standalone import SPARING, Standalone

LATE = 3
PAUSE = 3.0
ALL = {f"spark.{process}.extraJavaOptions": SPARING for process in ("driver", "executor")} | {"spark.cores.max": "4"}
LOGGED = {
    "spark.eventLog.enabled": "true",
    "spark.eventLog.compress": "false",
    "spark.eventLog.rolling.enabled": "false",
}
SPILLING = {"spark.shuffle.sort.bypassMergeThreshold": "1", "spark.shuffle.spill.numElementsForceSpillThreshold": "1"}
DONE_AGAIN = {
    "spark.speculation": "true",
    "spark.speculation.interval": "100ms",
    "spark.speculation.multiplier": "1.5",
    "spark.speculation.quantile": "0.5",
    "spark.speculation.minTaskRuntime": "500ms",
}


@pytest.fixture(scope="module")
def standalone(tmp_path_factory):
    """A cluster of two workers that have what we have."""
    with Standalone(tmp_path_factory.mktemp("standalone"), dict(os.environ)) as cluster:
        yield cluster


@pytest.fixture
def on_cluster(begin, standalone, tmp_path):
    """Begin a check of the smaller scope on the cluster, with settings of Spark; its run is in `run`."""

    def command(**settings):
        conf = [f"--conf={key}={value}" for key, value in (ALL | settings).items()]
        return begin(*replication(*SMALLER), *kept(tmp_path / "run", standalone.master), *conf, spread=SPREAD)

    return command


def check_counts(answer, expected=SMALLER_COUNTS):
    """The answer is that of any other master."""
    assert answer.code == 0, answer.err
    assert counts(answer.result) == expected


def tasks(log: Path) -> list[dict]:
    """The tasks that ended, of a directory of Spark's event logs."""
    lines = [json.loads(line) for path in log.rglob("*") if path.is_file() for line in path.read_text().splitlines()]
    return [line for line in lines if line["Event"] == "SparkListenerTaskEnd"]


def test_a_standalone_cluster_counts_the_same_though_it_spills(answer_of, on_cluster, tmp_path):
    log = tmp_path / "log"
    log.mkdir()
    check_counts(answer_of(on_cluster(**LOGGED, **SPILLING, **{"spark.eventLog.dir": f"file://{log}"})))
    assert on_spark(tmp_path / "run") > LATE
    assert json.loads((tmp_path / "run" / "run.json").read_text())["partitions"] == 4
    ended = tasks(log)
    assert sum(task["Task Metrics"]["Disk Bytes Spilled"] for task in ended) > 0
    assert sorted(map(len, executors_of_partitions(ended).values())) == [1, 1, 1, 1]


def executors_of_partitions(ended: list[dict]) -> dict[int, set[str]]:
    """Which executors had each partition, in the stages that write states for the next."""
    found = defaultdict(set)
    for task in ended:
        if task["Task Metrics"]["Shuffle Write Metrics"]["Shuffle Records Written"]:
            found[task["Task Info"]["Index"]].add(task["Task Info"]["Executor ID"])
    return found


def test_a_run_that_loses_an_executor_goes_on_and_counts_the_same(answer_of, on_cluster, standalone, tmp_path):
    process = on_cluster()
    wait_until(lambda: on_spark(tmp_path / "run") >= LATE, process)
    before = standalone.executors()
    assert len(before) == 2
    os.kill(before[0], signal.SIGKILL)
    check_counts(answer_of(process))
    assert len(levels(tmp_path / "run")) == SMALLER_COUNTS[2] + 1


@pytest.mark.parametrize("settings", [{}, DONE_AGAIN], ids=["waited for", "done again by another"])
def test_a_slow_executor_changes_nothing(answer_of, on_cluster, standalone, tmp_path, settings):
    process = on_cluster(**settings)
    wait_until(lambda: on_spark(tmp_path / "run") >= LATE, process)
    slow = family(standalone.executors()[0])
    for pid in slow:
        os.kill(pid, signal.SIGSTOP)
    time.sleep(PAUSE)
    for pid in slow:
        os.kill(pid, signal.SIGCONT)
    check_counts(answer_of(process))


def test_a_larger_scope_counts_the_same(begin, answer_of, standalone, tmp_path):
    larger = [*replication(*KIP320), *kept(tmp_path / "run", standalone.master)]
    check_counts(answer_of(begin(*larger, spread=SPREAD)), COUNTS)
    assert on_spark(tmp_path / "run") > 0


def test_a_run_directory_that_cannot_be_made_is_told_by_a_cluster_too(begin, answer_of, standalone):
    answer = answer_of(begin(*replication("kip320", 2, 1, 1, 1), *kept("/proc/run", standalone.master)))
    assert "cannot create the run directory /proc/run" in answer.complaint
