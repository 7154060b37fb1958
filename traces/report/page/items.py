"""What the page shows: items (marks and bars) of some kind, each in a lane, with the records behind it."""

from dataclasses import dataclass, field
from typing import NamedTuple


class Kind(NamedTuple):
    """A kind of items: how the legend calls it, how it is drawn, how grave it is (3: a violation, 0: nothing to see).

    `shape`: "bar" (a time with a broker's colour), "band" (a time that is a worry), "thread" (a time of work), or of a
    moment "tick", "diamond", "up", "down", "cross". `off`: it is not shown until it is asked for.
    """

    label: str
    shape: str
    weight: int
    off: bool = False


REASSIGNMENT = "reassignment"
KINDS = {
    "divergence": Kind("divergence", "cross", 3),
    "violation": Kind("violation", "cross", 3),
    "undecided": Kind("undecided", "cross", 3),
    "term": Kind("controller", "bar", 1),
    "late": Kind("write of a controller that is one no more", "tick", 2),
    "refused": Kind("write refused by the epoch check", "tick", 1),
    "up": Kind("broker registered", "bar", 0),
    "expired": Kind("session expired", "cross", 2),
    "leader": Kind("leader", "bar", 0),
    "offline": Kind("offline (no live leader)", "band", 2),
    "under-min": Kind("below min.insync.replicas", "band", 2),
    "under-replicated": Kind("under-replicated", "band", 1),
    "unclean": Kind("unclean election", "diamond", 2),
    "election": Kind("leader elected", "tick", 0),
    "lost": Kind("leader lost", "tick", 1),
    "state": Kind("other state of a controller", "tick", 0),
    "isr-shrink": Kind("ISR shrinks", "down", 1),
    "isr-expand": Kind("ISR expands", "up", 0),
    REASSIGNMENT: Kind("reassignment", "thread", 1),
    "deletion": Kind("topic deletion", "thread", 1),
    "created": Kind("topic or partitions created", "diamond", 0),
    "config": Kind("configuration", "tick", 0),
    "topic-write": Kind("other write to a topic", "tick", 0, True),
    "request": Kind("request or notification", "tick", 0),
    "group": Kind("record of a group", "tick", 0),
    "metric": Kind("metric", "line", 0),
    "other": Kind("any other record", "tick", 0),
}
"""The kinds in the order of the legend."""


@dataclass(frozen=True)
class Lane:
    """A row of the page. `section`: the heading that it stands under; `topic`: whose it is, None for the cluster's."""

    section: str
    name: str
    topic: str | None = None
    partition: int | None = None


@dataclass
class Item:
    """A mark (`end` None) or a bar in a lane; times in ms since 1970.

    `zxids`: the records behind it, of all `records` that there are; `brokers`: whom it concerns, the first gives the
    colour; `count`: how many items were made one.
    """

    lane: Lane
    kind: str
    start: int
    text: str
    zxids: tuple[int, ...] = ()
    end: int | None = None
    brokers: tuple[int, ...] = ()
    count: int = 1
    records: int = field(default=0)

    def __post_init__(self):
        self.records = self.records or len(self.zxids)

    @property
    def weight(self) -> int:
        """How grave it is."""
        return KINDS[self.kind].weight
