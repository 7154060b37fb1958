"""Follows all groups of a cluster through the segments of its offsets partitions."""

from __future__ import annotations

import struct
from collections import Counter
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import groupby
from pathlib import Path

from kafkaproof.spec.kafka.offset_values import GroupValue, OffsetValue, read_key, read_value
from kafkaproof.traces.basics.verdicts import BAD_INPUT, CONFORMS, DIVERGES, UNDECIDED
from kafkaproof.traces.groups.directories import partitions_in
from kafkaproof.traces.groups.group import Group, Undecided, Unexplained
from kafkaproof.traces.groups.machine import CURRENT, LOCKED, UNLOCKED, Machine, machine_of
from kafkaproof.traces.groups.numbers import subscribes
from kafkaproof.traces.groups.offsets_topic import Known
from kafkaproof.traces.groups.placement import misplaced
from kafkaproof.traces.groups.properties import Properties
from kafkaproof.traces.groups.redacted import redacted_entry
from kafkaproof.traces.groups.replicas import Divergence, Entry, Log, read_log
from kafkaproof.traces.redaction import Redactor

MARKER, UNREADABLE = "marker", "unreadable"
_key = lru_cache(maxsize=100_000)(read_key)


@dataclass
class Followed:
    """A group with its partition, and why it was not followed to the end, if so."""

    group: Group
    partition: int
    divergence: Divergence | None = None
    undecided: str | None = None

    @property
    def verdict(self) -> str:
        """What is known of it."""
        return DIVERGES if self.divergence else UNDECIDED if self.undecided else CONFORMS


@dataclass
class Groups:
    """All that was found in a directory of segments."""

    directory: Path
    machine: Machine
    logs: list[Log]
    followed: list[Followed] = field(default_factory=list)
    divergences: list[Divergence] = field(default_factory=list)
    damage: list[Divergence] = field(default_factory=list)
    kinds: Counter = field(default_factory=Counter)
    properties: Properties = field(default_factory=Properties)

    @property
    def verdict(self) -> str:
        """The answer: damage first, then what diverges, then what is undecided."""
        if self.damage:
            return BAD_INPUT
        if self.divergences:
            return DIVERGES
        return UNDECIDED if any(f.undecided for f in self.followed) else CONFORMS

    @property
    def problems(self) -> list[str]:
        """What is told, and is no failure."""
        return [problem for log in self.logs for problem in log.problems]


def replay_groups(
    directory: Path, known: Known | None = None, redactor: Redactor | None = None, replacements: dict | None = None
) -> Groups:
    """Follow the groups in the segments of a directory; raises UserError when there are none.

    `known` is what a log of ZooKeeper tells; with a `redactor` nothing but its pseudonyms leaves this function, those
    of `known` among them; `replacements` are mistakes in the specification that a test makes.
    """
    logs = [read_log(number, files) for number, files in partitions_in(directory).items()]
    strange = [misplaced(log, known) for log in logs]
    if redactor:
        for log in logs:
            log.entries = [redacted_entry(redactor, entry) for entry in log.entries]
        strange = [[d._replace(group=redactor.name("group", d.group or "")) for d in found] for found in strange]
    variant = variant_of(logs)
    groups = Groups(directory, Machine(variant, replacements) if replacements else machine_of(variant), logs)
    for log, found in zip(logs, strange):
        groups.damage += log.damage
        if log.divergence:
            groups.divergences.append(log.divergence)
        _Partition(groups, log, known, found).follow()
    groups.followed.sort(key=lambda f: f.group.name)
    return groups


def variant_of(logs: list[Log]) -> str:
    """The variant of *group* whose records these are: by the newest version of a value, and the magic of batches.

    Records of 0.11 to 2.0 are alike, and so is what `locked` and `gated` do to them.
    """
    versions, magic = {None: -1, "group": -1}, 0
    for log in logs:
        for record, batch, _ in log.entries:
            magic = max(magic, batch.magic)
            if record.value and record.key and batch.commits is None and len(record.value) > 1 and len(record.key) > 1:
                kind = "group" if record.key[:2] == b"\0\2" else None
                versions[kind] = max(versions[kind], struct.unpack_from("!h", record.value)[0])
    group, offset = versions["group"], versions[None]
    if group >= 2 or group < 0 and offset not in (0, 1) and magic == 2:
        return CURRENT
    return LOCKED if magic == 2 else UNLOCKED


