"""The states that are missing from a log: of all that its controllers may have owed."""

from collections import defaultdict
from collections.abc import Callable
from functools import cache, lru_cache
from typing import NamedTuple

import numpy as np

from kafkaproof.traces.basics.versions import NEVER
from kafkaproof.traces.evidence.state_changes import Partition
from kafkaproof.traces.evidence.streams import Gathered
from kafkaproof.traces.evidence.terms import Term
from kafkaproof.traces.explain.log.handled_events import threads_of
from kafkaproof.traces.explain.log.left_handlers import beside_in, shown_of
from kafkaproof.traces.explain.log.stream import Found
from kafkaproof.traces.explain.log.view_order import Floors
from kafkaproof.traces.explain.omissions.expected_writes import Debt, DebtNumbers
from kafkaproof.traces.explain.omissions.first_writes import Missing
from kafkaproof.traces.explain.omissions.judge import Judge


class Waiting(NamedTuple):
    """States that controllers had to write and have not, though nothing shows that they left a handler.

    `since`: the zxid since which; `epochs`: of the controllers; `states`: how many; `text`: the first of them.
    """

    since: int
    epochs: tuple[int, ...]
    states: int
    text: str

    @property
    def told(self) -> str:
        """All of it in words."""
        more = f"and {self.states - 1:,} more, " if self.states > 1 else ""
        ruled = (
            f"controller of epoch {self.epochs[0]}"
            if len(self.epochs) == 1
            else f"controllers of epochs {', '.join(map(str, self.epochs))}"
        )
        return f"since {self.since:#x}: {self.text}; {more}by the {ruled}; nothing shows that a handler was left"

    def as_json(self) -> dict:
        """The object in `owed` of `replay --json`."""
        return {"since": hex(self.since), "epochs": list(self.epochs), "states": self.states, "text": self.text}


class Owed:
    """What is `missing`, by zxid, and what is `waiting`, by since when.

    Where a log has gaps, or controllers have several threads (up to 1.0), nothing is said to be missing.
    """

    def __init__(self, gathered: Gathered, found: list[Found], floors: Floors):
        self._gathered, self._common = gathered, gathered.common
        self._terms = self._common.terms.by_start
        made = ((zxid, topic) for each in found for zxid, topic in each.debts.made)
        self._threads = threads_of(floors, self._common.terms.all, made)
        self._beside = beside_in((sibling for each in found for sibling in each.siblings), self._threads)
        self._online = lru_cache(10_000)(lambda key, place, last: self._beside[key].elected_before(place, last))
        self._ends = np.array([self._over(term) for term in self._terms], np.int64)
        self.missing: list[Missing] = [skipped for each in found for skipped in each.skipped]
        self._unpaid: dict[tuple[int, int, tuple[int, ...]], list[str]] = defaultdict(list)
        for each in found:
            self._judge(each)
        self.missing.sort()
        self.waiting = sorted(
            Waiting(since, epochs, len(texts), texts[0]) for (since, _, epochs), texts in self._unpaid.items()
        )

    def _judge(self, found: Found) -> None:
        """Judge what may have been owed to one stream, which is read again only where something may be missing."""
        rows, unpaid = found.debts.rows, defaultdict[tuple[Partition, int, int], list[Debt]](list)
        judge = cache(lambda: Judge(self._gathered.streams[found.name], self._threads))
        numbers = found.debts.numbers
        shown = shown_of(numbers, self._terms, self._threads, self._beside)
        may_be_missing = (shown.left != NEVER) | shown.beside if self._common.is_certain else np.zeros(len(rows), bool)
        waits = self._waits(numbers)
        for place in np.flatnonzero(may_be_missing | waits).tolist():
            debt, left = rows[place], int(shown.left[place])
            zxid = self._missed(debt, left, judge()) if may_be_missing[place] else NEVER
            if zxid != NEVER:
                term = self._terms[debt.term]
                self.missing.append(Missing(zxid, _text(debt, term, judge()), debt.partition, term.key))
            elif waits[place]:
                unpaid[debt.partition, debt.gone, debt.reason].append(debt)
        for debts in unpaid.values():
            self._wait(debts, judge)

    def _waits(self, debts: DebtNumbers) -> np.ndarray:
        """Which debts were not paid while their controllers had them to do."""
        ends = self._ends[debts.term]
        return (debts.since < np.minimum(debts.until, ends)) & ~((debts.paid != 0) & (debts.until < ends))

    def _missed(self, debt: Debt, left: int, judge: Judge) -> int:
        """The zxid of the first record that shows that a state is missing, NEVER where none does.

        `left`: the one that shows that its handler was left.
        """
        term = self._terms[debt.term]
        zxid = left if left != NEVER and judge.is_owed(debt, term, left) else NEVER
        key = term.key, debt.gone
        if (own := self._beside.get(key)) is None:
            return zxid
        for place in own.after(debt.stands):
            last = int(own.lasts[place])
            if last >= min(debt.until, term.end, zxid):
                break
            if judge.is_owed_beside(debt, term, own.siblings[place], last, self._online(key, place, last)):
                return last
        return zxid

    def _wait(self, debts: list[Debt], judge: Callable[[], Judge]) -> None:
        """Note a state that had to be written for twice as long as a session lasts unheard, in whatever terms."""
        if not self._is_long(debts):
            return
        owed = [debt for debt in debts if judge().is_owed(debt, self._terms[debt.term], self._end(debt))]
        if self._is_long(owed):
            epochs = tuple(self._terms[debt.term].epoch for debt in owed)
            self._unpaid[owed[0].since, owed[0].gone, epochs].append(judge().text(owed[0]))

    def _is_long(self, debts: list[Debt]) -> bool:
        return sum(map(self._held, debts)) > 2 * max(map(self._timeout, debts), default=0)

    def _held(self, debt: Debt) -> int:
        """How many ms a controller had for it."""
        end, inputs = self._end(debt), self._common.inputs
        return (inputs.last_time if end == NEVER else inputs.time_at(end)) - inputs.time_at(debt.since)

    def _timeout(self, debt: Debt) -> int:
        return self._common.timeouts.get(self._terms[debt.term].session, 0)

    def _end(self, debt: Debt) -> int:
        """The zxid up to which a controller had it to do."""
        return min(debt.until, int(self._ends[debt.term]))

    def _over(self, term: Term) -> int:
        """The zxid at which a controller has lost /controller, or another is elected."""
        controller = self._common.controllers.at(term.epoch)
        lost = controller and controller.ended_zxid
        return int(min(term.end, lost or NEVER))


def _text(debt: Debt, term: Term, judge: Judge) -> str:
    return (
        f"the controller of epoch {term.epoch} has left the handler in which it had to write "
        f"{judge.text(debt)}: that record is missing"
    )
