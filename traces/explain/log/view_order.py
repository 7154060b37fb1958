"""One sweep over the changes of all streams: a controller has one view of /brokers/ids, which only moves forward."""

from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from kafkaproof.traces.basics.columns import ByZxid
from kafkaproof.traces.evidence.streams import Common
from kafkaproof.traces.evidence.terms import Term, TermKey
from kafkaproof.traces.explain.log.stream import Found
from kafkaproof.traces.explain.partitions.explanations import Explanation

_MANY = 100_000
Explanations = tuple[Explanation, ...]


class Failed(NamedTuple):
    """A change that only older views explain than its controller had seen: its stream, its place there, and why."""

    stream: int
    place: int
    text: str
    certain: bool


class Floors:
    """Keeps the explanations by views not older than what the controller had seen before.

    `zxids`: of all changes, stream by stream; `seen`: the oldest view that a controller could have at each zxid of
    `wanted`; `failed`: what no explanation is left of; `terms`: codes of `names`, epoch and session; `floors`: the
    oldest view that its controller can have behind it, 0 where it shows none.
    """

    def __init__(self, common: Common, found: list[Found], wanted: set[int]):
        self._common, self._wanted = common, wanted
        self._values: list[Explanations] = [()]
        self._known: dict[Explanations, int] = {(): 0}
        self._bounds = np.cumsum([0, *(len(each.changes) for each in found)])
        self.zxids = np.concatenate([e.changes.numbers(0) for e in found if e.changes] or [np.zeros(0, np.int64)])
        self._codes = self._joined([each.changes.columns[2] for each in found], self._code)
        names: dict[tuple, int] = {}
        self.terms = self._joined(
            [each.changes.columns[1] for each in found], lambda term_key: names.setdefault(term_key, len(names))
        )
        self.names, self.floors = list(names), np.zeros(len(self.zxids), np.int64)
        self._order = np.argsort(self.zxids, kind="stable")
        self.seen: dict[int, int] = {}
        self.failed: list[Failed] = []
        self._narrow(self.terms, self.names)

    def _code(self, explanations: Explanations) -> int:
        if explanations not in self._known:
            self._known[explanations] = len(self._values)
            self._values.append(explanations)
        return self._known[explanations]

    @staticmethod
    def _joined(columns, code) -> np.ndarray:
        """The codes of several columns of repeated values as one."""
        parts = [
            np.array([code(value) for value in column.different], np.uint32)[column.codes]
            for column in columns
            if len(column)
        ]
        return np.concatenate(parts) if parts else np.zeros(0, np.uint32)

    def _narrow(self, terms: np.ndarray, names: list) -> None:
        floors: dict[int, int] = {}
        known: dict[tuple[int, int], tuple[int, int]] = {}
        seeing = np.array([any(each.view is not None for each in value) for value in self._values], bool)
        order = self._order[seeing[self._codes[self._order]]]
        for start in range(0, len(order), _MANY):
            places = order[start : start + _MANY]
            rows = zip(
                *(column.tolist() for column in (places, self.zxids[places], terms[places], self._codes[places]))
            )
            for place, zxid, term_key, code in rows:
                floor = floors.get(term_key) or self._first(names[term_key])
                if zxid in self._wanted:
                    self.seen[zxid] = floor
                if (code, floor) not in known:
                    known[code, floor] = self._admissible(code, floor)
                new, floors[term_key] = known[code, floor]
                self.floors[place] = floors[term_key]
                if new != code:
                    self._codes[place] = new
                    if not new:
                        self._fail(place, floor, names[term_key])

    def _term(self, term_key: TermKey) -> Term:
        """The term of changes that are explained, which their writer has won."""
        term = self._common.terms.claimed(*term_key)
        assert term is not None
        return term

    def _first(self, term_key: TermKey) -> int:
        """The version of /brokers/ids that stood when a term began."""
        begun = self._term(term_key).start
        return self._common.inputs.brokers.between(begun, begun)[0].zxid

    def _admissible(self, code: int, floor: int) -> tuple[int, int]:
        """The explanations that are left, and the oldest view that the controller can have from then on."""
        left = tuple(e for e in self._values[code] if e.view is None or e.view >= floor)
        return self._code(left), max(floor, min((floor if e.view is None else e.view for e in left), default=floor))

    def _fail(self, place: int, floor: int, term_key: TermKey) -> None:
        stream = int(np.searchsorted(self._bounds, place, "right")) - 1
        why = f"its controller had seen the /brokers/ids of {floor:#x} before; each explanation needs an older one"
        certain = not self._term(term_key).unknown
        self.failed.append(Failed(stream, place - int(self._bounds[stream]), why, certain))

    @property
    def values(self) -> list[Explanations]:
        """All explanations that some change has."""
        return self._values

    @property
    def explained(self) -> np.ndarray:
        """What explains each change."""
        return self._codes

    def counts(self) -> Counter:
        """How many changes have the same explanations."""
        counts = np.bincount(self._codes, minlength=len(self._values)).tolist()
        return Counter({value: count for value, count in zip(self._values, counts) if count})

    def of(self, stream: int) -> Iterator[Explanations]:
        """The explanations of the changes of one stream."""
        begin, end = self._bounds[stream : stream + 2]
        return map(self._values.__getitem__, self._codes[begin:end].tolist())

    def best(self) -> ByZxid[Explanation]:
        """The first explanation of each change that has one, by zxid."""
        found: ByZxid[Explanations] = ByZxid()
        found.extend(self.zxids[self._order], self._codes[self._order], self._values)
        return found.mapped(lambda explanations: explanations[0] if explanations else None)
