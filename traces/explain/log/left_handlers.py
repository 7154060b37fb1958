"""Which records show that a controller has left the handler in which it had to write a state."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.traces.basics.columns import groups
from kafkaproof.traces.basics.versions import NEVER
from kafkaproof.traces.evidence.terms import Term, TermKey
from kafkaproof.traces.explain.omissions.expected_writes import DebtNumbers
from kafkaproof.traces.explain.omissions.same_event import Sibling
from kafkaproof.traces.explain.omissions.threads import Thread


class Beside(NamedTuple):
    """What one controller wrote because of one broker, in the order of the log.

    `zxids`: of the writes; `elected`: whom each elects; `lasts`: the zxid of the record that shows for each of them that
    its handler was left, NEVER where none does.
    """

    siblings: list[Sibling]
    zxids: np.ndarray
    elected: list[int]
    lasts: np.ndarray

    def after(self, zxid: int) -> range:
        """The places of those behind a record."""
        return range(int(np.searchsorted(self.zxids, zxid, "right")), len(self.zxids))

    def elected_before(self, place: int, zxid: int) -> frozenset[int]:
        """Who was elected from a place on and before a record."""
        return frozenset(self.elected[place : int(np.searchsorted(self.zxids, zxid))]) - {NOBODY}


def beside_in(siblings: Iterable[Sibling], threads: Mapping[TermKey, Thread]) -> dict[tuple[TermKey, int], Beside]:
    """All such writes by their controllers and the broker that is gone."""
    found: dict[tuple[TermKey, int], list[Sibling]] = defaultdict(list)
    for sibling in siblings:
        found[sibling.term_key, sibling.gone].append(sibling)
    return {key: _beside(own, threads[key[0]]) for key, own in found.items() if key[0] in threads}


def _beside(own: list[Sibling], thread: Thread) -> Beside:
    own.sort(key=lambda sibling: sibling.zxid)
    zxids = np.array([sibling.zxid for sibling in own], np.int64)
    return Beside(own, zxids, [sibling.elected for sibling in own], thread.left_behind(zxids))


class Shown(NamedTuple):
    """Of each debt the zxid of the record that shows that its handler was left (NEVER where none does), and whether a
    record may show that something else was written in the same handler."""

    left: np.ndarray
    beside: np.ndarray


def shown_of(
    debts: DebtNumbers,
    terms: Sequence[Term],
    threads: Mapping[TermKey, Thread],
    beside: Mapping[tuple[TermKey, int], Beside],
) -> Shown:
    """The same of many debts at once; nothing is shown of a term without a thread."""
    shown = Shown(np.full(len(debts.term), NEVER), np.zeros(len(debts.term), bool))
    for of_term in groups(debts.term):
        term = terms[debts.term[of_term[0]]]
        if (thread := threads.get(term.key)) is None:
            continue
        ends = np.minimum(debts.until[of_term], term.end)
        left = _left(debts, of_term, term, thread)
        shown.left[of_term] = np.where(left < ends, left, NEVER)
        for places in groups(debts.gone[of_term]):
            if own := beside.get((term.key, int(debts.gone[of_term[places[0]]]))):
                first = np.searchsorted(own.zxids, debts.stands[of_term[places]], "right")
                shown.beside[of_term[places]] = np.append(own.lasts, NEVER)[first] < ends[places]
    return shown


def _left(debts: DebtNumbers, rows: np.ndarray, term: Term, thread: Thread) -> np.ndarray:
    """The zxids of the records that show that handlers were left, of the debts of one term."""
    first = debts.gone[rows] == NOBODY
    behind = thread.left_behind(debts.stands[rows])
    topics = np.where(debts.made[rows], thread.left_topics(debts.reason[rows]), NEVER)
    views = thread.left(debts.since[rows])
    return np.where(
        first & (debts.stands[rows] >= 0), behind, np.where(first & (debts.reason[rows] >= term.start), topics, views)
    )
