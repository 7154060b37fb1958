"""Lists in /admin/reassign_partitions that a controller never reads: it heard of no list after one that was deleted.

Its watch fires once, and is set again only when a term begins, or when it deletes the list itself (KAFKA-9478).
"""

from itertools import pairwise
from math import inf
from typing import NamedTuple

from kafkaproof.traces.evidence.cluster_inputs import ListWrite
from kafkaproof.traces.evidence.streams import Common
from kafkaproof.traces.evidence.terms import Term
from kafkaproof.traces.explain.facts.remarks import STANDS, UNREAD, Remark

_SETTLED = 5_000
"""A term that has lasted so many ms has read everything, and set its watches."""


class Unread(NamedTuple):
    """A list that its controller does not read: the record that made it, and for how long it stood in that term.

    `withdrawn`: the zxid at which somebody deleted the list before it; `ended`: None where the log ends first; `time`
    and `lasted` are in ms.
    """

    zxid: int
    time: int
    withdrawn: int
    epoch: int
    ended: int | None
    lasted: int

    def remark(self) -> Remark:
        """What is told of it."""
        end = f"until {self.ended:#x}" if self.ended else "to the end of the log"
        return Remark(
            UNREAD,
            self.time,
            None,
            (
                f"the list in /admin/reassign_partitions stands for {self.lasted / 1000:,.0f} s, {end}, and the controller "
                f"of epoch {self.epoch} does not read it: somebody had deleted the list before it ({self.withdrawn:#x})"
            ),
            self.zxid,
        )


def unread_in(common: Common) -> list[Unread]:
    """All such lists in a log that stood for long, in the order of the log."""
    lists = common.inputs.lists
    ends: list[ListWrite | None] = [*lists[2:], None]
    found = []
    for (before, made), after in zip(pairwise(lists), ends):
        term = next((each for each in common.terms.by_start if each.start < before.zxid < each.end), None)
        if before.stands or not made.stands or term is None or made.zxid > term.end:
            continue
        if _was_withdrawn(common, term, before) and (after is None or after.session != term.session):
            found.append(_unread(common, term, before, made, after))
    return [each for each in found if each.lasted >= STANDS]


def _was_withdrawn(common: Common, term: Term, write: ListWrite) -> bool:
    """Whether somebody else than the controller deleted the list, when its term had begun for good."""
    return write.session != term.session and write.time - common.inputs.time_at(term.start) >= _SETTLED


def _unread(common: Common, term: Term, before: ListWrite, made: ListWrite, after: ListWrite | None) -> Unread:
    ended = min(term.end, after.zxid if after else term.end)
    known = ended < inf
    until = common.inputs.time_at(ended) if known else common.inputs.last_time
    return Unread(made.zxid, made.time, before.zxid, term.epoch, int(ended) if known else None, until - made.time)
