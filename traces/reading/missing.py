"""Tells which records are missing in a log: inside an epoch zxids count up one by one, and snapshots tell of others."""

from collections.abc import Sequence
from math import inf
from pathlib import Path
from typing import NamedTuple

from kafkaproof.traces.reading.files import snapshot_files, zxid_of
from kafkaproof.traces.zookeeper.snapshot import read_snapshot
from kafkaproof.traces.zookeeper.transactions import LogError


class Missing(NamedTuple):
    """Records from one zxid to another that are not there; `following`: the next one that is, None where it is the end."""

    first: int
    last: int
    following: int | None

    @property
    def text(self) -> str:
        """Which records they are, in words."""
        return f"records {self.first:#x} to {self.last:#x} are missing"

    def told(self, directory: Path) -> str:
        """What is missing in a directory, and where to get it, in a line."""
        ahead = f"a snapshot is ahead of the log, which ends at {self.first - 1:#x}"
        where = ahead if self.following is None else "gap"
        return f"{directory}: {where}: {self.text}; take them from another server of the ensemble"


def missing_between(directory: Path, last: int, following: int) -> Missing | None:
    """The records that are missing between two; how far an epoch went before the next began only a snapshot tells."""
    if not follows(last, following):
        return Missing(_next(last, following), following - 1, following)
    return None if following == last + 1 else missing_behind(snapshot_files(directory), last, following)


def missing_behind(snapshots: Sequence[Path], last: int, following: int | None = None) -> Missing | None:
    """The records behind the last one of an epoch, or of all, that a snapshot holds.

    A snapshot is of what is in the log already; but a server that has got one from its leader has not the records before
    it.
    """
    end = inf if following is None else following
    newest = max((_newest_in(file) for file in snapshots if last < zxid_of(file) < end), default=last)
    return Missing(last + 1, newest, following) if newest > last else None


def _newest_in(snapshot: Path) -> int:
    """The zxid of the newest record that a snapshot surely holds.

    That in its name, but for a new epoch, in which there may be no record yet: then what its znodes tell.
    """
    zxid = zxid_of(snapshot)
    if zxid & 0xFFFFFFFF:
        return zxid
    try:
        nodes = read_snapshot(snapshot).nodes.values()
    except LogError:
        return 0
    return max((each for node in nodes for each in (node.czxid, node.mzxid, node.pzxid) if each < zxid), default=0)


def follows(zxid: int, following: int) -> bool:
    """Whether no record is between two: inside an epoch zxids count up from 1, one by one."""
    return following == _next(zxid, following)


def _next(zxid: int, following: int) -> int:
    epoch = following >> 32
    return zxid + 1 if epoch == zxid >> 32 else (epoch << 32) + 1
