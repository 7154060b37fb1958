"""Messages: what one process tells another in one step of the specification, which handles one partition.

A request of Kafka carries one for each of its partitions, and so does its answer.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

OK = "none"
"""The name of no error."""
FOREIGN = 0
"""The number of the process from which all messages of a broker that is none of ours are."""


class OfPart(str):
    """The name of an error that is one partition's alone, and never that of a whole request."""


class Receiver(NamedTuple):
    """Who is to receive a message, and where it listens."""

    broker: int
    host: str
    port: int

    @property
    def address(self) -> tuple[str, int]:
        """Where it listens."""
        return self.host, self.port


class Reply(Protocol):
    """The place of a message in the answer to its request."""

    request: object

    def give(self, outcome: Outcome) -> None:
        """Answer; only the first answer counts."""


@dataclass(frozen=True)
class Message:
    """What one process tells another; `clock` and `zxid` say what the sender knew. `reply`: how it is answered, if it is
    to be.
    """

    kind: str
    id: str
    sender: int
    clock: int
    zxid: int
    content: dict = field(default_factory=dict)
    body: bytes = b""
    reply: Reply | None = field(default=None, compare=False)

    @property
    def number(self) -> tuple[int, int]:
        """Its number among those of its sender: that of the process, and in it."""
        process, number = self.id.split("-")
        return int(process.split(".")[1]), int(number)

    @property
    def is_foreign(self) -> bool:
        """Whether it is of a broker that is none of ours, so that no recording tells of it."""
        return self.number[0] == FOREIGN

    def settle(self, outcome: Outcome = OK) -> None:
        """It is dealt with: this is the outcome, unless it was answered before."""
        if self.reply:
            self.reply.give(outcome)


Outcome = Message | str | tuple[int, ...]
"""What is answered to a part of a request: a message, the name of an error, or partitions that a broker leads still."""


class Outgoing(NamedTuple):
    """A message that a step sends once it is recorded: a request, or an answer; to nobody where no address is known."""

    to: Receiver | Reply | None
    kind: str
    content: dict
    body: bytes = b""
