"""Counts the records of a log that violate properties of the election system."""

from collections.abc import Mapping
from dataclasses import dataclass

from spec.language.model import Property
from traces.election.observation import Observation
from traces.zookeeper.transactions import Transaction


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
        return {"property": self.property, "zxid": hex(self.zxid), "count": self.count,
                "leader_changes": self.leader_changes, "text": self.text}


class Violations:
    """The violations so far, by the id of the property."""

    def __init__(self, properties: Mapping[str, Property]):
        self.found: dict[str, Violation] = {}
        self._properties = properties

    def add(self, transaction: Transaction, broken: frozenset[str], observation: Observation) -> None:
        """Count what a record breaks."""
        for name in sorted(broken):
            first = Violation(name, self._properties[name].text, transaction.zxid)
            violation = self.found.setdefault(name, first)
            violation.count += 1
            violation.leader_changes += changes_leader(observation)


def changes_leader(observation: Observation) -> bool:
    """Whether a partition state gets another leader than it had."""
    both = observation.state and observation.known
    return bool(both) and observation.state.leader != observation.known.leader
