"""A cluster of Spark's own kind on this machine: a master and workers, as processes of their own."""

import os
import re
import signal
import subprocess
from pathlib import Path

import pyspark

from tests.cluster.moments import children, command_of, wait_until

SPARING = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"""What makes a JVM start with less work, of daemons and executors alike."""
DEPLOY = "org.apache.spark.deploy"
CORES, MEMORY = 2, "1g"


class Standalone:
    """A master and `count` workers of `CORES` each, at addresses of their own, as if on as many machines.

    `environment` is all that workers have in theirs, beside what Spark needs.
    """

    def __init__(self, directory: Path, environment: dict[str, str], count: int = 2):
        self._directory, self._environment, self._count = directory, environment, count
        self._processes, self.workers = [], []

    def __enter__(self):
        try:
            self.start()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *_):
        self.stop()

    @property
    def master(self) -> str | None:
        """The address that the master has chosen; None when it does not listen yet."""
        started = re.search(r"Starting Spark master at (\S+)", self._log_of_master())
        return started and started[1]

    def start(self) -> None:
        """Start all, and wait until they know one another."""
        self._start(f"{DEPLOY}.master.Master", "127.0.0.1", "--port", 0, "--webui-port", 0)
        wait_until(lambda: self.master)
        self.workers = [self._start_worker(i) for i in range(self._count)]
        wait_until(lambda: self._log_of_master().count("Registering worker") == self._count)

    def _start_worker(self, i):
        own = ("--cores", CORES, "--memory", MEMORY, "--work-dir", self._directory / f"worker-{i}", "--webui-port", 0)
        return self._start(f"{DEPLOY}.worker.Worker", f"127.0.0.{i + 2}", *own, self.master)

    def _start(self, name, host, *options):
        home = Path(pyspark.__file__).parent
        places = {
            "SPARK_HOME": str(home),
            "SPARK_LOCAL_IP": host,
            "SPARK_DAEMON_JAVA_OPTS": SPARING,
            "SPARK_LOCAL_DIRS": str(self._directory / "local"),
        }
        command = [home / "bin" / "spark-class", name, "--host", host, *map(str, options)]
        with open(self._directory / f"{len(self._processes)}.log", "w") as log:
            process = subprocess.Popen(
                command, env={**self._environment, **places}, stdout=log, stderr=subprocess.STDOUT
            )
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
