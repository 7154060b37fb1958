"""What each controller wrote to partition states, and what of that came when it was controller no more."""

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from kafkaproof.traces.basics.columns import distinct
from kafkaproof.traces.evidence.claims import Claims
from kafkaproof.traces.evidence.controllers import Controllers, Winner, winners
from kafkaproof.traces.evidence.state_changes import Change, Changes
from kafkaproof.traces.reading.state_records import NOTHING

UNOWNED, STALE = "after its /controller was gone", "after the next election"


@dataclass
class Written:
    """The writes of partition states by one controller: all, and those of them that came late.

    `unowned`: after its /controller was gone, and before the next election took effect; `stale`: after that;
    `refused`: writes of any kind that the check of /controller_epoch refused.
    """

    epoch: int
    session: int
    broker: int | None
    states: int = 0
    unowned: int = 0
    stale: int = 0
    refused: int = 0

    def as_json(self) -> dict:
        """The writes as an object of `replay --json`."""
        return {name: value for name, value in vars(self).items() if name != "session"}

    def nothing(self) -> "Written":
        """Nothing written by the same controller."""
        return Written(self.epoch, self.session, self.broker)

    def add(self, other: "Written") -> None:
        """Count what else it wrote."""
        self.states, self.unowned, self.stale = (
            self.states + other.states,
            self.unowned + other.unowned,
            self.stale + other.stale,
        )


def written_by(controllers: Controllers, refused: list[tuple[int, int]]) -> list[Written]:
    """The writes of each controller, in the order of their epochs, but for those of states.

    `refused`: zxid and session of the requests that the check of the epoch refused.
    """
    terms = winners(controllers.all)
    found = {(c.epoch, c.session): Written(c.epoch, c.session, c.broker) for c in terms}
    for zxid, session in refused:
        own = [c for c in terms if c.session == session and c.zxid < zxid]
        if own:
            found[own[-1].epoch, session].refused += 1
    return list(found.values())


def states_by(controllers: Controllers, moments: np.ndarray, changes: Changes, claims: Claims) -> list[Written]:
    """The states that controllers, and in their names leaders, wrote. `moments`: those of the controllers."""
    terms, claimed = winners(controllers.all), set(claims.keys)
    found = {
        (c.epoch, c.session): Written(c.epoch, c.session, c.broker) for c in terms if (c.epoch, c.session) in claimed
    }
    rows = np.flatnonzero(changes.after != NOTHING)
    first, kinds = distinct(claims.codes[rows], np.searchsorted(moments, changes.zxids[rows]))
    for row, count in zip(rows[first].tolist(), np.bincount(kinds).tolist()):
        epoch, session = claims.keys[claims.codes[row]]
        if each := found.get((epoch, session)):
            late = _lateness(terms, int(changes.zxids[row]), epoch)
            each.states, each.stale, each.unowned = (
                each.states + count,
                each.stale + count * (late == STALE),
                each.unowned + count * (late == UNOWNED),
            )
    return [each for each in found.values() if each.states]


def late_writes(controllers: Controllers, changes: Iterable[Change]) -> Iterator[tuple[Change, str]]:
    """The writes of states by controllers that came late, each with UNOWNED or STALE."""
    terms = winners(controllers.all)
    known = {(c.epoch, c.session) for c in terms}
    for change in changes:
        if change.after and change.term_key in known and (late := _lateness(terms, change.zxid, change.term_key[0])):
            yield change, late


def _lateness(terms: list[Winner], zxid: int, epoch: int) -> str | None:
    """How late a write comes that a controller makes in its epoch, or in its name the leader whose session it is."""
    place = bisect_left(terms, zxid, key=lambda term: term.zxid)
    ruling = terms[place - 1] if place else None
    if ruling is None:
        return None
    if ruling.epoch != epoch:
        return STALE
    return UNOWNED if ruling.ended is not None and zxid > ruling.ended else None
