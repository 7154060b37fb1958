"""The records of a log that are steps of the election system, with what there is to say of each."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from kafkaproof.traces.basics.columns import ByZxid
from kafkaproof.traces.explain.election.possibilities import Candidate, Shared
from kafkaproof.traces.reading.recording import Recording
from kafkaproof.traces.zookeeper.transactions import Transaction


@dataclass(frozen=True)
class Step:
    """A record that was explained: the broker's step (None: an operator's), the controller epoch in which the broker
    took it (0: in none), and what it violates.

    `candidate` is "outside" for a record that no transition makes, and that violates something all the same.
    """

    transaction: Transaction
    broker: int | None
    candidate: Candidate
    term: int
    shared: Shared
    violates: tuple[str, ...]


class Made(NamedTuple):
    """What there is to say of a step but its record: few are different."""

    session: int
    broker: int | None
    candidate: Candidate
    term: int
    shared: Shared
    violates: tuple[str, ...]


class Steps(Sequence):
    """The steps in the order of the log; `made` has by zxid what they are."""

    def __init__(self, recording: Recording):
        self._recording, self.made = recording, ByZxid[Made]()

    def add(self, transaction: Transaction, made: Made) -> None:
        """Note the step that a record is."""
        self.made.append(transaction.zxid, made)

    def cut(self, zxid: int) -> None:
        """Forget the steps from that zxid on."""
        self.made = self.made.until(zxid - 1)

    def __len__(self) -> int:
        return len(self.made)

    def __iter__(self) -> Iterator[Step]:
        rest = iter(self._recording.transactions)
        for zxid, made in self.made.pairs:
            yield Step(next(transaction for transaction in rest if transaction.zxid == zxid), *made[1:])

    def __getitem__(self, place):
        return list(self)[place]
