"""The processes of brokers, as the driver that has started them sees them."""

from __future__ import annotations

import json
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from kafkaproof.impl.broker.settings import Settings
from kafkaproof.impl.harness.driving.zookeeper_server import die_with_parent

KILLED = -signal.SIGKILL
"""The exit status of a process that was ended by kill -9."""
LAST = 4096
"""How many bytes at the end of a log are looked at for its last line."""


class Child:
    """A process that the driver has started: `command`, with its output in `log`. It ends with the driver.

    `ending`: its exit status after SIGTERM; `leaving`: that of one that ends because it cannot go on. `port` is where
    clients find it, 0 where that is not known yet.
    """

    ending = leaving = port = 0

    def __init__(self, command: Sequence[str], log: Path, **options: Any):
        self.log = log
        self._wanted: set[int] = set()
        with open(log, "a") as output:
            streams = {"stdin": subprocess.DEVNULL, "stdout": output, "stderr": output, **options}
            self._process: subprocess.Popen = subprocess.Popen(
                command, **streams, preexec_fn=die_with_parent, start_new_session=True
            )

    @property
    def session(self) -> tuple[int, bytes] | None:
        """Its ZooKeeper session, id and password; None where it has none yet."""
        return None

    def command(self, **line: object) -> None:
        """Tell the process something; only those of our own brokers listen."""
        raise NotImplementedError(f"{type(self).__name__} takes no commands")

    @property
    def running(self) -> bool:
        """Whether the process lives; one that is stopped does."""
        return self._process.poll() is None

    @property
    def is_ending(self) -> bool:
        """Whether SIGTERM was sent, and the process lives yet."""
        return self.ending in self._wanted and self.running

    @property
    def stopped(self) -> bool:
        """Whether the process is stopped by a signal."""
        state = Path(f"/proc/{self._process.pid}/stat")
        return self.running and state.exists() and state.read_text().rsplit(")", 1)[1].split()[0] == "T"

    def signal(self, number: int) -> None:
        """Send a signal; SIGTERM asks for the end, and SIGKILL brings it about.

        SIGTERM ends a process at once that has not come to the point where it listens to it.
        """
        wanted: dict[int, tuple[int, ...]] = {signal.SIGTERM: (self.ending, -signal.SIGTERM), signal.SIGKILL: (KILLED,)}
        self._wanted.update(wanted.get(number, ()))
        self._process.send_signal(number)

    def wait(self, seconds: float) -> None:
        """Wait for the end; kill it where it does not come."""
        try:
            self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.signal(signal.SIGKILL)
            self._process.wait()

    def unwanted_end(self, may_leave: bool) -> str | None:
        """How the process has ended by itself, in words, with where its log is; None where it has not.

        `may_leave`: a step of its own may have ended it, as a broker ends that could not register.
        """
        status = self._process.poll()
        if status is None or status in self._wanted or status == self.leaving and may_leave:
            return None
        how = "it has left: it could not register" if status == 0 else f"exit status {status}"
        if status < 0:
            how = f"killed by {signal.Signals(-status).name}"
        if status == KILLED:
            how += ", by somebody else or for want of memory"
        said = self.log.read_bytes()[-LAST:].decode(errors="replace").split("\n") if self.log.exists() else []
        last = next((line.strip() for line in reversed(said) if line.strip()), "")
        return f"{how}; its log is {self.log}" + (f", which ends with: {last}" if last else "")


class BrokerChild(Child):
    """The process of a broker of ours; what it tells comes through `told`. It runs `program`."""

    program = (sys.executable, "-m", "kafkaproof.impl.server.main")

    def __init__(self, settings: Settings, log: Path):
        self.settings, self.told = settings, queue.Queue()
        self._session: tuple[int, bytes] | None = None
        self.port = settings.port
        super().__init__(self.program, log, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.command(**asdict(settings))
        threading.Thread(target=self._listen, daemon=True).start()

    @property
    def session(self) -> tuple[int, bytes] | None:
        """Its ZooKeeper session, id and password; None where it has not told yet."""
        return self._session

    def _listen(self):
        for line in self._process.stdout:
            told = json.loads(line)
            if "session" in told:
                self._session = int(told["session"], 16), bytes.fromhex(told["password"])
                self.port = told["port"]
            else:
                self.told.put(told)

    def command(self, **line: object) -> None:
        """Tell the process something."""
        if line.get("dies"):
            self._wanted.add(KILLED)
        stdin = self._process.stdin
        if stdin is None:
            return
        try:
            stdin.write(json.dumps(line) + "\n")
            stdin.flush()
        except OSError:
            pass  # it has ended
