"""What steps change in the records of a process: only those that were written are looked at."""

from __future__ import annotations

from collections.abc import Mapping

from kafkaproof.impl.broker.record import writes_of
from kafkaproof.spec.language.digest import fields_of, hash_of, text_of, values_in
from kafkaproof.spec.language.plain import Plain


class _Looked:
    """A record as it was when it was looked at last; its log counts by its chain."""

    def __init__(self, name: str, record: Plain):
        self._record, self._named = record, {name: record}
        self._names = list(fields_of(self._named))
        self._look()

    def _look(self) -> None:
        self._values, self._chain = values_in(self._named), self._present_chain
        writes_of(self._record).clear()
        self.text = text_of(self._values)

    @property
    def _present_chain(self) -> str:
        return self._record.log.chain if hasattr(self._record, "log") else ""

    def changed(self) -> dict[str, int | str]:
        """The fields that have changed since."""
        if not writes_of(self._record) and self._chain == self._present_chain:
            return {}
        before = self._values
        self._look()
        together = zip(self._names, before, self._values, strict=True)
        return {name: value for name, old, value in together if old != value}


class Changes:
    """Those of some records, by their names, and the hash of all."""

    def __init__(self, records: Mapping[str, Plain]):
        self._looked = [_Looked(name, record) for name, record in records.items()]

    def take(self) -> dict[str, int | str]:
        """The fields that have changed since the last call."""
        return {name: value for each in self._looked for name, value in each.changed().items()}

    def state(self) -> str:
        """The hash of the records as they were at the last call of `take`."""
        return hash_of([each.text for each in self._looked])
