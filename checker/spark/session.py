"""Starting Spark: on a master, with what its executors use, and with settings that can be given."""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import sys
from collections.abc import Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kafkaproof.checker.basics.cache import cache_directory
from kafkaproof.checker.basics.errors import UserError

JAVA = 17
# A local JVM only passes blocks on; optimizing its code would take processor time from the kernel.
SPARING = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
UNPACKED = "kafkaproof-packed"
"""The folder, in the working directory of an executor, into which Spark unpacks the archive."""
ARCHIVE = ".tar.gz"
"""How the name of an archive ends: by that Spark knows to unpack it."""


class ClusterError(UserError):
    """Spark cannot be used; the message says why and what to do."""


@dataclass(frozen=True)
class Place:
    """Where Spark runs: the `master`, the `archive` of ``kafkaproof pack`` that executors use, and Spark's `settings`.

    Without an archive, executors have kafkaproof installed. The settings given here go before our own.
    """

    master: str
    archive: str | None = None
    settings: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_local(self) -> bool:
        """Whether all is done in one process of Spark, on this machine."""
        return is_local(self.master)

    def require_possible(self) -> None:
        """Raise ClusterError without Java, or when the master or the archive is not there."""
        _require_java()
        _require_master(self.master)
        if self.archive is None:
            return
        if self.is_local:
            raise ClusterError(
                f"--archive is for executors of a cluster; {self.master} uses the Python of this command"
            )
        if not self.archive.endswith(ARCHIVE):
            raise ClusterError(f"Spark unpacks no archive called {self.archive}; its name must end in {ARCHIVE}")
        if "://" not in self.archive and not Path(self.archive).is_file():
            raise ClusterError(f"there is no archive {self.archive}; make it: kafkaproof pack {self.archive}")


def is_local(master: str) -> bool:
    """Whether Spark at this master has no machine but this one."""
    return re.match(r"local(\[|$)", master) is not None


def start(place: Place):
    """A SparkContext at a place; raises ClusterError when Spark cannot be used there."""
    place.require_possible()
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("PYSPARK_DRIVER_PYTHON", sys.executable)
    from pyspark import SparkConf, SparkContext

    conf = SparkConf().setMaster(place.master).setAppName("kafkaproof")
    for name, value in _settings(place).items():
        conf.set(name, value)
    log = cache_directory().parent / "spark.log"
    try:
        with _stderr_to(log):
            context = SparkContext(conf=conf)
    except Exception as error:  # py4j and the launcher raise errors of many kinds
        raise ClusterError(f"cannot start Spark on {place.master}: {_reason(error)} (its log is {log})") from error
    if place.archive:
        context.pythonExec = f"./{UNPACKED}/pex"
    return context


class Later:
    """Stands for a SparkContext that is started when something is first asked of it: small models need none.

    What can be told without Spark is told once it is made; raises ClusterError.
    """

    def __init__(self, place: Place):
        place.require_possible()
        self._place = place
        self._context: Any = None

    def __getattr__(self, name: str):
        return getattr(self._started(), name)

    def _started(self):
        if self._context is None:
            self._context = start(self._place)
        return self._context

    @property
    def master(self) -> str:
        """Where Spark runs, or will run."""
        return self._place.master

    @property
    def defaultParallelism(self) -> int:
        """How many tasks run at once; of this machine's processors it is known without Spark."""
        local = re.fullmatch(r"local(?:\[(\d+|\*)(?:,\d+)?\])?", self._place.master)
        if local is None:
            return int(self._started().defaultParallelism)
        return (os.cpu_count() or 1) if local[1] == "*" else int(local[1] or 1)

    def stop(self) -> None:
        """Stop it, if it was started."""
        if self._context is not None:
            self._context.stop()


def _reason(error):
    """The line of a Java error that says what is wrong, or the first line of any other."""
    lines = (str(error).strip() or type(error).__name__).splitlines()
    return next((line.removeprefix(": ") for line in lines if line.startswith(": ")), lines[0])


@contextmanager
def _stderr_to(log):
    """Redirect the standard error of processes started in this block to the file `log`, for as long as they live."""
    log.parent.mkdir(parents=True, exist_ok=True)
    own = os.dup(2)
    with open(log, "w") as file:
        os.dup2(file.fileno(), 2)
    try:
        yield
    finally:
        os.dup2(own, 2)
        os.close(own)


def _settings(place):
    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.stage.maxConsecutiveAttempts": "1",
        "spark.speculation": "false",
        "spark.serializer": "org.apache.spark.serializer.KryoSerializer",
        "spark.kryoserializer.buffer.max": "512m",
        "spark.driver.memory": "2g",
        "spark.python.unix.domain.socket.enabled": "true",
        "spark.scheduler.minRegisteredResourcesRatio": "1",
    }
    if place.is_local:
        settings |= {
            "spark.driver.extraJavaOptions": SPARING,
            "spark.shuffle.compress": "false",
            "spark.shuffle.checksum.enabled": "false",
        }
    if re.match(r"local|spark://(localhost|127\.0\.0\.1)", place.master):
        settings |= {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}
    if place.archive:
        settings["spark.archives"] = f"{place.archive}#{UNPACKED}"
    return settings | dict(place.settings)


def _require_java():
    home = os.environ.get("JAVA_HOME")
    java = shutil.which("java", path=f"{home}/bin") if home else shutil.which("java")
    if java is None:
        where = f"under JAVA_HOME={home}" if home else "on PATH"
        raise ClusterError(f"no java {where}; install Java {JAVA} or later (Debian: openjdk-17-jre-headless)")
    text = subprocess.run([java, "-version"], capture_output=True, text=True).stderr
    version = re.search(r'version "(?:1\.)?(\d+)', text)
    if not version or int(version[1]) < JAVA:
        found = version[1] if version else "unknown"
        raise ClusterError(f"{java} is Java {found}; Spark needs Java {JAVA} or later")


def _require_master(master):
    if not re.fullmatch(r"local(\[.*\])?|local-cluster\[\d+,\d+,\d+\]|(spark|yarn|k8s).*", master):
        raise ClusterError(
            f"unknown Spark master {master!r}; try local[*], local-cluster[2,1,1024] or spark://HOST:PORT"
        )
    for host, port in re.findall(r"(?:spark://|,)\[?([^:,\]]+)\]?:(\d+)", master):
        try:
            socket.create_connection((host, int(port)), timeout=5).close()
        except OSError as error:
            raise ClusterError(f"cannot reach the Spark master {master}: {error}; is it running?") from error
