"""A cluster of a master and two workers gives the same counts, also when it loses an executor on the way."""

import os
import re
import signal
import subprocess
from pathlib import Path

import pyspark
import pytest

from tests.checker.arguments import counts, kept, replication
from tests.cluster.moments import COUNTS, KIP320, children, command_of, levels, on_spark, wait_until

HOST = "127.0.0.1"
DEPLOY = "org.apache.spark.deploy"
CORES, MEMORY = "1", "1g"
LATE = 7


class Standalone:
    """A master and two workers, as processes of their own; `executors` are theirs."""

    def __init__(self, directory: Path):
        self._directory, self._processes, self.workers = directory, [], []

    @property
    def master(self) -> str | None:
        """The address that the master has chosen; None when it does not listen yet."""
        started = re.search(r"Starting Spark master at (\S+)", self._log_of_master())
        return started and started[1]

    def start(self) -> None:
        """Start the three, and wait until they know one another."""
        self._start(f"{DEPLOY}.master.Master", "--port", 0, "--webui-port", 0)
        wait_until(lambda: self.master)
        self.workers = [
            self._start(
                f"{DEPLOY}.worker.Worker",
                "--cores",
                CORES,
                "--memory",
                MEMORY,
                "--work-dir",
                self._directory / f"worker-{i}",
                "--webui-port",
                0,
                self.master,
            )
            for i in range(2)
        ]
        wait_until(lambda: self._log_of_master().count("Registering worker") == 2)

    def _start(self, name, *options):
        home = Path(pyspark.__file__).parent
        environment = {
            **os.environ,
            "SPARK_HOME": str(home),
            "SPARK_LOCAL_IP": HOST,
            "SPARK_LOCAL_DIRS": str(self._directory / "local"),
        }
        command = [home / "bin" / "spark-class", name, "--host", HOST, *map(str, options)]
        with open(self._directory / f"{len(self._processes)}.log", "w") as log:
            process = subprocess.Popen(command, env=environment, stdout=log, stderr=subprocess.STDOUT)
        self._processes.append(process)
        return process

    def _log_of_master(self):
        return (self._directory / "0.log").read_text()

    def executors(self) -> list[int]:
        """The executors that run at present."""
        found = [pid for worker in self.workers for pid in children(worker.pid)]
        return [pid for pid in found if "CoarseGrainedExecutorBackend" in command_of(pid)]

    def stop(self) -> None:
        """End everything; executors end with their workers."""
        executors = self.executors()
        for process in reversed(self._processes):
            process.terminate()
        for process in self._processes:
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        for pid in executors:
            if "CoarseGrainedExecutorBackend" in command_of(pid):
                os.kill(pid, signal.SIGKILL)


@pytest.fixture(scope="module")
def standalone(tmp_path_factory):
    """A real standalone cluster on this machine."""
    cluster = Standalone(tmp_path_factory.mktemp("standalone"))
    try:
        cluster.start()
        yield cluster
    finally:
        cluster.stop()


def check_counts(answer):
    """The answer is that of any other master."""
    assert answer.code == 0, answer.err
    assert counts(answer.result) == COUNTS and answer.result["expected"] is True


def test_a_standalone_cluster_counts_the_same(begin, answer_of, standalone, tmp_path):
    check_counts(answer_of(begin(*replication(*KIP320), *kept(tmp_path / "run", standalone.master))))
    assert on_spark(tmp_path / "run") > 0


def test_a_run_that_loses_an_executor_goes_on_and_counts_the_same(begin, answer_of, standalone, tmp_path):
    run = tmp_path / "run"
    process = begin(*replication(*KIP320), *kept(run, standalone.master))
    wait_until(lambda: on_spark(run) >= LATE, process)
    before = standalone.executors()
    assert len(before) == 2
    os.kill(before[0], signal.SIGKILL)
    check_counts(answer_of(process))
    assert len(levels(run)) == COUNTS[2] + 1


def test_a_local_cluster_of_two_counts_the_same(begin, answer_of, tmp_path):
    environment = {**os.environ, "SPARK_WORKER_DIR": str(tmp_path / "work"), "SPARK_LOCAL_DIRS": str(tmp_path)}
    arguments = [*replication(*KIP320), *kept(tmp_path / "run", "local-cluster[2,1,1024]")]
    check_counts(answer_of(begin(*arguments, env=environment)))


def test_a_run_directory_that_cannot_be_made_is_told_by_a_cluster_too(begin, answer_of, standalone):
    answer = answer_of(begin(*replication("kip320", 2, 1, 1, 1), *kept("/proc/run", standalone.master)))
    assert "cannot create the run directory /proc/run" in answer.complaint
