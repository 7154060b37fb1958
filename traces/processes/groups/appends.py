"""What groups append to the offsets partition: each batch is the record that a step appends, and is in the log."""

from __future__ import annotations

from collections.abc import Mapping

from kafkaproof.spec.group.coordinator import MEMBER
from kafkaproof.spec.group.records import GROUP_RECORD, GROUP_TOMBSTONE, OFFSET_RECORD
from kafkaproof.spec.group.sorts import NOWHERE
from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.spec.language.plain import Plain
from kafkaproof.traces.processes.groups.group import Group
from kafkaproof.traces.processes.groups.storage import OffsetsLog
from kafkaproof.traces.processes.recorded.group_lines import Asked, GroupLine
from kafkaproof.traces.processes.recorded.offset_records import Entry, Tombstone
from kafkaproof.traces.processes.state.result import Divergence

COMPARED = ("kind", "generation", "leader", "protocol", "topic", "members", "instances")
"""What is compared of a group's record, beside the assignment."""


class Appends:
    """The appends of the groups of one process; `log` is the offsets partition there, `batches` what batches say."""

    def __init__(self, log: OffsetsLog, batches: Mapping[int, tuple[Entry, ...]]):
        self._log, self._batches = log, batches

    def hold(self, group: Group, line: GroupLine, produced: int | None) -> None:
        """Hold the batch that was appended to the record that the step appends; raises Divergence.

        `produced` is the id of the batch that went into the log right before, None for none.
        """
        written = group.storage.written
        if written is None or line.append is None:
            if line.append or produced is not None:
                raise Divergence("it appended a batch; in the specification it appends none")
            return
        place, id = line.append
        takes = self._log.leads() and not self._log.lacks_replicas()
        if (place != NOWHERE) != takes:
            raise Divergence(
                f"its place is {place}, and the log of broker {line.process.split('.')[0]} "
                f"{'takes' if takes else 'refuses'} it"
            )
        if produced != (None if place == NOWHERE else id):
            raise Divergence(f"it appended batch {id}, and in the log went {produced}")
        if place != NOWHERE and (place, id) != (self._log.length - 1, self._log.id(self._log.length - 1)):
            raise Divergence(f"batch {id} is not at place {place} of the offsets partition")
        if id not in self._batches:
            raise Divergence(f"what batch {id} says was never recorded")
        if text := self._differs(group, self._batches[id], written, line.asked):
            raise Divergence(text)

    def _differs(self, group, entries, written: Plain, asked: Asked | None) -> str | None:
        """In what a batch is not the record that the step appends, None for nothing."""
        if not entries or any(entry.group != group.name for entry in entries):
            return "the batch that it appended is not of this group"
        members = group.record.group.members
        numbers = {name: n for n, name in group.names.items() if members[n].status == MEMBER}
        found = group.as_record(entries, numbers)
        if found.kind != written.kind:
            return "the batch that it appended is of another kind"
        if written.kind == GROUP_RECORD:
            for name in (*COMPARED, *(["owner"] if found.owner != NOBODY else [])):
                if getattr(found, name) != getattr(written, name):
                    return (
                        f"{name} of the batch that it appended is {getattr(found, name)}; in the specification "
                        f"{getattr(written, name)}"
                    )
        elif written.kind != OFFSET_RECORD:
            buried = [entry.place for entry in entries if isinstance(entry, Tombstone) and entry.place]
            if sorted(buried) != sorted(group.doomed if written.kind != GROUP_TOMBSTONE else ()):
                return "the tombstones that it appended are of other offsets than the group had"
        elif asked is None or sorted((e.topic, e.partition, e.offset) for e in entries) != sorted(asked.offsets):
            return "the batch that it appended has other offsets than were asked for"
        return None

    def note(self, group: Group, line: GroupLine, acked: set[int]) -> int:
        """Remember an append until it is decided; its place, -1 for none."""
        written = group.storage.written
        if line.append is None or line.append[0] == NOWHERE or written is None:
            return NOWHERE
        place, id = line.append
        group.storage.outcomes.pop(place, None)
        group.storage.undecided[place] = id
        group.entries.append(place)
        group.owners[id] = written.owner
        group.storage.settle(acked)
        return place
