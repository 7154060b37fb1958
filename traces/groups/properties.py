"""The properties of groups that records decide: generations, leaders, assignments, instances, expiry."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from kafkaproof.spec.kafka.offset_values import GroupValue
from kafkaproof.traces.groups.numbers import CONSUMER, partitions_of

SAYS = {
    "G2": "the generation rises with every rebalance",
    "G3": "a group with members has one leader in a generation, and that is a member",
    "G6": "no partition is assigned to two members in a generation, by an assignor of Kafka's",
    "G15": "a group.instance.id has one member id",
    "G16": "an offset of a topic that is subscribed to does not expire (2.1 and later)",
}
_DISJOINT = ("range", "roundrobin", "sticky", "cooperative-sticky")


@dataclass
class Property:
    """How often a property was asked of a record, and the first record that violates it."""

    asked: int = 0
    violated: int = 0
    first: tuple[Path, int, str] | None = None

    def ask(self, holds: bool, segment: Path, offset: int, group: str) -> None:
        """Note an answer."""
        self.asked += 1
        if not holds:
            self.violated += 1
            self.first = self.first or (segment, offset, group)

    def as_json(self, name: str) -> dict:
        """The property as `replay --json` prints it."""
        first = self.first and {"segment": str(self.first[0]), "offset": self.first[1], "group": self.first[2]}
        return {"property": name, "text": SAYS[name], "asked": self.asked, "violated": self.violated, "first": first}


@dataclass
class Properties:
    """All of them, by id."""

    found: dict[str, Property] = field(default_factory=lambda: {name: Property() for name in SAYS})

    def ask_group(self, before: GroupValue | None, value: GroupValue, segment: Path, offset: int, group: str) -> None:
        """Ask of a record of a group; `before` is the one before it in the same life, if that is known."""
        ids = {m.id for m in value.members}
        instances = [m.instance for m in value.members if m.instance]
        same = before is not None and before.generation == value.generation
        answers = {
            "G2": before is None or value.generation >= before.generation + (not same),
            "G3": (value.leader in ids if ids else value.leader is None)
            and (before is None or not same or before.leader == value.leader or before.leader not in ids),
            "G15": len(set(instances)) == len(instances),
        }
        if value.protocol_type == CONSUMER and value.protocol in _DISJOINT:
            assigned = [p for m in value.members for p in partitions_of(m.assignment)]
            answers["G6"] = len(set(assigned)) == len(assigned)
        for name, holds in answers.items():
            self.found[name].ask(holds, segment, offset, group)

    def violated(self) -> dict[str, Property]:
        """Those that were violated."""
        return {name: each for name, each in self.found.items() if each.violated}
