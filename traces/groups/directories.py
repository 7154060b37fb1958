"""Finds the `__consumer_offsets` partitions of brokers in a directory."""

from __future__ import annotations

import re
from pathlib import Path

from kafkaproof.checker.basics.errors import UserError

TOPIC = "__consumer_offsets"
_PARTITION = re.compile(rf"{TOPIC}-(\d+)")
_SEGMENT = re.compile(r"\d{20}\.log")
_BESIDE = "consumer-offsets"


def has_partitions(directory: Path) -> bool:
    """Whether there is any partition of the offsets topic in a directory, as `partitions_in` looks for it."""
    return any(True for _ in _found(directory))


def beside(directory: Path) -> Path | None:
    """The `consumer-offsets/` in a directory of ZooKeeper logs, or beside it; None where there is none."""
    for place in (directory / _BESIDE, directory.resolve().parent / _BESIDE):
        if place.is_dir() and has_partitions(place):
            return place
    return None


def partitions_in(directory: Path) -> dict[int, dict[str, list[Path]]]:
    """The segment files in order, by partition and broker.

    The directory is that of one partition, a broker's log.dir, or it has a directory for each broker, which is a
    log.dir or has several. Raises UserError when there is none, or no segment in any.
    """
    found: dict[int, dict[str, list[Path]]] = {}
    try:
        for broker, partition in _found(directory):
            number = int(partition.name.rpartition("-")[2])
            files = sorted(file for file in partition.iterdir() if _SEGMENT.fullmatch(file.name))
            found.setdefault(number, {}).setdefault(broker, []).extend(files)
    except OSError as error:
        raise UserError(f"{error.filename}: cannot be read: {error.strerror}") from None
    if not found:
        raise UserError(
            f"{directory}: no {TOPIC}-N here; give a broker's log.dir, or a directory with a directory for "
            "each broker that has its partitions"
        )
    if not any(files for brokers in found.values() for files in brokers.values()):
        raise UserError(
            f"{directory}: no segment in any {TOPIC}-N; copy the *.log files under the names that the broker gave them"
        )
    return dict(sorted(found.items()))


def _found(directory):
    """Broker and directory of each partition."""
    if _PARTITION.fullmatch(directory.name) and directory.is_dir():
        yield directory.resolve().parent.name, directory
        return
    for depth in ("", "*/", "*/*/"):
        for partition in sorted(directory.glob(f"{depth}{TOPIC}-*")):
            if _PARTITION.fullmatch(partition.name) and partition.is_dir():
                below = partition.relative_to(directory).parts
                yield below[0] if len(below) > 1 else directory.resolve().name, partition
