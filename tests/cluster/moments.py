"""Moments of a run that goes on in another process, told by what it has written; and who its processes are."""

import json
import time
from pathlib import Path

PATIENCE = 240.0
KIP320 = ("kip320", 3, 2, 2, 2)
COUNTS = (737_794, 1_967_560, 26, "holds")
SMALLER = ("kip320", 3, 2, 2, 1)
SMALLER_COUNTS = (39_619, 104_488, 22, "holds")
SPREAD = 3_000
"""From a level of so many states on, the smaller scope is explored on Spark: half of its levels are."""


def levels(run: Path) -> list[dict]:
    """The complete levels of a run."""
    return [json.loads(path.read_text()) for path in sorted(run.glob("level-*/level.json"))]


def on_spark(run: Path) -> int:
    """How many complete levels Spark has done."""
    return sum(level["parts"][0]["partition"] is not None for level in levels(run))


def wait_until(condition, process=None) -> None:
    """Wait for `condition`; fails when it takes too long, or when `process` ends before."""
    end = time.monotonic() + PATIENCE
    while not condition():
        assert process is None or process.poll() is None, f"ended too early: {process.communicate()}"
        assert time.monotonic() < end, "waited too long"
        time.sleep(0.005)


def children(pid: int) -> list[int]:
    """The processes whose parent is `pid`."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            if int(stat.read_text().rpartition(")")[2].split()[1]) == pid:
                found.append(int(stat.parent.name))
        except OSError:  # it has ended meanwhile
            continue
    return found


def family(pid: int) -> set[int]:
    """A process and all that it started, directly or not."""
    return {pid}.union(*map(family, children(pid)))


def command_of(pid: int) -> str:
    """The command line of a process; empty when it has ended."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_text().replace("\0", " ")
    except OSError:
        return ""
