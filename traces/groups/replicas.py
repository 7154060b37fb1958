"""Holds the replicas of one partition to each other, and merges them into the log that they are replicas of.

What they hold at one offset is the same batch of the same leader; leader epochs never fall; no offset is left out but
by the cleaner, which keeps away from the last segment. A tail of an older leader, which its replica has not truncated
yet, is told and left out.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from kafkaproof.spec.kafka.offset_values import Key, read_key
from kafkaproof.traces.groups.segments import Batch, Stored, read_segment


class Divergence(NamedTuple):
    """Where something is that nothing explains: `group` is None where replicas or batches are meant."""

    segment: Path
    partition: int
    offset: int
    reason: str
    group: str | None = None

    def as_json(self) -> dict:
        """The divergence as `replay --json` prints it."""
        return {
            "segment": str(self.segment),
            "partition": self.partition,
            "offset": self.offset,
            "group": self.group,
            "reason": self.reason,
        }


class Entry(NamedTuple):
    """A record of the log with the batch that it came in; `gap`: records may be missing right before it."""

    record: Stored
    batch: Batch
    gap: bool

    @property
    def key(self) -> Key | None:
        """Whose record it is; None of markers, of what is of no group, and of what cannot be read."""
        try:
            return read_key(self.record.key or b"") if self.batch.commits is None else None
        except ValueError:
            return None


@dataclass
class Replica:
    """What one broker has of a partition: batches in the order of its files; `last` is its last segment."""

    broker: str
    batches: list[Batch] = field(default_factory=list)
    last: Path | None = None
    damage: Divergence | None = None
    problems: list[str] = field(default_factory=list)

    def __post_init__(self):
        self.at: dict[int, tuple[Stored | None, Batch]] = {}

    @property
    def end(self) -> int:
        """The offset after the last one, 0 when it is empty."""
        return self.batches[-1].last + 1 if self.batches else 0

    @property
    def rank(self) -> tuple[int, int]:
        """Leader epoch of the last batch, and the end: who has the most is the one to be compared with."""
        return (-1 if not self.batches or self.batches[-1].epoch is None else self.batches[-1].epoch, self.end)


@dataclass
class Log:
    """A partition: its records in order, how its replicas differ, and what is told of them."""

    partition: int
    replicas: list[Replica]
    entries: list[Entry] = field(default_factory=list)
    divergence: Divergence | None = None
    problems: list[str] = field(default_factory=list)

    @property
    def epochs(self) -> list[int]:
        """The leader epochs in its batches, in order."""
        return list(dict.fromkeys(e.batch.epoch for e in self.entries if e.batch.epoch is not None))

    @property
    def damage(self) -> list[Divergence]:
        """Where replicas cannot be read on."""
        return [replica.damage for replica in self.replicas if replica.damage]


def read_log(partition: int, files: dict[str, list[Path]]) -> Log:
    """Read and compare the replicas of a partition; raises UserError for a file that cannot be opened."""
    log = Log(partition, [_read(partition, broker, paths) for broker, paths in files.items()])
    disorder = {replica.broker: _disorder(partition, replica) for replica in log.replicas}
    found = [d for d in disorder.values() if d]
    order = sorted(log.replicas, key=lambda replica: replica.rank, reverse=True)
    for replica in order:
        replica.at = _by_offset(replica)
    found += [d for d in (_compare(partition, order, replica) for replica in order[1:]) if d]
    found += [d for d in (_gaps(partition, r, order) for r in order if not disorder[r.broker]) if d]
    log.divergence = min(found, key=lambda d: d.offset, default=None)
    log.entries = _merged(order, log.divergence)
    log.problems = [problem for replica in log.replicas for problem in replica.problems]
    return log


def _read(partition, broker, paths):
    replica = Replica(broker, last=paths[-1] if paths else None)
    for path in paths:
        segment = read_segment(path)
        replica.batches += segment.batches
        if segment.torn and path == replica.last:
            replica.problems.append(segment.torn[1])
        elif segment.torn or segment.damage:
            offset, why = segment.damage or segment.torn
            replica.damage = Divergence(path, partition, offset, why)
            break
    return replica


def _disorder(partition, replica):
    """The first batch whose offset or leader epoch is below that of the one before."""
    for before, batch in zip(replica.batches, replica.batches[1:]):
        if batch.base <= before.last:
            return Divergence(
                batch.segment,
                partition,
                batch.base,
                f"offset {batch.base} stands behind offset {before.last}: batches are out of order",
            )
        if batch.epoch is not None and before.epoch is not None and batch.epoch < before.epoch:
            return Divergence(
                batch.segment,
                partition,
                batch.base,
                f"the leader epoch falls from {before.epoch} to {batch.epoch}: a leader stamps its own",
            )
    return None


def _by_offset(replica):
    return {record.offset: (record, batch) for batch in replica.batches for record in batch.records}


def _compare(partition, order, replica):
    """The first offset at which a replica holds something else than the one that has most; a stale tail is cut off."""
    best = order[0]
    for offset, (record, batch) in replica.at.items():
        if offset not in best.at or _same(record, batch, *best.at[offset]):
            continue
        newest = best.at[offset][1].epoch
        if newest is not None and replica.rank[0] < newest:
            replica.problems.append(
                f"{batch.segment}: offset {offset} and what follows is of leader epoch {batch.epoch}, and was replaced "
                f"in epoch {newest}: not truncated yet, and left out"
            )
            replica.batches = [b for b in replica.batches if b.last < offset]
            replica.at = _by_offset(replica)
            return None
        return _difference(partition, order, replica, offset)
    return None


def _same(record, batch, other, its):
    if record != other or batch.epoch != its.epoch or batch.magic != its.magic:
        return False
    return batch.crc == its.crc or not _whole(batch) or not _whole(its)


def _whole(batch):
    return len(batch.records) == batch.last - batch.base + 1


def _difference(partition, order, replica, offset):
    """Of replicas that differ, the one is named that stands alone; of two the one that has less."""
    held = {r.broker: (r.at[offset][0], r.at[offset][1].epoch, r.at[offset][1].crc) for r in order if offset in r.at}
    votes = Counter(held.values())
    odd = next((r for r in order if r.broker in held and len(held) > 2 and votes[held[r.broker]] == 1), replica)
    other = next(r for r in order if r.broker in held and held[r.broker] != held[odd.broker])
    batch, its = odd.at[offset][1], other.at[offset][1]
    return Divergence(
        batch.segment,
        partition,
        batch.base,
        f"{odd.broker} has another batch at offset {offset} than {other.broker}: leader epoch "
        f"{batch.epoch} and checksum {batch.crc:#010x}, and not {its.epoch} and {its.crc:#010x} as in "
        f"{its.segment}",
    )


def _gaps(partition, replica, order):
    """The first offset that is missing in the last segment of a replica, which the cleaner leaves alone.

    Unless a closed segment of another replica lacks it too: then it was copied from there.
    """
    cleaned = set().union(*(_cleaned_at(r) for r in order if r is not replica))
    for before, batch in zip([None, *replica.batches], replica.batches):
        missing = list(range(before.last + 1, batch.base)) if before else []
        held = {record.offset for record in batch.records}
        missing += [o for o in range(batch.base, batch.last + 1) if o not in held and batch.records]
        if not missing or batch.segment != replica.last or before and before.segment != replica.last:
            continue
        for offset in missing:
            having = next((r for r in order if offset in r.at), None)
            if having or offset not in cleaned:
                where = f"{having.broker} has it" if having else "no replica has it"
                return Divergence(
                    batch.segment,
                    partition,
                    offset,
                    f"{replica.broker} has nothing at offset {offset}, in its last segment, which is not "
                    f"compacted; {where}",
                )
    return None


def _cleaned_at(replica):
    """The offsets that the cleaner may have taken: all that closed segments lack."""
    closed = [batch for batch in replica.batches if batch.segment != replica.last]
    if not closed:
        return set()
    present = {record.offset for batch in closed for record in batch.records}
    return set(range(closed[0].base, closed[-1].last + 1)) - present


def _merged(order, divergence):
    """All records that any replica has, up to where they differ."""
    held: dict[int, tuple[Stored, Batch]] = {}
    for replica in reversed(order):
        held |= replica.at
    entries, expected = [], 0
    for offset in sorted(held):
        if divergence and offset >= divergence.offset:
            break
        record, batch = held[offset]
        entries.append(Entry(record, batch, offset != expected))
        expected = offset + 1
    return entries
