"""A real ZooKeeper server of our own: a child process, from the jars that PySpark brings along."""

from __future__ import annotations

import ctypes
import importlib.util
import os
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

from kafkaproof.spec.errors import UserError

HOST = "127.0.0.1"
START = 120
LONGEST_SESSION = 600_000
PORTS, TRIED = range(15_000, 32_000), 100
"""Ports that no system gives to a connection by itself, and how many of them are tried."""
PR_SET_PDEATHSIG = 1
MAIN = "org.apache.zookeeper.server.ZooKeeperServerMain"
JVM = ("-Xmx256m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")


def die_with_parent() -> None:
    """Called in a child before it begins: the kernel ends it when its parent ends, however that comes (Linux)."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


class Keeper:
    """A ZooKeeper server with its data in `directory`, sessions expiring by ticks of `tick` milliseconds.

    Raises UserError without Java or the jars, where the port is taken, and where it does not start.
    """

    def __init__(self, directory: Path, tick: int, port: int | None = None):
        self.port = port or free_port()
        self.address = f"{HOST}:{self.port}"
        self.log = directory / "zookeeper.log"
        self.data = directory / "zookeeper"
        _require_free(self.port)
        configuration = directory / "zoo.cfg"
        configuration.write_text(
            f"dataDir={self.data}\nclientPort={self.port}\nclientPortAddress={HOST}\ntickTime={tick}\n"
            f"minSessionTimeout={2 * tick}\nmaxSessionTimeout={LONGEST_SESSION}\nmaxClientCnxns=0\n"
            "admin.enableServer=false\n"
        )
        self._command = [
            java("ZooKeeper"),
            *JVM,
            "-Dzookeeper.admin.enableServer=false",
            "-Dzookeeper.preAllocSize=64",
            "-cp",
            _jars(),
            MAIN,
            str(configuration),
        ]
        self._start()

    def _start(self):
        with open(self.log, "a") as log:
            self._process = subprocess.Popen(
                self._command,
                stdout=log,
                stderr=log,
                stdin=subprocess.DEVNULL,
                preexec_fn=die_with_parent,
                start_new_session=True,
            )
        self._wait()

    @property
    def exit_status(self) -> int | None:
        """That of a server that has ended, None while it runs."""
        return self._process.poll()

    def restart(self) -> None:
        """Kill the server, and start another on its data."""
        self.stop()
        self._start()

    def _wait(self):
        until = time.monotonic() + START
        while not answers(self.address):
            if self._process.poll() is not None or time.monotonic() > until:
                self.stop()
                raise UserError(f"ZooKeeper does not start on {self.address}; see {self.log}")
            time.sleep(0.05)

    def stop(self) -> None:
        """End the server."""
        self._process.kill()
        self._process.wait()


def answers(address: str) -> bool:
    """Whether a ZooKeeper at HOST:PORT serves requests: it knows the command `srvr`, whether or not it is allowed
    there.
    """
    try:
        with socket.create_connection(parse(address), timeout=1) as connection:
            connection.sendall(b"srvr")
            answer = connection.recv(1000)
    except OSError:
        return False
    return b"srvr is not executed" in answer or b"Mode:" in answer or answer.startswith(b"Zookeeper version")


def parse(address: str) -> tuple[str, int]:
    """Host and port; raises UserError."""
    host, _, port = address.rpartition(":")
    if not host or not port.isdigit() or not 0 < int(port) < 65536:
        raise UserError(f"--zookeeper {address}: not HOST:PORT")
    return host, int(port)


def require(address: str) -> None:
    """Raise UserError where no ZooKeeper serves at HOST:PORT."""
    if parse(address) and not answers(address):
        raise UserError(f"no ZooKeeper at {address}; start it, or leave --zookeeper away")


def free_port() -> int:
    """A port of the loopback interface that nobody listens on, nor is given by the system to a connection meanwhile."""
    for port in random.sample(PORTS, TRIED):
        try:
            socket.create_server((HOST, port)).close()
        except OSError:
            continue
        return port
    raise UserError(f"no free port on {HOST} from {PORTS.start} to {PORTS.stop - 1}, {TRIED} were tried")


def _require_free(port):
    try:
        socket.create_server((HOST, port)).close()
    except OSError as error:
        raise UserError(f"cannot listen on port {port}: {error.strerror}; choose another") from None


def java(what: str) -> str:
    """The Java to run something with, `what` in words; raises UserError where there is none that starts."""
    home = os.environ.get("JAVA_HOME")
    found = shutil.which("java", path=f"{home}/bin") if home else shutil.which("java")
    if found is None:
        where = f"under JAVA_HOME={home}" if home else "on PATH"
        raise UserError(f"no java {where}, which {what} needs; install Java 17 or later, or give --zookeeper")
    text = subprocess.run([found, "-version"], capture_output=True, text=True).stderr
    if not re.search(r'version "', text):
        raise UserError(f"{found} does not start: {(text.strip() or 'no output').splitlines()[0]}")
    return found


def _jars() -> str:
    found = importlib.util.find_spec("pyspark")
    jars = Path(found.origin).parent / "jars" if found and found.origin else None
    if jars is None or not list(jars.glob("zookeeper-[0-9]*.jar")):
        raise UserError("PySpark's jars have no ZooKeeper; give --zookeeper HOST:PORT")
    return str(jars / "*")
