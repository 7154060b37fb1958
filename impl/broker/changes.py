"""What steps change in the records of a process: only what was written is looked at, each record of an array by itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import groupby
from typing import NamedTuple

from kafkaproof.impl.broker.record import writes_of
from kafkaproof.spec.language.digest import LEFT_OUT, fields_of, hash_of, text_of
from kafkaproof.spec.language.plain import Plain, gather

Value = int | str


class _Field(NamedTuple):
    """A field without records in it, and the record that is told of what is written to it."""

    told: Plain
    of: Plain
    name: str


def _fields(record: Plain, told: Plain) -> Iterator[_Field]:
    """The fields that are compared, in the order in which they are hashed."""
    for name in record.__slots__:
        if name not in LEFT_OUT:
            value = getattr(record, name)
            if isinstance(value, Plain):
                yield from _fields(value, told)
            elif isinstance(value, list) and value and isinstance(value[0], Plain):
                for element in value:
                    yield from _fields(element, element)
            else:
                yield _Field(told, record, name)


class _Looked:
    """Fields of a record that stand beside each other, as they were when they were looked at last."""

    def __init__(self, told: Plain, fields: list[_Field]):
        self._told, self._fields = told, fields
        self.names: list[str] = []
        self.look()

    def look(self) -> None:
        """Look at them now."""
        self.values = self._present()
        self.text = text_of(self.values)

    def _present(self) -> list[Value]:
        found: list[int] = []
        for _, record, name in self._fields:
            gather(getattr(record, name), found)
        return list(found)

    @property
    def is_written(self) -> bool:
        """Whether something was written to the record."""
        return bool(writes_of(self._told))

    def clear(self) -> None:
        """What was written has been looked at."""
        writes_of(self._told).clear()


class _LookedLog:
    """The log of a record, which counts by its chain."""

    def __init__(self, record: Plain):
        self._log = record.log
        self.names: list[str] = []
        self.look()

    def look(self) -> None:
        """Look at it now."""
        self.text = self._log.chain
        self.values: list[Value] = [self.text]

    @property
    def is_written(self) -> bool:
        """Whether the log is another."""
        return self._log.chain != self.values[0]

    def clear(self) -> None:
        """Nothing is kept of what was written."""


class _Record:
    """A record, in parts."""

    def __init__(self, name: str, record: Plain):
        self._name, self._record = name, record
        self._divide()

    def _divide(self) -> None:
        logs = [_LookedLog(self._record)] if hasattr(self._record, "log") else []
        together = groupby(_fields(self._record, self._record), key=lambda field: id(field.told))
        runs = [list(run) for _, run in together]
        self.parts: list[_Looked | _LookedLog] = [*logs, *(_Looked(run[0].told, run) for run in runs)]
        names = iter(fields_of({self._name: self._record}))
        for part in self.parts:
            part.names = [next(names) for _ in part.values]

    def lengthen(self) -> None:
        """Arrays have more elements; what has changed in the others is still to be told."""
        before = {name: value for part in self.parts for name, value in zip(part.names, part.values)}
        self._divide()
        for part in self.parts:
            part.values = [before.get(name, value) for name, value in zip(part.names, part.values)]

    def changed(self) -> dict[str, Value]:
        """The fields that have changed since the last call."""
        found = {}
        written = [part for part in self.parts if part.is_written]
        for part in written:
            before = part.values
            part.look()
            together = zip(part.names, before, part.values, strict=True)
            found |= {name: value for name, old, value in together if old != value}
        for part in written:
            part.clear()
        return found


class Changes:
    """Those of some records, by their names, and the hash of all."""

    def __init__(self, records: Mapping[str, Plain]):
        self._records = [_Record(name, record) for name, record in records.items()]
        self.take()

    def lengthen(self, more: Mapping[str, Plain]) -> None:
        """Arrays of the records have more elements, and there are more records."""
        for record in self._records:
            record.lengthen()
        self._records += [_Record(name, record) for name, record in more.items()]

    def take(self) -> dict[str, Value]:
        """The fields that have changed since the last call."""
        return {name: value for each in self._records for name, value in each.changed().items()}

    def state(self) -> str:
        """The hash of the records as they were at the last call of `take`."""
        return hash_of(part.text for each in self._records for part in each.parts if part.values)
