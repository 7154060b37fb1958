"""What one might expect of every write of a partition's state, and how often a log does otherwise.

These are no properties of the specification: each version of Kafka breaks some of them by right. After an incident
they tell where to look.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from spec.language.domains import NOBODY
from traces.evidence import Evidence
from traces.partitions.changes import Change


class Written(NamedTuple):
    """What matters of a write of a state, and of what ZooKeeper held when it came: few are different.

    `leader`, `isr`: those written; `former`: the leader and the ISR before it, None for the first state; `raised`,
    `controller_raised`: by how much the leader epoch and the controller epoch rise; `replicas`: those of the topic
    znode; `present`: the controller epoch is that of /controller_epoch; `owner`: whether the writer owns /controller,
    None where it is not there.
    """

    leader: int
    isr: tuple[int, ...]
    former: tuple[int, tuple[int, ...]] | None
    raised: int
    controller_raised: int
    registered: frozenset[int]
    replicas: tuple[int, ...] | None
    present: bool
    owner: bool | None


EXPECTATIONS: dict[str, Callable[[Written], bool]] = {
    "the leader is in the ISR": lambda w: w.leader in (NOBODY, *w.isr),
    "the ISR is not empty": lambda w: bool(w.isr),
    "the leader written is registered in /brokers/ids": lambda w: w.leader in {NOBODY, *w.registered},
    "every ISR member written is registered in /brokers/ids": lambda w: w.registered >= set(w.isr),
    "the topic znode exists and has the partition": lambda w: w.replicas is not None,
    "the ISR is within the replicas of the topic znode": lambda w: w.replicas is None or set(w.isr) <= set(w.replicas),
    "the controller epoch written is that of /controller_epoch": lambda w: w.present,
    "/controller exists at the time of the write": lambda w: w.owner is not None,
    "the writer owns /controller at the time of the write": lambda w: w.owner is not False,
    "the leader epoch never falls": lambda w: not w.former or w.raised >= 0,
    "the leader epoch rises by at most 1": lambda w: not w.former or w.raised <= 1,
    "a new leader has a new leader epoch": lambda w: not w.former or w.leader == w.former[0] or w.raised != 0,
    "the ISR grows only without a new leader epoch": lambda w: not w.former or w.raised == 0
        or not set(w.isr) > set(w.former[1]),
    "the controller epoch never falls": lambda w: not w.former or w.controller_raised >= 0,
}
_REMEMBERED = 20_000


@dataclass
class Broken:
    """An expectation that writes did not meet: the first of them, and how many."""

    text: str
    zxid: int
    count: int = 0

    def as_json(self) -> dict:
        """The expectation as an object of `replay --json`."""
        return {"expected": self.text, "count": self.count, "first": hex(self.zxid)}


def broken_by(evidence: Evidence) -> list[Broken]:
    """The expectations that the writes of a stream did not meet, in a fixed order."""
    found: dict[str, Broken] = {}
    for change in evidence.changes.all:
        for text in _not_met(_written(evidence, change)) if change.after else ():
            broken = found.setdefault(text, Broken(text, change.zxid))
            broken.zxid, broken.count = min(broken.zxid, change.zxid), broken.count + 1
    return [found[text] for text in EXPECTATIONS if text in found]


@lru_cache(_REMEMBERED)
def _not_met(written: Written) -> tuple[str, ...]:
    return tuple(text for text, holds in EXPECTATIONS.items() if not holds(written))


def _written(evidence: Evidence, change: Change) -> Written:
    before, after, zxid = change.before, change.after, change.zxid
    assigned = evidence.inputs.assigned(change.partition, zxid)
    former, raised = None, (0, 0)
    if before:
        former = before.leader, before.isr
        raised = after.leader_epoch - before.leader_epoch, after.controller_epoch - before.controller_epoch
    holder = evidence.controllers.holder_at(zxid)
    return Written(
        after.leader, after.isr, former, *raised, evidence.inputs.brokers.at(zxid),
        assigned.replicas if assigned else None,
        after.controller_epoch == evidence.controllers.epoch_at(zxid), holder and holder.session == change.session)
