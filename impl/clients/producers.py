"""Idempotent producers: whether a batch is the next, a duplicate, or out of order.

What a broker knows of producers is read from its log, and follows it: before a batch is judged, what was appended since is
noted, and after a truncation all is read anew. The rules are those of `kafkaproof.spec.replica.producing.sequences`.
"""

from __future__ import annotations

from kafkaproof.impl.seams.storage.log import FileLog
from kafkaproof.spec.kafka.zookeeper import OK
from kafkaproof.spec.language.plain import Plain, new_state
from kafkaproof.spec.protocol.batches import NO_PRODUCER, read_header
from kafkaproof.spec.replica.producing.sequences import (
    DUPLICATE,
    ENTRY,
    RETAINED,
    UNKNOWN,
    Verdict,
    judge,
    note,
    offset_of,
)

TAKEN, REPEATED = Verdict.names[OK], Verdict.names[DUPLICATE]
_MANY = 1 << 30
_SCOPE = {"bumps": _MANY, "records": _MANY, "log": _MANY, "in_flight": RETAINED}


class Producers:
    """What one log says of producers."""

    def __init__(self, log: FileLog):
        self._log = log
        self._forget()

    def judge(self, data: bytes) -> tuple[str, int]:
        """How a leader answers a batch, by name, and its place: that of the first where it is a DUPLICATE, or the next."""
        batch = read_header(data).producer
        if batch.id == NO_PRODUCER:
            return TAKEN, self._log.length
        self._follow()
        entry = self._entry(batch.id)
        verdict = judge(entry, batch.epoch, batch.first, batch.last)
        return Verdict.names[verdict], offset_of(entry, batch.first) if verdict == DUPLICATE else self._log.length

    def _forget(self) -> None:
        self._entries: dict[int, Plain] = {}
        self._end, self._chain = 0, ""

    def _follow(self) -> None:
        """Know what the log says now."""
        slots = self._log.slots
        if self._end and (self._end > len(slots) or slots[self._end - 1].chain != self._chain):
            self._forget()
        for place in range(self._end, len(slots)):
            batch = slots[place].producer
            if batch.id != NO_PRODUCER:
                note(self._entry(batch.id), batch.epoch, batch.first, batch.last, place)
        if slots:
            self._end, self._chain = len(slots), slots[-1].chain

    def _entry(self, id: int) -> Plain:
        if id not in self._entries:
            entry = self._entries[id] = new_state(ENTRY, _SCOPE)
            entry.epoch = UNKNOWN
        return self._entries[id]
