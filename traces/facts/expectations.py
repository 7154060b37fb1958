"""What one might expect of every write of a partition's state, and how often a log does otherwise.

These are no properties of the specification: each version of Kafka breaks some of them by right. After an incident
they tell where to look.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import NamedTuple

from spec.language.domains import NOBODY
from traces.contents import PartitionState
from traces.controllers import Controller
from traces.evidence import Evidence
from traces.partitions.changes import Change
from traces.assignments import Assignment


class Written(NamedTuple):
    """A write of a state, and what ZooKeeper held when it came.

    `epoch`: /controller_epoch; `holder`: who had /controller; `before` is None for the first state.
    """

    change: Change
    before: PartitionState | None
    after: PartitionState
    registered: frozenset[int]
    assignment: Assignment | None
    epoch: int | None
    holder: Controller | None


EXPECTATIONS: dict[str, Callable[[Written], bool]] = {
    "the leader is in the ISR": lambda w: w.after.leader in (NOBODY, *w.after.isr),
    "the ISR is not empty": lambda w: bool(w.after.isr),
    "the leader written is registered in /brokers/ids": lambda w: w.after.leader in {NOBODY, *w.registered},
    "every ISR member written is registered in /brokers/ids": lambda w: w.registered >= set(w.after.isr),
    "the topic znode exists and has the partition": lambda w: w.assignment is not None,
    "the ISR is within the replicas of the topic znode": lambda w: w.assignment is None
        or set(w.after.isr) <= set(w.assignment.replicas),
    "the controller epoch written is that of /controller_epoch": lambda w: w.after.controller_epoch == w.epoch,
    "/controller exists at the time of the write": lambda w: w.holder is not None,
    "the writer owns /controller at the time of the write": lambda w: w.holder is None
        or w.holder.session == w.change.session,
    "the leader epoch never falls": lambda w: not w.before or w.after.leader_epoch >= w.before.leader_epoch,
    "the leader epoch rises by at most 1": lambda w: not w.before or w.after.leader_epoch <= w.before.leader_epoch + 1,
    "a new leader has a new leader epoch": lambda w: not w.before or w.after.leader == w.before.leader
        or w.after.leader_epoch != w.before.leader_epoch,
    "the ISR grows only without a new leader epoch": lambda w: not w.before
        or w.after.leader_epoch == w.before.leader_epoch or not set(w.after.isr) > set(w.before.isr),
    "the controller epoch never falls": lambda w: not w.before
        or w.after.controller_epoch >= w.before.controller_epoch,
}


@dataclass
class Broken:
    """An expectation that writes did not meet: the first of them, and how many."""

    text: str
    zxid: int
    count: int = 0

    def as_json(self) -> dict:
        """The expectation as an object of `replay --json`."""
        return {"expected": self.text, "count": self.count, "first": hex(self.zxid)}


def broken_by(streams: Iterable[Evidence]) -> list[Broken]:
    """The expectations that the writes of some streams did not meet, in a fixed order."""
    found: dict[str, Broken] = {}
    for evidence in streams:
        for change in evidence.changes.all:
            written = _written(evidence, change) if change.after else None
            for text in (text for text, holds in EXPECTATIONS.items() if written and not holds(written)):
                broken = found.setdefault(text, Broken(text, change.zxid))
                broken.zxid, broken.count = min(broken.zxid, change.zxid), broken.count + 1
    return [found[text] for text in EXPECTATIONS if text in found]


def _written(evidence: Evidence, change: Change) -> Written:
    assigned = evidence.inputs.assignments(change.partition, change.zxid, change.zxid)
    controllers = evidence.controllers
    return Written(change, change.before, change.after, evidence.inputs.brokers.at(change.zxid),
                   assigned[-1].value if assigned else None, controllers.epoch_at(change.zxid),
                   controllers.holder_at(change.zxid))
