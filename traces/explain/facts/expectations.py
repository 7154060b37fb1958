"""What one might expect of every write of a partition's state, and how often a log does otherwise.

These are no properties of the specification: each version of Kafka breaks some of them by right. After an incident
they tell where to look.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.traces.basics.columns import distinct
from kafkaproof.traces.basics.versions import NEVER
from kafkaproof.traces.evidence.streams import Evidence
from kafkaproof.traces.reading.state_records import NOTHING


@dataclass(frozen=True)
class Written:
    """What matters of writes of states, and of what ZooKeeper held when they came: bool of each write, or int.

    `led`, `leads`, `filled`: the state has a leader, who is in the ISR; the ISR has members; `leader_there`,
    `isr_there`: they are registered; `assigned`, `within`: there are replicas in the topic znode, with the ISR among
    them; `present`: the controller epoch is that of /controller_epoch; `owned`, `owner`: /controller is there, and the
    writer's; `again`: there was a state before; `moved`, `grows`: with another leader, with a part of the ISR;
    `raised`, `controller_raised`: by how much the leader epoch and the controller epoch rise.
    """

    led: np.ndarray
    leads: np.ndarray
    filled: np.ndarray
    leader_there: np.ndarray
    isr_there: np.ndarray
    assigned: np.ndarray
    within: np.ndarray
    present: np.ndarray
    owned: np.ndarray
    owner: np.ndarray
    again: np.ndarray
    moved: np.ndarray
    grows: np.ndarray
    raised: np.ndarray
    controller_raised: np.ndarray


UNEXPECTED: dict[str, Callable[[Written], np.ndarray]] = {
    "the leader is in the ISR": lambda w: w.led & ~w.leads,
    "the ISR is not empty": lambda w: ~w.filled,
    "the leader written is registered in /brokers/ids": lambda w: w.led & ~w.leader_there,
    "every ISR member written is registered in /brokers/ids": lambda w: ~w.isr_there,
    "the topic znode exists and has the partition": lambda w: ~w.assigned,
    "the ISR is within the replicas of the topic znode": lambda w: w.assigned & ~w.within,
    "the controller epoch written is that of /controller_epoch": lambda w: ~w.present,
    "/controller exists at the time of the write": lambda w: ~w.owned,
    "the writer owns /controller at the time of the write": lambda w: w.owned & ~w.owner,
    "the leader epoch never falls": lambda w: w.again & (w.raised < 0),
    "the leader epoch rises by at most 1": lambda w: w.again & (w.raised > 1),
    "a new leader has a new leader epoch": lambda w: w.again & w.moved & (w.raised == 0),
    "the ISR grows only without a new leader epoch": lambda w: w.again & w.grows & (w.raised != 0),
    "the controller epoch never falls": lambda w: w.again & (w.controller_raised < 0),
}
"""Expectations, and which writes do otherwise."""


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
    rows = np.flatnonzero(evidence.changes.after != NOTHING)
    written, zxids, found = _written(evidence, rows), evidence.changes.zxids[rows], []
    for text, is_otherwise in UNEXPECTED.items():
        if len(own := zxids[is_otherwise(written)]):
            found.append(Broken(text, int(own.min()), len(own)))
    return found


def _written(evidence: Evidence, rows: np.ndarray) -> Written:
    """The changes in some rows, which write states."""
    changes, states, inputs = evidence.changes, evidence.changes.states, evidence.inputs
    before, after, zxids = changes.before[rows], changes.after[rows], changes.zxids[rows]
    held, former, named = states.held[after], states.held[before], states.different
    assigned, versions = evidence.assigned.places(changes.partitions[rows], zxids), evidence.assigned.versions

    def registered(code: int, count: int) -> tuple[bool, bool]:
        there, (leader, isr) = inputs.brokers[count - 1].value, named[code]
        return leader in there, isr <= there

    def within(code: int, place: int) -> tuple[bool, bool]:
        assignment = versions[place]
        return assignment is not None, assignment is not None and named[code][1] <= {*assignment.replicas}

    leader_there, isr_there = _decided(registered, 2, held, inputs.brokers.counts(zxids))
    is_assigned, is_within = _decided(within, 2, held, assigned)
    present, owned, owner = _ruling(evidence, rows)
    (filled,) = _decided(lambda code: (bool(named[code][1]),), 1, held)
    (grows,) = _decided(lambda old, new: (named[old][1] < named[new][1],), 1, former, held)
    return Written(
        states.leaders[after] != NOBODY,
        states.leads[after],
        filled,
        leader_there,
        isr_there,
        is_assigned,
        is_within,
        present,
        owned,
        owner,
        before != NOTHING,
        states.leaders[before] != states.leaders[after],
        grows,
        states.leader_epochs[after] - states.leader_epochs[before],
        states.controller_epochs[after] - states.controller_epochs[before],
    )


def _ruling(evidence: Evidence, rows: np.ndarray) -> np.ndarray:
    """Whether the epoch of changes is that of /controller_epoch, /controller is there, and the writer owns it."""
    controllers, claims, moments = evidence.controllers, evidence.claims, evidence.common.moments

    def rules(claim: int, moment: int) -> tuple[bool, bool, bool]:
        epoch, session = claims.keys[claim]
        zxid = int(moments[moment]) if moment < len(moments) else NEVER
        holder = controllers.holder_at(zxid)
        return epoch == controllers.epoch_at(zxid), holder is not None, holder is not None and holder.session == session

    return _decided(rules, 3, claims.codes[rows], np.searchsorted(moments, evidence.changes.zxids[rows]))


def _decided(decide: Callable[..., tuple[bool, ...]], answers: int, *columns: np.ndarray) -> np.ndarray:
    """What a function of the values in columns says of each row: bool (answers, rows); asked once for equal ones."""
    first, kinds = distinct(*columns)
    found = [decide(*row) for row in zip(*(column[first].tolist() for column in columns))]
    return np.array(found, bool).reshape(len(found), answers)[kinds].T
