"""What each controller wrote to partition states, and what of that came when it was controller no more."""

from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass

from traces.controllers import Controller, Controllers
from traces.partitions.changes import Change


@dataclass
class Written:
    """The writes of partition states by one controller: all, and those of them that came late.

    `unowned`: after its /controller was gone, and before the next election took effect; `stale`: after that;
    `refused`: writes of any kind that the check of /controller_epoch refused.
    """

    epoch: int
    broker: int | None
    states: int = 0
    unowned: int = 0
    stale: int = 0
    refused: int = 0

    def as_json(self) -> dict:
        """The writes as an object of `replay --json`."""
        return dict(vars(self))


def written_by(controllers: Controllers, changes: Iterable[Change], refused: list[tuple[int, int]]) -> list[Written]:
    """The writes of each controller, in the order of their epochs.

    `refused`: zxid and session of the requests that the check of the epoch refused.
    """
    reigns = [controller for controller in controllers.all if controller.epoch is not None]
    found = {(c.epoch, c.session): Written(c.epoch, c.broker) for c in reigns}
    elections = [controller.epoch_zxid for controller in reigns]
    for change in changes:
        if change.after and (each := found.get(change.reign)):
            _note(each, reigns, elections, change.zxid)
    for zxid, session in refused:
        own = [c for c in reigns if c.session == session and c.epoch_zxid < zxid]
        if own:
            found[own[-1].epoch, session].refused += 1
    return list(found.values())


def _note(each: Written, reigns: list[Controller], elections: list[int], zxid: int) -> None:
    """Count a write of a state by a controller, or in its name by the leader whose session it is."""
    each.states += 1
    ruling = reigns[bisect_left(elections, zxid) - 1] if bisect_left(elections, zxid) else None
    if ruling is not None and ruling.epoch != each.epoch:
        each.stale += 1
    elif ruling is not None and ruling.ended_zxid is not None and zxid > ruling.ended_zxid:
        each.unowned += 1
