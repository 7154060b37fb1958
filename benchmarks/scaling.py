"""
Explore one model with 1 and with 2 executors of a core each, and tell from that what more of them would do.

    PYTHONPATH=. python benchmarks/scaling.py --scope 2,2,2 --rounds 3 --gigabits 10

A scope is LOG,RECORDS,EPOCHS for three replicas of replication/kip320. Executors run on this machine under addresses of
their own; with more executors than processors the numbers mean nothing. Times are those of Spark's jobs, one a level,
as its event log has them: starting up is not in them, and neither are the levels that the driver explores alone.

The model of the cost, for n executors of one core:

    seconds = levels * (level + n * task) + successors * successor / n + bytes * (n - 1) / n / n / bandwidth

"level" is paid by each level however small, "task" by the driver for each task that it starts, "successor" is the work for
one successor: kernel, table, blocks, Parquet. These are fitted to the levels of all rounds ("task" is measured with a job of
tasks that do nothing). "bytes" are those that Spark wrote for its shuffles; of these (n - 1) / n go to another host.

Exit code: 0 if the counts agree, 1 if they differ or a run fails.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import numpy as np

from tests.cluster.standalone import Standalone

MEASURED, TOLD = (1, 2), (1, 2, 4, 16, 64)
TASKS = 500
LOG = {"enabled": "true", "compress": "false", "rolling.enabled": "false"}


@dataclass
class Run:
    """A run on `executors`: (successors, seconds) of each level on Spark, bytes shuffled, and what was counted."""

    executors: int
    levels: list[tuple[int, float]]
    bytes: int
    counts: tuple[int, int]

    @property
    def seconds(self):
        """Seconds of all levels."""
        return sum(seconds for _, seconds in self.levels)

    @property
    def successors(self):
        """Successors of all levels."""
        return sum(successors for successors, _ in self.levels)


def run_once(executors, scope, directory):
    """Explore once; raises CalledProcessError."""
    with Standalone(directory, dict(os.environ), executors) as cluster:
        log, run = directory / "log", directory / "run"
        log.mkdir()
        settings = {f"spark.eventLog.{name}": value for name, value in LOG.items()}
        settings |= {"spark.eventLog.dir": f"file://{log}", "spark.cores.max": str(executors)}
        settings |= {"spark.default.parallelism": str(executors)}
        sizes = [text for name, size in zip(("log", "records", "epochs"), scope) for text in (f"--{name}", size)]
        command = [Path(sys.executable).with_name("kafkaproof"), "check", "replication", "--variant", "kip320"]
        command += ["--brokers", "3", *sizes, "--master", cluster.master, "--run-dir", run, "--json"]
        command += [f"--conf={key}={value}" for key, value in settings.items()]
        output = subprocess.run(list(map(str, command)), check=True, capture_output=True, text=True).stdout
    [result] = json.loads(output)["runs"]
    done = [json.loads(path.read_text())["parts"] for path in sorted(run.glob("level-*/level.json"))]
    successors = [sum(part["generated"] for part in parts) for parts in done if parts[0]["partition"] is not None]
    seconds, shuffled = jobs(log, len(successors))
    return Run(executors, list(zip(successors, seconds)), shuffled, (result["distinct"], result["generated"]))


def jobs(log, count):
    """Seconds of the jobs that do the `count` levels, in order, and the bytes that their tasks wrote for shuffles."""
    [path] = [path for path in log.rglob("*") if path.is_file() and not path.name.startswith(".")]
    began, ended, shuffled = {}, {}, 0
    for event in map(json.loads, path.read_text().splitlines()):
        if event["Event"] == "SparkListenerJobStart" and re.search("isEmpty", event["Stage Infos"][-1]["Stage Name"]):
            began[event["Job ID"]] = event["Submission Time"]
        elif event["Event"] == "SparkListenerJobEnd" and event["Job ID"] in began:
            ended[event["Job ID"]] = event["Completion Time"]
        elif event["Event"] == "SparkListenerTaskEnd":
            shuffled += event["Task Metrics"]["Shuffle Write Metrics"]["Shuffle Bytes Written"]
    seconds = [(ended[job] - began[job]) / 1000 for job in sorted(began)]
    return seconds[:count], shuffled


def seconds_of_a_task(directory):
    """What a task that does nothing costs, in seconds."""
    from kafkaproof.checker.spark.session import Place, start

    with Standalone(directory, dict(os.environ), 2) as cluster:
        context = start(Place(cluster.master, None, {"spark.cores.max": "2"}))
        try:
            numbers = context.parallelize([0] * TASKS, TASKS)._jrdd  # counted in the JVM, without Python
            numbers.count()
            began = time.monotonic()
            numbers.count()
            return (time.monotonic() - began) / TASKS
        finally:
            context.stop()


def fitted(runs, task):
    """Seconds of a level and of a successor, which fit the levels of all runs best."""
    rows = [(1, successors / run.executors) for run in runs for successors, _ in run.levels]
    seconds = [seconds - run.executors * task for run in runs for _, seconds in run.levels]
    (level, successor), *_ = np.linalg.lstsq(np.array(rows, float), np.array(seconds), rcond=None)
    return level, successor


def main():
    """Measure, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scope", default="2,2,2")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--gigabits", type=float, default=10.0, help="of a host's network, a second")
    options = parser.parse_args()
    runs = []
    with tempfile.TemporaryDirectory() as work:
        task = seconds_of_a_task(Path(tempfile.mkdtemp(dir=work)))
        for _ in range(options.rounds):
            for executors in MEASURED:
                runs.append(run_once(executors, options.scope.split(","), Path(tempfile.mkdtemp(dir=work))))
                print(f"{executors}: {runs[-1].seconds:.1f} s", file=sys.stderr)
    if len({run.counts for run in runs}) > 1:
        print("the counts differ:", {run.counts for run in runs})
        return 1
    report(runs, task, options.gigabits)
    return 0


def report(runs, task, gigabits):
    """Print what was measured and what the model says of it, and of more executors."""
    (level, successor), one = fitted(runs, task), runs[0]
    levels, shuffled = len(one.levels), median(run.bytes for run in runs)
    print(f"{one.counts[0]:,} states, {levels} levels on Spark with {one.successors:,} successors")
    print(f"{shuffled / one.counts[0]:.0f} bytes shuffled a state, {shuffled / one.successors:.1f} a successor")
    print(f"level {level:.3f} s, task {task * 1000:.1f} ms, successor {successor * 1e6:.2f} µs")
    first = None
    for n in TOLD:
        network = shuffled * (n - 1) / n / n / (gigabits * 1e9 / 8)
        told = levels * (level + n * task) + one.successors * successor / n + network
        measured = [run.seconds for run in runs if run.executors == n]
        first = first or told
        beside = (
            f"{median(measured):.1f} s ({min(measured):.1f} to {max(measured):.1f})" if measured else "not measured"
        )
        print(
            f"{n} executors: model {told:.1f} s, {first / told:.1f} times as fast as 1, network {network:.2f} s; {beside}"
        )


if __name__ == "__main__":
    sys.exit(main())
