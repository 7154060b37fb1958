"""What each controller wrote to partition states, and what of that came when it was controller no more."""

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from traces.election.controllers import Controller, Controllers
from traces.partitions.changes import Change

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
            self.states + other.states, self.unowned + other.unowned, self.stale + other.stale)


def written_by(controllers: Controllers, changes: Iterable[Change], refused: list[tuple[int, int]]) -> list[Written]:
    """The writes of each controller, in the order of their epochs.

    `refused`: zxid and session of the requests that the check of the epoch refused.
    """
    reigns = [controller for controller in controllers.all if controller.epoch is not None]
    found = {(c.epoch, c.session): Written(c.epoch, c.session, c.broker) for c in reigns}
    elections = [controller.epoch_zxid for controller in reigns]
    for change in changes:
        if change.after and (each := found.get(change.reign)):
            _note(each, _lateness(reigns, elections, change))
    for zxid, session in refused:
        own = [c for c in reigns if c.session == session and c.epoch_zxid < zxid]
        if own:
            found[own[-1].epoch, session].refused += 1
    return list(found.values())


def late_writes(controllers: Controllers, changes: Iterable[Change]) -> Iterator[tuple[Change, str]]:
    """The writes of states by controllers that came late, each with UNOWNED or STALE."""
    reigns = [controller for controller in controllers.all if controller.epoch is not None]
    known, elections = {(c.epoch, c.session) for c in reigns}, [controller.epoch_zxid for controller in reigns]
    for change in changes:
        if change.after and change.reign in known and (late := _lateness(reigns, elections, change)):
            yield change, late


def _lateness(reigns: list[Controller], elections: list[int], change: Change) -> str | None:
    """How late a write comes that a controller makes, or in its name the leader whose session it is."""
    place = bisect_left(elections, change.zxid)
    ruling = reigns[place - 1] if place else None
    if ruling is None:
        return None
    if ruling.epoch != change.after.controller_epoch:
        return STALE
    return UNOWNED if ruling.ended_zxid is not None and change.zxid > ruling.ended_zxid else None


def _note(each: Written, late: str | None) -> None:
    each.states += 1
    each.stale += late == STALE
    each.unowned += late == UNOWNED
