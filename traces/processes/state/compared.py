"""What is compared of a broker with what its process recorded: the fields of its records, and their hash.

Both are kept until something is written to a record.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple

from kafkaproof.spec.language.digest import fields_of, hash_of, text_of
from kafkaproof.spec.language.plain import Plain
from kafkaproof.traces.processes.state.verdicts import PLANES
from kafkaproof.traces.processes.state.watched import Path


class Compared(NamedTuple):
    """A record: its name, the record, and what makes the chain of its log, if it has one."""

    name: str
    record: Plain
    chains: tuple[Callable[[object], str], ...] = ()


class Records:
    """The records of one broker; `records` has them by their part and their path there."""

    def __init__(self, records: Mapping[tuple[str, Path], Compared]):
        self._all = self._records = dict(records)
        self._kept: dict[tuple[str, Path], tuple[dict[str, int | str], str]] = {}

    def show(self, partitions: int) -> None:
        """The process has records for so many partitions: only what it has is compared."""
        self._records = {
            (part, path): each
            for (part, path), each in self._all.items()
            if path[0] != PLANES or int(path[1]) < partitions
        }
        self._kept.clear()

    def forget(self, part: str, written: Iterable[Path]) -> None:
        """Something was written to a part."""
        for path in written:
            for end in (2, 4):
                self._kept.pop((part, path[:end]), None)

    def _known(self) -> Iterator[tuple[dict[str, int | str], str]]:
        for place, (name, record, chains) in self._records.items():
            if place not in self._kept:
                fields = fields_of({name: record}, chains)
                self._kept[place] = fields, text_of(fields.values())
            yield self._kept[place]

    def digest(self) -> str:
        """The hash of all of them."""
        return hash_of(text for _, text in self._known())

    def fields(self) -> Mapping[str, int | str]:
        """Field by field."""
        return ChainMap(*(fields for fields, _ in self._known()))
