"""Processes as /proc shows them, for tests that see to it that none is left."""

import os
import time
from pathlib import Path


def children(parent: int) -> list[int]:
    """All descendants of a process."""
    parents = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue
        if fields[0] != "Z":
            parents.setdefault(int(fields[1]), []).append(int(stat.parent.name))
    found, waiting = [], [parent]
    while waiting:
        for child in parents.get(waiting.pop(), ()):
            found.append(child)
            waiting.append(child)
    return found


def alive(process: int) -> bool:
    """Whether a process is there, and no zombie."""
    try:
        os.kill(process, 0)
        return Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def all_end(processes: list[int], seconds: float = 120) -> bool:
    """Whether all processes end within a time."""
    until = time.monotonic() + seconds
    while any(map(alive, processes)):
        if time.monotonic() > until:
            return False
        time.sleep(0.05)
    return True
