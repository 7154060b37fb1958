"""Accounts for every record of a log, so that none is passed over: a step of the specification, or of a listed kind."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from rich.console import Console
from rich.table import Table

from traces.accounts import Account, is_listed
from traces.partitions.explanations import Explanation
from traces.partitions.replay import BY_ALTER_PARTITION
from traces.evidence import Common
from traces.recording import Recording
from traces.replay import Result
from traces.streams import unexplained
from traces.topics.replay import Streams

_LISTED = "of a listed kind"
_WITHDRAWN = Account(None, "requests withdrawn by hand")
_STEPS = {
    "topic created": Account("topics", "create_again"),
    "partitions added": Account("topics", "expand"),
    "deletion requested": Account("topics", "ask_for_deletion"),
    "reassignments requested": Account("topics", "list_reassignment"),
    "preferred elections requested": Account("partition", "ask_for_preferred"),
    "preferred elections dealt with": Account("partition", "delete_request"),
    "partition znodes created": Account("topics", "create_first_state"),
    "added partitions taken back": Account("topics", "restore_partitions"),
    "partition znodes deleted": Account("topics", "delete_states"),
    "topic znode deleted": Account("topics", "delete_topic_node"),
    "configuration deleted": Account("topics", "delete_topic_config"),
    "deletion finished": Account("topics", "delete_topic_marker"),
    "deletion is disabled": Account("topics", "topic_deletion"),
    "deletion of an unknown topic": Account("topics", "topic_deletion"),
    "assignment written": Account("topics", "write_assignment"),
    "union written": Account("topics", "write_union"),
    "target written": Account("topics", "write_target"),
    "request list written": Account("topics", "delete_listed"),
    "ISRs told of": Account("partition", "change_isr"),
    "log directory failure told of": Account("partition", "notify"),
    "topic id written": Account(None, "topic ids, written by a new controller"),
    "deletion withdrawn by hand": _WITHDRAWN,
    "requests withdrawn by hand": _WITHDRAWN,
    "preferred elections withdrawn by hand": _WITHDRAWN,
}
"""What the writes of streams are. Those of a kind that is missing here are what the election system says of them."""
_BY_STRATEGY = {"new_topic": "create_first_state", "remove_from_isr": "write_removal"}


@dataclass(frozen=True)
class Audit:
    """What each record of a log is, by zxid: none is in two of these, and all together are `records`.

    `unexplained`: the zxids that no step explains, and of no listed kind; `not_followed`: how many records come
    after the first that diverges, or that left it undecided.
    """

    records: int
    accounts: dict[int, Account]
    unexplained: list[int]
    not_followed: int

    @property
    def steps(self) -> int:
        """How many records are steps of the specification."""
        return sum(account.system is not None for account in self.accounts.values())

    @property
    def listed(self) -> int:
        """How many records are of the listed kinds."""
        return len(self.accounts) - self.steps

    def as_json(self) -> dict:
        """The object `audit` of `replay --json`."""
        first: dict[Account, int] = {}
        for zxid in sorted(self.accounts):
            first.setdefault(self.accounts[zxid], zxid)
        return {
            "records": self.records, "steps": self.steps, "listed": self.listed, "unexplained": len(self.unexplained),
            "not_followed": self.not_followed,
            "by": [{"system": account.system, "what": account.name, "count": count, "first": hex(first[account])}
                   for account, count in self._counts()],
        }

    def of(self, what: str) -> list[int]:
        """The zxids of the records that are a certain step, or of a certain kind."""
        return sorted(zxid for zxid, account in self.accounts.items() if account.name == what)

    def _counts(self) -> list[tuple[Account, int]]:
        """How many records there are of each, steps before kinds, in a fixed order."""
        counts = Counter(self.accounts.values())
        return sorted(counts.items(), key=lambda each: (each[0].system is None, each[0].system or "", each[0].name))

    def print(self, out: Console) -> None:
        """Print how many records each system and each kind accounts for, and that none is left."""
        rows: dict[str, Counter] = {}
        for account, count in self._counts():
            rows.setdefault(account.system or _LISTED, Counter())[account.name] += count
        table = Table(header_style="bold")
        for name in ("system", "records", "what they are"):
            table.add_column(name, justify="right" if name == "records" else "left")
        for system, names in rows.items():
            words = ", ".join(f"{name} {count:,}" for name, count in names.items())
            table.add_row(system, f"{names.total():,}", words)
        out.print(table)
        kinds = len(rows.get(_LISTED, ()))
        left = [f"{len(self.unexplained):,} unexplained"] if self.unexplained else []
        left += [f"{self.not_followed:,} not followed"] if self.not_followed else []
        out.print(f"{len(self.accounts):,} of {self.records:,} records accounted for: {self.steps:,} steps of the "
                  f"specification, {self.listed:,} of {kinds} listed kinds; {', '.join(left) or 'none left'}",
                  soft_wrap=True, highlight=False)


def audit(recording: Recording, common: Common, result: Result, streams: Streams) -> Audit:
    """Account for every record of a replay that has been settled."""
    named = dict(_named(streams))
    strange = {each.zxid for each in unexplained(common, streams)}
    if result.divergence:
        strange.add(result.divergence[0])
    accounts: dict[int, Account] = {}
    lost: list[int] = []
    followed = [t.zxid for t in recording.transactions if t.zxid <= result.last]
    for zxid in followed:
        account = named.get(zxid) or result.accounts.get(zxid)
        if zxid in strange or account is None or not account.system and not is_listed(account.name):
            lost.append(zxid)
        else:
            accounts[zxid] = account
    return Audit(len(recording.transactions), accounts, lost, len(recording.transactions) - len(followed))


def _named(streams: Streams) -> Iterator[tuple[int, Account]]:
    """What the streams say of records: nearer than that a controller's thread wrote it."""
    for judged in streams.writes:
        if judged.kind in _STEPS:
            yield judged.write.zxid, _STEPS[judged.kind]
    for each in streams.partitions:
        if each.explanations:
            yield each.change.zxid, _of_partition(each.explanations[0])


def _of_partition(best: Explanation) -> Account:
    """The transition that writes a partition's state by a strategy."""
    if best.strategy == "epoch_bump":
        return Account("topics", "tell_replicas")
    if best.strategy in ("isr_expand", "isr_shrink"):
        name = "alter_partition" if best.trigger == BY_ALTER_PARTITION else "change_isr"
    else:
        name = _BY_STRATEGY.get(best.strategy, "write_leader")
    return Account("partition", f"{name}: {best.strategy}")
