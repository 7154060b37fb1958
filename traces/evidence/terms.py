"""The controllers' terms of office, and what each may still believe of the topics of one stream."""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from math import inf
from typing import NamedTuple

from kafkaproof.traces.evidence.controllers import Controller, winners

Partition = tuple[str, int]
TermKey = tuple[int, int]
"""The epoch and the session of a controller, by which its term is known."""


class Term(NamedTuple):
    """A controller's term of office: from which zxid to which.

    `again`: the broker has ruled before; `unknown`: it began before the log.
    """

    epoch: int
    session: int
    start: int
    end: float
    again: bool
    unknown: bool

    @property
    def key(self) -> TermKey:
        """Epoch and session, as a partition state claims them."""
        return self.epoch, self.session


class Terms:
    """All terms of a log; those before it are known by their sessions alone."""

    def __init__(self, controllers: Iterable[Controller], begins: int, sessions: Iterable[int]):
        """`begins`: the last zxid before the log, `sessions`: those of brokers that were open then."""
        elected = winners(controllers)
        self.begins = begins
        self.first_epoch = min((winner.epoch for winner in elected), default=0)
        self.all: dict[TermKey, Term] = {}
        self._of_session: dict[int, list[Term]] = defaultdict(list)
        ruled: set[int | None] = set()
        for winner, end in zip(elected, [*(each.zxid for each in elected[1:]), inf]):
            again, start = winner.broker in ruled or begins > 0, winner.zxid
            term = Term(winner.epoch, winner.session, start, end, again, start <= begins)
            ruled.add(winner.broker)
            self.all.setdefault(term.key, term)
            self._of_session[term.session].append(term)
        self._earlier = {session: _earlier(0, session) for session in sessions if begins}

    @property
    def ends(self) -> Mapping[TermKey, float]:
        """The zxid at which each term ends."""
        return {key: term.end for key, term in self.all.items()}

    @cached_property
    def by_start(self) -> list[Term]:
        """All terms by the zxids at which they begin."""
        return sorted(self.all.values(), key=lambda term: term.start)

    def claimed(self, epoch: int, session: int) -> Term | None:
        """The term that a partition state claims to be written in, None if its writer has not won it."""
        if 0 < epoch < self.first_epoch and (epoch, session) not in self.all:
            return _earlier(epoch, session)
        return self.all.get((epoch, session))

    def of_session(self, session: int, zxid: int) -> Term | None:
        """The newest term of a session that had begun before a record, None if it has won none."""
        own = self._of_session.get(session, [])
        place = bisect_left(own, zxid, key=lambda term: term.start)
        return own[place - 1] if place else self._earlier.get(session)


def _earlier(epoch: int, session: int) -> Term:
    """A term that began, and may have ended, before the log."""
    return Term(epoch, session, 0, inf, True, True)


@dataclass
class ObservedTerm:
    """What the controller of a term is seen to know and to do in one stream.

    Its view is a version of /brokers/ids; it only moves forward, so `view`, the oldest that it can still have, rises as
    changes are explained, and `views` has each zxid at which it rose. `key`: epoch and session; `start`: the zxid from
    which it rules. `elected` is the oldest view by which the leader
    of each partition may have been elected in this term, `last` the zxid of the controller's last write of each
    partition's state, `elections` its last election: zxid, strategy and trigger.
    """

    term: Term
    view: int
    elected: dict[Partition, int] = field(default_factory=dict)
    last: dict[Partition, int] = field(default_factory=dict)
    elections: dict[Partition, tuple[int, str, str]] = field(default_factory=dict)
    views: list[tuple[int, int]] = field(default_factory=list)
    key: TermKey = field(init=False)
    start: int = field(init=False)

    def __post_init__(self):
        self.key, self.start = self.term.key, self.term.start

    @property
    def session(self) -> int:
        """The controller's session."""
        return self.term.session

    @property
    def epoch(self) -> int:
        """The controller epoch."""
        return self.term.epoch

    @property
    def end(self) -> float:
        """The zxid from which another one rules."""
        return self.term.end

    @property
    def again(self) -> bool:
        """Whether the broker has ruled before."""
        return self.term.again

    @property
    def unknown(self) -> bool:
        """Whether it began before the log."""
        return self.term.unknown

    def see(self, zxid: int, view: int) -> None:
        """Note that a write of that zxid shows a view, unless it shows an older one."""
        if view > self.view:
            self.view = view
            self.views.append((zxid, view))

    def view_at(self, zxid: int) -> int:
        """The oldest view that the controller can have before the record of that zxid."""
        return max((view for at, view in self.views if at < zxid), default=self.start)


class ObservedTerms:
    """All terms, as one stream shows them."""

    def __init__(self, terms: Terms):
        self._terms = terms
        self._all: dict[Term, ObservedTerm] = {}
        self._claimed: dict[TermKey, ObservedTerm | None] = {}

    def claimed(self, epoch: int, session: int) -> ObservedTerm | None:
        """The term that a partition state claims to be written in, None if its writer has not won it."""
        key = epoch, session
        if key not in self._claimed:
            self._claimed[key] = self._of(self._terms.claimed(epoch, session))
        return self._claimed[key]

    def of_session(self, session: int, zxid: int) -> ObservedTerm | None:
        """The newest term of a session that had begun before a record, None if it has won none."""
        return self._of(self._terms.of_session(session, zxid))

    def _of(self, term: Term | None) -> ObservedTerm | None:
        if term is None:
            return None
        if term not in self._all:
            self._all[term] = ObservedTerm(term, term.start)
        return self._all[term]
