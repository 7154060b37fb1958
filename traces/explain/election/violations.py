"""Counts the records of a log that violate properties of the election system."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from kafkaproof.spec.language.model import Property
from kafkaproof.traces.explain.election.observation import Observation
from kafkaproof.traces.reading.state_records import StateWrites
from kafkaproof.traces.zookeeper.transactions import Transaction


@dataclass
class Violation:
    """A property that records violate: the first of them, how many, how many of them changed a leader."""

    property: str
    text: str
    zxid: int
    count: int = 0
    leader_changes: int = 0

    def as_json(self) -> dict:
        """The violation as an object of `replay --json`."""
        return {
            "property": self.property,
            "zxid": hex(self.zxid),
            "count": self.count,
            "leader_changes": self.leader_changes,
            "text": self.text,
        }


class Violations:
    """The violations so far, by the id of the property."""

    def __init__(self, properties: Mapping[str, Property]):
        self.found: dict[str, Violation] = {}
        self._texts = {name: each.text for name, each in properties.items()}

    def add(self, transaction: Transaction, broken: frozenset[str], observation: Observation) -> None:
        """Count what a record breaks."""
        for name in sorted(broken):
            first = Violation(name, self._texts[name], transaction.zxid)
            violation = self.found.setdefault(name, first)
            violation.count += 1
            violation.leader_changes += changes_leader(observation)

    def add_many(self, writes: StateWrites, broken: list[frozenset[str]], kinds: np.ndarray) -> None:
        """The same for many records that set states; `broken`: by each kind, `kinds`: of each record."""
        firsts = {
            (int(writes.zxids[rows[0]]), name): rows
            for name in sorted(frozenset().union(*broken))
            if len(rows := np.flatnonzero(np.array([name in each for each in broken])[kinds]))
        }
        for (zxid, name), rows in sorted(firsts.items(), key=lambda each: each[0]):
            violation = self.found.setdefault(name, Violation(name, self._texts[name], zxid))
            violation.count += len(rows)
            violation.leader_changes += int(writes.elects[rows].sum())


def changes_leader(observation: Observation) -> bool:
    """Whether a partition state gets another leader than it had."""
    state, known = observation.state, observation.known
    return state is not None and known is not None and state.leader != known.leader
