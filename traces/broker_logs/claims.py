"""What lines of brokers' logs tell: a class for each kind of line, with what that kind always says.

`broker`, `epoch`: a controller; `leader`, `leader_epoch`: those of a partition's state; `teller`: the broker whose log
it is. A field that some releases leave out is None there.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.traces.evidence.state_changes import Partition


@dataclass(frozen=True)
class Claim:
    """A line that tells something: `time` in ms as if it were UTC."""

    file: Path
    line: int
    time: int


@dataclass(frozen=True)
class PartitionClaim(Claim):
    """What is told of one partition."""

    partition: Partition


# What is held to ZooKeeper's log, line by line


@dataclass(frozen=True)
class Elected(Claim):
    """A controller has raised the epoch."""

    what: ClassVar = "elections of controllers"
    broker: int
    epoch: int


@dataclass(frozen=True)
class State(PartitionClaim):
    """A partition's state, as a controller has written it."""

    what: ClassVar = "leaders and leader epochs"
    leader: int
    leader_epoch: int
    broker: int
    epoch: int | None = None


@dataclass(frozen=True, kw_only=True)
class StateReceived(State):
    """The same, as a broker has received it from a controller."""

    epoch: int
    teller: int


@dataclass(frozen=True)
class Obeyed(PartitionClaim):
    """A broker has done what a controller asked for."""

    what: ClassVar = "controllers obeyed"
    broker: int
    epoch: int
    teller: int


Held = Elected | State | Obeyed


# What tells, together with other lines, what went wrong


@dataclass(frozen=True)
class ShutdownAsked(Claim):
    """A broker has asked the controller for a controlled shutdown."""

    leaving: int


@dataclass(frozen=True)
class Handled(Claim):
    """A broker handles a LeaderAndIsr request."""

    broker: int
    teller: int
    epoch: int | None = None


@dataclass(frozen=True)
class Started(PartitionClaim):
    """A replica leads or follows in a leader epoch; `high`: its high watermark; `isr`: where it leads."""

    teller: int
    high: int | None = None
    isr: tuple[int, ...] | None = None


@dataclass(frozen=True)
class Truncated(PartitionClaim):
    """A log was cut to an offset."""

    offset: int


@dataclass(frozen=True)
class Expired(PartitionClaim):
    """Retention deletes the segment that begins at an offset, whose time index was read as zeros."""

    offset: int


@dataclass(frozen=True)
class Ready(Claim):
    """A broker has started."""

    teller: int


@dataclass(frozen=True)
class NotMade(PartitionClaim):
    """A controller could not write a partition's first state."""

    broker: int
    epoch: int | None = None


@dataclass(frozen=True)
class BadVersion(PartitionClaim):
    """A controller could not write an ISR, since the version that it remembers is not ZooKeeper's."""

    leader_epoch: int | None = None


@dataclass(frozen=True)
class StaleVersion(PartitionClaim):
    """The same of a leader that writes the ISR itself."""

    teller: int
    version: int


@dataclass(frozen=True)
class Ineligible(PartitionClaim):
    """A controller refused an ISR for a replica that is not eligible; `leader`: the leader, where it is that replica."""

    leader: int = NOBODY


@dataclass(frozen=True)
class NotEmpty(Claim):
    """A controller found requests of an earlier event that were never sent."""

    broker: int
