"""What the replay of a log's elections found."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from math import inf

from kafkaproof.traces.basics.columns import ByZxid
from kafkaproof.traces.evidence.accounts import Account
from kafkaproof.traces.evidence.controllers import Controllers
from kafkaproof.traces.explain.election.possibilities import Shared
from kafkaproof.traces.explain.election.steps import Steps
from kafkaproof.traces.explain.election.violations import Violations
from kafkaproof.traces.reading.missing import Missing
from kafkaproof.traces.zookeeper.transactions import Transaction


@dataclass
class Result:
    """What replay found.

    `beginning`: what was shared before the first record; `divergence`: the zxid that no behaviour explains,
    and why; `diverging`: that record, and the broker whose session wrote it; `by_a_state`: what was before it decides
    that, not the record alone; `last`: the last record that was followed,
    infinite where that is all of the log; `undecided`: why there is no verdict;
    `accounts`: what each record that was followed is, by zxid; `told`: what records are in the streams of partitions,
    topics and reassignments, by zxid.
    """

    variant: str
    records: int
    beginning: Shared
    controllers: Controllers
    violations: Violations
    steps: Steps
    accounts: ByZxid[Account] = field(default_factory=ByZxid)
    divergence: tuple[int, str] | None = None
    diverging: tuple[Transaction, int | None] | None = None
    by_a_state: bool = True
    last: float = inf
    undecided: str | None = None
    told: Mapping[int, str] = field(default_factory=dict)

    @property
    def explained(self) -> int:
        """How many records are steps of the election system."""
        return sum(count for account, count in self.accounts.counts().items() if account.system is not None)

    @property
    def skipped(self) -> Counter:
        """How many records are outside of it, by their kinds."""
        return Counter(
            {account.name: count for account, count in self.accounts.counts().items() if account.system is None}
        )

    def skip(self, transaction: Transaction, kind: str) -> None:
        """A record is no step, but of a kind that no transition makes."""
        self.accounts.append(transaction.zxid, Account(None, kind))

    def doubt(self, missing: Missing) -> None:
        """The record that diverges may be explained by records that are missing before it."""
        if self.divergence:
            zxid, reason = self.divergence
            self.undecided = f"{zxid:#x}: {missing.text} before it, and nothing else explains it: {reason}"
            self.divergence = self.diverging = None

    def diverge(self, transaction: Transaction, reason: str, by_a_state: bool = True) -> None:
        """The log diverges at an earlier record than was found so far: what comes from there on does not count."""
        self.by_a_state = by_a_state
        self.divergence, self.undecided, self.last = (transaction.zxid, reason), None, transaction.zxid
        self.diverging = transaction, self.controllers.broker_of(transaction.session)
        self.steps.cut(transaction.zxid)
        for name in [name for name, violation in self.violations.found.items() if violation.zxid >= transaction.zxid]:
            del self.violations.found[name]