class _Partition:
    """The groups of one partition."""

    def __init__(self, groups: Groups, log: Log, known: Known | None, strange: list[Divergence]):
        self._groups, self._log, self._known = groups, log, known
        self._strange = {divergence.group: divergence for divergence in strange}
        self._found: dict[str, Followed] = {}
        self._gap = False

    def follow(self) -> None:
        """Take the records in order: tombstones of one group in one batch together."""
        self._check_epochs()
        for (_, name, kind), found in groupby(map(self._decode, self._log.entries), key=lambda each: each[0]):
            records = [(entry, key, value) for _, entry, key, value in found]
            self._note_gaps(records)
            if kind == MARKER:
                self._end_transactions(records[0][0].batch)
            elif kind == UNREADABLE:
                self._note_damage(*records[0][:2])
            elif name is not None:
                self._take(name, records)
            else:
                self._groups.kinds["of other kinds"] += 1
        self._groups.followed += self._found.values()

    def _check_epochs(self):
        for entry in self._log.entries if self._known else ():
            epoch = entry.batch.epoch
            if epoch is not None and self._known.misses(self._log.partition, epoch):
                self._diverge(
                    None,
                    entry,
                    f"leader epoch {epoch} was never written to the state of the partition, "
                    f"__consumer_offsets-{self._log.partition}",
                )
                return

    def _decode(self, entry: Entry):
        """What belongs together: (batch of tombstones or record, group, kind), then the record, its key and value."""
        record, batch, _ = entry
        if batch.commits is not None:
            return (record.offset, None, MARKER), entry, None, None
        try:
            key = _key(record.key or b"")
            value = read_value(key, record.value) if key else None
        except ValueError as error:
            return (record.offset, None, UNREADABLE), entry, error, None
        if key is None:
            return (record.offset, None, None), entry, None, None
        together = batch.base if batch.magic == 2 else batch.magic - 2
        return (together if value is None else -3 - record.offset, key.group, value is None), entry, key, value

    def _note_gaps(self, records):
        if any(entry.gap for entry, _, _ in records):
            self._gap = True
            for followed in self._found.values():
                followed.group.unknown = True

    def _end_transactions(self, batch):
        self._groups.kinds["markers"] += 1
        for followed in self._found.values():
            followed.group.end_transaction(batch.producer, batch.commits)

    def _note_damage(self, entry: Entry, error: ValueError):
        segment, offset = entry.batch.segment, entry.record.offset
        why = f"{segment}: the record of offset {offset} cannot be read: {error}"
        self._groups.damage.append(Divergence(segment, self._log.partition, offset, why))

    def _take(self, name, found):
        entry, key, value = found[0]
        if name not in self._found:
            self._found[name] = Followed(Group(name, unknown=self._gap), self._log.partition, self._strange.get(name))
            self._groups.divergences += [self._strange[name]] if name in self._strange else []
        followed = self._found[name]
        self._count(found)
        if followed.divergence:
            return
        try:
            if value is None:
                self._take_tombstones(followed.group, found)
            elif key.place is None:
                self._take_group(followed.group, entry, value)
            else:
                producer = entry.batch.producer if entry.batch.transactional else -1
                followed.group.take_offset(self._groups.machine, key.place, value, producer)
        except Unexplained as why:
            followed.divergence = self._diverge(name, entry, str(why))
        except Undecided as why:
            followed.undecided = followed.undecided or f"offset {entry.record.offset}: {why}"
            if value is not None:
                followed.group.keep(value, entry.record.offset, entry.record.time, entry.batch.epoch)

    def _take_group(self, group: Group, entry: Entry, value: GroupValue):
        before = None if group.unknown else group.value
        self._groups.properties.ask_group(before, value, entry.batch.segment, entry.record.offset, group.name)
        group.take_group(self._groups.machine, value, entry.record.offset, entry.record.time, entry.batch.epoch)

    def _take_tombstones(self, group: Group, found):
        places = [key.place for _, key, _ in found if key.place]
        entry, batch = found[0][0], found[0][0].batch
        whole = not self._gap and (batch.magic < 2 or len(batch.records) == batch.last - batch.base + 1)
        value = group.value
        time, dies = found[-1][0].record.time, len(places) < len(found)
        way = group.take_tombstones(self._groups.machine, places, dies, time, self._known, whole)
        running = bool(value and value.members)
        for place in places if running and whole else ():
            broken = way == "expired" and subscribes(value, place[0])
            group.counts["expired while subscribed"] += broken
            if self._groups.machine.variant == CURRENT:
                self._groups.properties.found["G16"].ask(not broken, batch.segment, entry.record.offset, group.name)

    def _count(self, found):
        for _, key, value in found:
            what = "groups" if key.place is None else "offsets"
            self._groups.kinds[f"tombstones of {what}" if value is None else what] += 1

    def _diverge(self, group, entry: Entry, reason: str) -> Divergence:
        divergence = Divergence(entry.batch.segment, self._log.partition, entry.record.offset, reason, group)
        self._groups.divergences.append(divergence)
        return divergence


def kind_of(value: GroupValue | OffsetValue | None) -> str:
    """The state that a group's record stands for."""
    if value is None:
        return "no record"
    return "Stable" if isinstance(value, GroupValue) and value.members else "Empty"
