"""What is said of messages: each is a step of the specification, of a listed kind, undecided, or a divergence."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from kafkaproof.traces.basics.verdicts import CONFORMS, DIVERGES, UNDECIDED

if TYPE_CHECKING:  # what reads traffic takes long to load, and a replay without traffic needs none of it
    from kafkaproof.traces.wire.exchanges import Exchange, Place
    from kafkaproof.traces.wire.reading import Wire

STEP, LISTED, OPEN, WRONG = "step", "listed", "undecided", "diverges"


class Verdict(NamedTuple):
    """What a message is: its `kind`, and the name of the step, why it is listed or undecided, or why nothing sends it."""

    kind: str
    text: str


class Divergence(NamedTuple):
    """A message that no step sends, or one that is missing (`place` is None): when (ms), of which API, and why not."""

    time: int
    api: str
    place: Place | None
    text: str


@dataclass
class Judged:
    """All messages of some traffic, judged. `counts`: of each API how many are of each kind, and of each text."""

    wire: Wire
    counts: dict[str, Counter[tuple[str, str]]] = field(default_factory=lambda: defaultdict(Counter))
    divergences: list[Divergence] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    def note(self, exchange: Exchange, verdict: Verdict) -> None:
        """Count a message, and keep a divergence."""
        text = "" if verdict.kind == WRONG else verdict.text
        self.counts[exchange.api][verdict.kind, text] += 1
        if verdict.kind == WRONG:
            self.divergences.append(Divergence(exchange.time, exchange.api, exchange.place, verdict.text))

    def miss(self, time: int, api: str, text: str) -> None:
        """Note what a step sends and the traffic lacks."""
        self.divergences.append(Divergence(time, api, None, text))

    def deny(self, exchange: Exchange, text: str) -> None:
        """Note that a message, which may be a step by what it says, cannot have been sent at all."""
        self.divergences.append(Divergence(exchange.time, exchange.api, exchange.place, text))

    @property
    def in_order(self) -> list[Divergence]:
        """The divergences in the order of time."""
        return sorted(self.divergences, key=lambda each: each.time)

    @property
    def first(self) -> Divergence | None:
        """The first divergence in time."""
        return next(iter(self.in_order), None)

    @property
    def verdict(self) -> str:
        """The verdict on all of it."""
        if self.divergences:
            return DIVERGES
        is_open = any(kind == OPEN for counts in self.counts.values() for kind, _ in counts)
        return UNDECIDED if is_open else CONFORMS

    def of_kind(self, api: str, kind: str) -> int:
        """How many messages of an API are of a kind."""
        return sum(count for (each, _), count in self.counts[api].items() if each == kind)
