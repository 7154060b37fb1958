"""The driver of the cluster, as a broker sees it: commands come by standard input, and answers go to standard
output."""

from __future__ import annotations

import json
import os
import queue
import signal
import sys
from collections.abc import Callable

from kafkaproof.impl.broker.orders import Do
from kafkaproof.impl.broker.process import Process
from kafkaproof.spec.running.processes import PARTITION


class Driver:
    """Does what the driver wants; `fail_log_dir` is called where a log directory is to fail.

    `stopping`: the broker is to end. `held`: the step before which the process is to stop itself, if any.
    """

    def __init__(self, process: Process, fail_log_dir: Callable[[int], None]):
        self._process, self._fail_log_dir = process, fail_log_dir
        self.stopping, self.held = False, None
        process.about_to_write = self._hold

    def take(self, command: dict) -> None:
        """Do a command."""
        match command:
            case {"do": Do.STOP}:
                self.stopping = True
            case {"do": Do.HOLD, "before": name}:
                self.held = name
            case {"do": Do.FAIL_LOG_DIR, "p": p}:
                self._fail_log_dir(p)
            case {"do": Do.BREAK_LOG, "p": p, "after": size, "dies": dies} if self._process.planes:
                self._process.planes[p].log.fail_after, self._process.planes[p].log.dies = size, dies
            case {"do": Do.CUT, "address": address, "cut": is_cut}:
                self._process.port.cut(tuple(address), is_cut)
            case {"do": Do.SLOW, "delay": delay}:
                self._process.port.delay = delay

    def _hold(self, part: str, name: str) -> None:
        """Stop this process with SIGSTOP if it is to be held before the step that is about to write."""
        if self.held != name or part != PARTITION:
            return
        self.held = None
        tell(holding=name)
        os.kill(os.getpid(), signal.SIGSTOP)


def tell(**line: object) -> None:
    """Tell the driver something."""
    print(json.dumps(line), flush=True)


def listen(inbox: queue.SimpleQueue) -> None:
    """Take the driver's commands; this process ends when the driver has gone."""
    for line in sys.stdin:
        inbox.put(json.loads(line))
    os._exit(1)
