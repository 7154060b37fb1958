"""What is found of a migration: who ruled since when, what happened, what went wrong, and what the stores differ in."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import NamedTuple

from kafkaproof.traces.evidence.accounts import Account
from kafkaproof.traces.migration.drivers import SYSTEM
from kafkaproof.traces.migration.stores import Difference
from kafkaproof.traces.migration.timeline import Timeline
from kafkaproof.traces.reading.end import End, claimed_at
from kafkaproof.traces.zookeeper.snapshot import Snapshot
from kafkaproof.traces.zookeeper.znodes.quorum import Owner


@dataclass
class Reign:
    """Who rules from one record on: a broker, or (`owner`) a controller of a quorum; `ended`: the record, and how."""

    zxid: int
    time: int
    zk_epoch: int
    broker: int | None
    owner: Owner | None = None
    ended: int | None = None
    how: str = ""

    @property
    def name(self) -> str:
        """Who it is, in words."""
        if self.owner:
            return f"controller {self.owner.id} of the quorum, KRaft epoch {self.owner.epoch}"
        return f"broker {self.broker}"


class Event(NamedTuple):
    """Something to be told of a migration: when, and what."""

    zxid: int
    time: int
    text: str


class Trouble(NamedTuple):
    """Something that went wrong with a migration although the records conform, and the way out.

    `critical`: metadata are lost; `what`: topics.
    """

    zxid: int
    time: int
    text: str
    way_out: str
    critical: bool = False
    what: tuple[str, ...] = ()


class Stretch(NamedTuple):
    """Records in which a controller in ZooKeeper mode rules, or nobody: from one to another, and what was there before."""

    first: int
    last: int
    start: Snapshot | None


@dataclass
class Judged:
    """What was found of a migration.

    `accounts`: what the records are that a quorum's rule has, and how many of each; `stretches`: the others.
    """

    reigns: list[Reign] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    troubles: list[Trouble] = field(default_factory=list)
    accounts: Counter[Account] = field(default_factory=Counter)
    differences: list[Difference] = field(default_factory=list)
    stretches: list[Stretch] = field(default_factory=list)
    timelines: list[Timeline] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    divergence: tuple[int, str] | None = None

    def end_of(self, stretch: Stretch) -> End | None:
        """The record by which a quorum ends a stretch; None where none does."""
        claims = ((each.zxid, each.owner) for each in self.reigns if each.zxid > stretch.last)
        return next((claimed_at(zxid, owner) for zxid, owner in claims if owner), None)

    def step(self, name: str) -> None:
        """Count a record that is a step of *migration*."""
        self.accounts[Account(SYSTEM, name)] += 1

    def listed(self, kind: str) -> None:
        """Count a record of a listed kind."""
        self.accounts[Account(None, kind)] += 1

    def once(self, problem: str) -> None:
        """Note a problem, unless it is known."""
        if problem not in self.problems:
            self.problems.append(problem)

    @property
    def records(self) -> int:
        """How many records were judged."""
        return self.accounts.total()
