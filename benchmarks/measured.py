"""Run a command to its end and measure its wall time and its peak memory (Linux)."""

import os
import subprocess
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path

SAMPLE_SECONDS = 0.2
MIB = 1024 * 1024


class CommandFailed(Exception):
    """A command ended with an exit code other than 0."""


@dataclass(frozen=True)
class Measured:
    """What a command printed, and what it took."""

    output: str
    seconds: float
    peak_mib: float
    cpu_seconds: float


def run_measured(command, directory):
    """
    Run ``command`` in ``directory``; raise `CommandFailed` unless it exits with 0.

    The peak is the larger of two numbers: the largest resident set of one process, which
    the kernel reports at its end, and the largest sampled sum over the command and its
    descendants. The first is exact for one process; the second is for a command that
    starts others, and counts a page that they share once for each of them.
    Seconds of processors are the larger of two numbers too: those of the command and of the descendants that it has
    waited for, and those sampled of all, of which the last fifth of a second of each may be missing.
    """
    with tempfile.TemporaryFile("w+") as output, tempfile.TemporaryFile("w+") as errors:
        started = time.perf_counter()
        process = subprocess.Popen(command, cwd=directory, stdout=output, stderr=errors)
        sampler = _Sampler(process.pid)
        sampler.start()
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - started
        process.returncode = os.waitstatus_to_exitcode(status)
        sampler.stop()
        output.seek(0)
        errors.seek(0)
        if process.returncode:
            last_words = (errors.read() + output.read())[-2000:].strip()
            raise CommandFailed(f"{command[0]} exited with {process.returncode}: {last_words}")
        cpu_seconds = max(usage.ru_utime + usage.ru_stime, sum(sampler.cpu_seconds.values()))
        return Measured(output.read(), seconds, max(usage.ru_maxrss / 1024, sampler.peak / MIB), cpu_seconds)


class _Sampler(threading.Thread):
    """Keeps the largest resident memory, in bytes, of a process with its descendants, and what each has computed."""

    def __init__(self, root):
        super().__init__(daemon=True)
        self.peak, self.cpu_seconds = 0, {}
        self._root = root
        self._ended = threading.Event()

    def run(self):
        while not self._ended.wait(SAMPLE_SECONDS):
            processes = _processes(self._root)
            self.peak = max(self.peak, sum(resident for resident, _ in processes.values()))
            self.cpu_seconds |= {process: seconds for process, (_, seconds) in processes.items()}

    def stop(self):
        self._ended.set()
        self.join()


def _processes(root):
    """Resident memory in bytes and seconds of processors of ``root`` and of each of its descendants."""
    children, known = {}, {}
    for process in Path("/proc").glob("[0-9]*"):
        try:
            fields = (process / "stat").read_text().rpartition(")")[2].split()
        except OSError:  # it has ended since it was listed
            continue
        pid, parent, ticks, pages = (
            int(process.name),
            int(fields[1]),
            int(fields[11]) + int(fields[12]),
            int(fields[21]),
        )
        children.setdefault(parent, []).append(pid)
        known[pid] = pages * os.sysconf("SC_PAGE_SIZE"), ticks / os.sysconf("SC_CLK_TCK")
    found, waiting = {}, [root]
    while waiting:
        pid = waiting.pop()
        if pid in known:
            found[pid] = known[pid]
        waiting += children.get(pid, [])
    return found
