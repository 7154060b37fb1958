"""What one might expect of every write of a partition's state, and how often a log does otherwise.

These are no properties of the specification: each version of Kafka breaks some of them by right. After an incident
they tell where to look.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from spec.language.domains import NOBODY
from traces.election.controllers import Controllers
from traces.evidence import Evidence
from traces.partitions.changes import Change
from traces.pipeline.columns import distinct
from traces.pipeline.states import NOTHING, Codes


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
    changes = evidence.changes
    rows = np.flatnonzero(changes.after != NOTHING)
    first, kinds = _alike(evidence, rows)
    for kind, row in enumerate(rows[first].tolist()):
        for text in _not_met(_written(evidence, changes[row])):
            zxids = changes.zxids[rows[kinds == kind]]
            broken = found.setdefault(text, Broken(text, int(zxids.min())))
            broken.zxid, broken.count = min(broken.zxid, int(zxids.min())), broken.count + len(zxids)
    return [found[text] for text in EXPECTATIONS if text in found]


def _alike(evidence: Evidence, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Which changes in some rows are alike in all that matters to expectations, as `distinct` tells it."""
    changes, states = evidence.changes, evidence.changes.states
    before, after, zxids = changes.before[rows], changes.after[rows], changes.zxids[rows]
    held, places = states.held[after], evidence.assigned.places(changes.partitions[rows], zxids)
    epochs = [numbers[after] - numbers[before] for numbers in (states.leader_epochs, states.controller_epochs)]
    raised = [np.clip(each, -1, 2).astype(np.int64) + 1 for each in epochs]
    return distinct(
        states.held[before], before == NOTHING, held, *raised,
        _registered(evidence, held, zxids), evidence.assigned.ranges(places, places),
        _ruling(evidence, rows))


def _registered(evidence: Evidence, held: np.ndarray, zxids: np.ndarray) -> np.ndarray:
    """Codes for which brokers of a leader and an ISR were registered at records."""
    brokers, different, codes = evidence.inputs.brokers, evidence.changes.states.different, Codes[frozenset[int]]()
    first, kinds = distinct(held, brokers.counts(zxids))
    named = ((brokers.at(zxid), *different[code]) for code, zxid in zip(held[first].tolist(), zxids[first].tolist()))
    found = [codes.of(there & {leader, *isr}) for there, leader, isr in named]
    return np.array(found, np.int64)[kinds]


def _ruling(evidence: Evidence, rows: np.ndarray) -> np.ndarray:
    """Codes for whether the controllers of changes ruled then."""
    controllers, claims, codes = evidence.controllers, evidence.claims, Codes[tuple[bool, bool | None]]()
    zxids = evidence.changes.zxids[rows]
    first, kinds = distinct(claims.codes[rows], np.searchsorted(controllers.moments(), zxids))
    named = zip(claims.codes[rows[first]].tolist(), zxids[first].tolist())
    found = [codes.of(_rules(controllers, *claims.keys[claim], zxid)) for claim, zxid in named]
    return np.array(found, np.int64)[kinds]


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
    return Written(
        after.leader, after.isr, former, *raised, evidence.inputs.brokers.at(zxid),
        assigned.replicas if assigned else None, *_rules(evidence.controllers, *change.reign, zxid))


def _rules(controllers: Controllers, epoch: int, session: int, zxid: int) -> tuple[bool, bool | None]:
    """Whether an epoch is that of /controller_epoch, and whether a session owns /controller, before a record."""
    holder = controllers.holder_at(zxid)
    return epoch == controllers.epoch_at(zxid), holder and holder.session == session
