"""Follows one group through all that passed: which situations of its coordinators explain every answer until then."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from heapq import heappop, heappush
from math import inf

from kafkaproof.spec.group.group_states import EMPTY
from kafkaproof.traces.groups.tombstones import LEAST_RETENTION
from kafkaproof.traces.wire.groups.calls import COMMIT, FETCH, HEARTBEAT, NO_OFFSET, NONE, Call
from kafkaproof.traces.wire.groups.hidden import Hidden
from kafkaproof.traces.wire.groups.situation import Side, Situation
from kafkaproof.traces.wire.groups.steps import Steps
from kafkaproof.traces.wire.verdicts import LISTED, OPEN, STEP, WRONG, Verdict

READING = HEARTBEAT, FETCH
"""What changes nothing."""
DEEPEST, SITUATIONS, TRIED = 14, 48, 4_000
"""So many steps are tried before an answer, so many situations are kept, and so many are looked at for one answer."""
UNANSWERED = 4
"""So many requests without an answer may still be taken up."""
BEHIND = Verdict(OPEN, "after a divergence in its group")
LOST = Verdict(LISTED, "its answer did not pass, or the request was dropped")


class Follower:
    """Follows the calls of a group, in the order of time, from what is known at the beginning.

    `width`: by how many steps a longer explanation of an answer is kept beside the shortest; `everywhere`: it may take
    steps of other brokers than the one that answers.
    """

    def __init__(self, steps: Steps, hidden: Hidden, first: Situation, width: int, everywhere: bool):
        self._steps, self._hidden, self._width, self._everywhere = steps, hidden, width, everywhere
        self.situations = [first]
        self.verdicts: dict[Call, Verdict] = {}
        self._is_cut = False
        self._free: list[int] = []
        self._diverged = False
        self._end = inf
        self._unanswered: list[int] = []

    @property
    def explained_until(self) -> float:
        """Until when (ms) all is explained, infinity where all is."""
        return self._end

    def follow(self, calls: list[Call]) -> None:
        """Take all that passed."""
        returns: list[tuple[int, int]] = []
        for call in calls:
            while returns and returns[0][0] < call.time and not self._diverged:
                self._return(heappop(returns)[1])
            if self._diverged:
                break
            if call.exchange.is_lost:
                self.verdicts[call] = LOST
            elif call.answer is None or call.answered is None:
                self.verdicts[call] = LOST
                if call.api not in READING:
                    self._arrive(call)
            else:
                m = self._arrive(call)
                heappush(returns, (call.answered, m))
        while returns and not self._diverged:
            self._return(heappop(returns)[1])
        for call in calls:
            self.verdicts.setdefault(call, BEHIND)

    def _arrive(self, call: Call) -> int:
        flying = self._steps.flying
        m = heappop(self._free) if self._free else len(flying)
        flying[m] = call
        self.situations = self._distinct(self._settled(at.but(waiting=at.waiting | {m})) for at in self.situations)
        if call.answer is None:
            self._unanswered.append(m)
            if len(self._unanswered) > UNANSWERED:
                gone = {self._unanswered.pop(0)}
                self.situations = self._distinct(at.but(waiting=at.waiting - gone) for at in self.situations)
        return m

    def _return(self, m: int) -> None:
        """An answer has passed: keep what explains it."""
        call = self._steps.flying[m]
        assert call.answered is not None
        for strictly in (True, False):
            found, refuted = self._explained(m, call.answered, strictly)
            if found:
                break
        if found:
            self.verdicts[call] = Verdict(STEP, next(at.told[m].step for at in found))
        else:
            self._diverge(m, refuted)
        self.situations = self._distinct(self._without(at, m) for at in found)
        heappush(self._free, m)

    def _diverge(self, m: int, refuted: list[Situation]) -> None:
        """No step answers a request as the wire says: it is this one that diverges, or, if this one cannot be answered
        at all yet, those that are answered otherwise and that it may wait for.
        """
        self._diverged, self._end = True, self._steps.flying[m].time
        others = {n for at in self.situations for n in at.waiting if self._steps.flying[n].answer} - {m}
        wrong = {n: own for n in (m, *others) if (own := self._refused(n))}
        if not wrong and not refuted:
            tried = {n: self._explained(n, self._steps.flying[n].answered or 0, True) for n in others}
            wrong = {n: instead for n, (own, instead) in tried.items() if instead and not own}
        for n, instead in (wrong or {m: refuted}).items():
            self.verdicts[self._steps.flying[n]] = self._why_not(n, instead)

    def _refused(self, m: int) -> list[Situation]:
        """The situations after a request was taken up, if it is answered at once, and never as the wire says."""
        found = [after for at in self.situations if m in at.waiting for after in self._steps.handled(at, m)]
        return found if all(m in each.told and each.told[m].why_not for each in found) else []

    def _why_not(self, m: int, refuted: list[Situation]) -> Verdict:
        call = self._steps.flying[m]
        if self._is_cut:
            return Verdict(OPEN, "more is possible than is tried")
        assert call.answer
        if call.api == FETCH and any(self._may_be_expired(side, call) for at in self.situations for side in at.sides):
            return Verdict(OPEN, "offsets of a group that has been empty for long may have expired")
        instead = sorted({why for at in refuted if (why := at.told[m].why_not)})
        told = f"broker {call.broker} answers {' or '.join(instead)}" if instead else "no step answers it"
        return Verdict(WRONG, f"{call.group}: answered {_words(call)}, where {told}")

    @staticmethod
    def _may_be_expired(side: Side, call: Call) -> bool:
        """Whether offsets that an answer lacks may have expired: no retention is shorter than a minute."""
        lacking = call.answer and NO_OFFSET in (call.answer.offsets or {}).values()
        return bool(
            lacking and side.record.group.state == EMPTY and (call.answered or 0) >= side.began + LEAST_RETENTION
        )

    @staticmethod
    def _without(at: Situation, m: int) -> Situation:
        return at.but(told={each: told for each, told in at.told.items() if each != m})

    # Search

    def _explained(self, m: int, now: int, strictly: bool) -> tuple[list[Situation], list[Situation]]:
        """The situations in which a request is answered as the wire says, and those nearest in which it is answered
        otherwise; `strictly`: no other answer that is still to pass may be another.
        """
        self._left = TRIED
        found, refuted = [], []
        for at in self.situations:
            own, others = self._explained_from(at, m, now, strictly)
            found += own
            refuted += others
        return found, refuted

    def _explained_from(
        self, at: Situation, m: int, now: int, strictly: bool
    ) -> tuple[list[Situation], list[Situation]]:
        if m in at.told:
            return ([at], []) if at.told[m].why_not is None else ([], [at])
        level, seen, found, refuted, last = [at], {at.key}, [], [], DEEPEST
        for depth in range(DEEPEST):
            following: list[Situation] = []
            for each in level if depth < last else ():
                for after in self._after(each, m, now) if self._left > 0 else ():
                    wrong = [n for n, told in after.told.items() if told.why_not and n not in each.told]
                    if m in wrong:
                        refuted += [after] * (len(refuted) < SITUATIONS)
                    elif not (wrong and strictly) and after.key not in seen:
                        self._left -= 1
                        seen.add(after.key)
                        (found if m in after.told else following).append(after)
                        last = min(last, depth + 1 + self._width) if m in after.told else last
            level = following
        self._is_cut |= self._left <= 0
        return found, refuted

    def _after(self, at: Situation, m: int, now: int) -> Iterator[Situation]:
        """The situations after one more step."""
        b = self._steps.place(m)
        for n in at.waiting:
            is_tried = (
                n == m or self._steps.flying[n].api not in READING and (self._everywhere or self._steps.place(n) == b)
            )
            if is_tried and not self._is_behind(at, n):
                yield from (self._settled(after, at) for after in self._steps.handled(at, n))
        others = {o for o, side in enumerate(at.sides) if side.record.appends.length} if self._everywhere else set()
        yield from (self._settled(after, at) for after in self._hidden.of(at, now, b, others))

    def _is_behind(self, at: Situation, m: int) -> bool:
        """Whether a request waits behind another one of its connection."""
        flying = self._steps.flying
        call = flying[m]
        where = call.exchange.place.file, call.exchange.connection
        return any(
            n != m
            and flying[n].exchange is not call.exchange
            and flying[n].answer is not None
            and (flying[n].exchange.place.file, flying[n].exchange.connection) == where
            and flying[n].exchange.place < call.exchange.place
            for n in at.waiting
        )

    def _settled(self, at: Situation, before: Situation | None = None) -> Situation:
        """The situation after all requests were taken up that it answers as the wire says and that change nothing, and
        commits that it accepts: whether these are taken up now or later makes no difference. `before`: the situation
        before the last step; only brokers that know something else are asked.
        """
        for m in sorted(at.waiting):
            call, b = self._steps.flying[m], self._steps.place(m)
            if call.answer is None or before and at.sides[b] is before.sides[b] or self._is_behind(at, m):
                continue
            for after in self._steps.handled(at, m):
                told = after.told.get(m)
                accepted = (
                    call.api == COMMIT and told is None and call.answer.verdict == NONE and m not in after.waiting
                )
                if accepted or told and told.why_not is None and self._changes_nothing(at, after, call):
                    at = after
                    break
        return at

    def _changes_nothing(self, at: Situation, after: Situation, call: Call) -> bool:
        b = self._steps.place_of(call)
        return call.api in READING or after.storage.key == at.storage.key and after.sides[b].key == at.sides[b].key

    def _distinct(self, situations: Iterable[Situation]) -> list[Situation]:
        """Situations, each once; of those that are alike but for times, the one with the earliest."""
        found: dict[tuple, Situation] = {}
        for at in situations:
            found[at.key] = at if at.key not in found else found[at.key].or_earlier(at)
        self._is_cut |= len(found) > SITUATIONS
        return list(found.values())[:SITUATIONS]


def _words(call: Call) -> str:
    """An answer in words."""
    answer = call.answer
    assert answer
    found = [answer.verdict]
    if answer.generation > 0:
        found.append(f"generation {answer.generation}")
    if answer.leader:
        found.append(f"leader {answer.leader}")
    return ", ".join(found)
