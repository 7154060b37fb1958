"""Reads a quorum's own log, `__cluster_metadata`: segments, and snapshots, of one or several of its nodes.

Source: org.apache.kafka.snapshot.Snapshots, 3.0 to 3.9; org.apache.kafka.common.record.ControlRecordType, 3.0 to 3.9.
"""

from __future__ import annotations

import gzip
import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from kafkaproof.checker.basics.errors import UserError
from kafkaproof.traces.groups.segments import Batch, Segment, Stored, read_segment
from kafkaproof.traces.migration.decoding import Metadata, Undecodable, decode

_SEGMENT = re.compile(r"(\d{20})\.log(\.gz)?")
_SNAPSHOT = re.compile(r"(\d{20})-(\d{10})\.checkpoint(\.gz)?")
_CONTROL, _LEADER = struct.Struct("!hh"), struct.Struct("!hi")
_LEADER_CHANGE = 2
_PLACES = ("", "*/", "*/*/", "*/*/*/")
BESIDE, NAME = "metadata", "__cluster_metadata-0"
"""The directory beside ZooKeeper's log in which metadata logs are looked for, and what each is called."""


class Entry(NamedTuple):
    """A metadata record where it stands: its offset, the epoch of the leader that wrote it, and the time in ms."""

    offset: int
    epoch: int
    time: int
    record: Metadata


class Leader(NamedTuple):
    """Who leads the quorum in an epoch, by the record with which it begins."""

    id: int
    epoch: int
    offset: int
    time: int


class Image(NamedTuple):
    """What a snapshot holds: all that is in force before the offset `end`."""

    path: Path
    end: int
    epoch: int
    records: tuple[Metadata, ...]


@dataclass
class MetadataLog:
    """One replica of a quorum's log: its records in order, the leaders by their epochs, and the snapshots.

    `problems`: what is imperfect but harmless; `damage`: where it cannot be read on, and why.
    """

    directory: Path
    entries: list[Entry] = field(default_factory=list)
    leaders: dict[int, Leader] = field(default_factory=dict)
    images: list[Image] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    damage: list[tuple[int, str]] = field(default_factory=list)
    begin: int = 0
    end: int = 0

    def epoch_at(self, offset: int) -> int | None:
        """The epoch of the record at an offset, None where it is not there."""
        ruling = [leader for leader in self.leaders.values() if leader.offset <= offset]
        return max(ruling, key=lambda each: each.offset).epoch if ruling and offset < self.end else None


def metadata_beside(directory: Path) -> Path | None:
    """The `metadata/` in a directory of ZooKeeper logs, or beside it; None where there is none."""
    for place in (directory / BESIDE, directory.resolve().parent / BESIDE):
        if place.is_dir() and any(_logs_in(place)):
            return place
    return None


def read_metadata(directory: Path) -> list[MetadataLog]:
    """The metadata logs below a directory, one of each quorum that there was, in the order of time.

    Of several replicas of one quorum's log the one counts that begins first, and of such the longest. Raises UserError
    where there is none.
    """
    if not directory.is_dir():
        raise UserError(f"--metadata-log {directory}: not a directory; give a controller's metadata.log.dir")
    found = [_read(place) for place in _logs_in(directory)]
    if not found:
        raise UserError(
            f"--metadata-log {directory}: no segment of __cluster_metadata here; give a controller's metadata.log.dir, or "
            "its __cluster_metadata-0"
        )
    kept: list[MetadataLog] = []
    for log in sorted(found, key=lambda each: (each.begin, -each.end)):
        if not any(_is_same_quorum(log, other) for other in kept):
            kept.append(log)
    return sorted(kept, key=lambda each: each.entries[0].time if each.entries else 0)


def _is_same_quorum(log: MetadataLog, other: MetadataLog) -> bool:
    """Whether two logs are replicas of one: they have some record in common."""
    one, another = ({(each.offset, each.epoch, each.time) for each in which.entries} for which in (log, other))
    return not one.isdisjoint(another)


def _logs_in(directory: Path) -> Iterator[Path]:
    """The directories of metadata logs: this one, or those that have their name below it."""
    places = [directory, *(each for depth in _PLACES for each in sorted(directory.glob(f"{depth}{NAME}")))]
    for place in places:
        if place.is_dir() and any(_SEGMENT.fullmatch(file.name) for file in place.iterdir()):
            yield place


def _read(directory: Path) -> MetadataLog:
    log = MetadataLog(directory)
    files = sorted(file for file in directory.iterdir() if _SEGMENT.fullmatch(file.name))
    log.begin = log.end = int(files[0].name[:20])
    for file in files:
        if (offset := int(file.name[:20])) != log.end:
            log.damage.append((log.end, f"{file}: it begins with offset {offset}, and {log.end} comes next"))
            break
        segment = _segment(file)
        for batch in segment.batches:
            _add(log, batch)
        if segment.torn:
            log.problems.append(segment.torn[1])
        if segment.damage:
            log.damage.append(segment.damage)
            break
    for file in sorted(file for file in directory.iterdir() if _SNAPSHOT.fullmatch(file.name)):
        if image := _image(log, file):
            log.images.append(image)
    return log


def _segment(file: Path) -> Segment:
    """A segment or a snapshot, which may be compressed."""
    if file.suffix != ".gz":
        return read_segment(file)
    with TemporaryDirectory(prefix="kafkaproof-metadata-") as place:
        plain = Path(place) / file.stem
        try:
            plain.write_bytes(gzip.decompress(file.read_bytes()))
        except (OSError, EOFError) as error:
            raise UserError(f"{file}: cannot be read: {error}") from None
        found = read_segment(plain)
        told = (each and (each[0], each[1].replace(str(plain), str(file))) for each in (found.torn, found.damage))
        return Segment(file, found.batches, *told)


def _add(log: MetadataLog, batch: Batch) -> None:
    """Take a batch in; what cannot be decoded ends the log."""
    if log.damage:
        return
    if batch.base != log.end:
        log.damage.append((log.end, f"{batch.segment}: offset {batch.base} follows, and {log.end} comes next"))
        return
    epoch = batch.epoch or 0
    for stored in batch.records:
        if batch.commits is not None:
            if leads := _leader_in(stored):
                log.leaders[epoch] = Leader(leads[1], epoch, stored.offset, stored.time)
            continue
        try:
            log.entries.append(Entry(stored.offset, epoch, stored.time, decode(stored.value or b"")))
        except Undecodable as error:
            log.damage.append((stored.offset, f"{batch.segment}: offset {stored.offset}: {error}"))
            return
    log.end = batch.last + 1


def _leader_in(stored: Stored) -> tuple[int, int] | None:
    """The version and the leader of a record by which an epoch begins; None for another control record."""
    key, value = stored.key or b"", stored.value or b""
    if len(key) < _CONTROL.size or len(value) < _LEADER.size or _CONTROL.unpack_from(key)[1] != _LEADER_CHANGE:
        return None
    version, leader = _LEADER.unpack_from(value)
    return version, leader


def _image(log: MetadataLog, file: Path) -> Image | None:
    """A snapshot; None, and a problem, where it cannot be read."""
    segment = _segment(file)
    try:
        records = [decode(r.value or b"") for batch in segment.batches if batch.commits is None for r in batch.records]
    except Undecodable as error:
        log.problems.append(f"{file}: {error}; use another snapshot")
        return None
    if segment.torn or segment.damage:
        log.problems.append((segment.torn or segment.damage or (0, ""))[1])
        return None
    return Image(file, int(file.name[:20]), int(file.name[21:31]), tuple(records))
