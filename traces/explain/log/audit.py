"""Accounts for every record of a log, so that none is passed over: a step of the specification, or of a listed kind."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from rich.console import Console
from rich.table import Table

from kafkaproof.spec.partition import log_dirs, triggers
from kafkaproof.spec.partition.creation import creation
from kafkaproof.spec.partition.deletion import deletion
from kafkaproof.spec.partition.deletion.faults import ask_for_deletion, ask_for_unknown_deletion
from kafkaproof.spec.partition.expansion import expansion
from kafkaproof.spec.partition.faults import ask_for_preferred
from kafkaproof.spec.partition.history import leader_zk
from kafkaproof.spec.partition.isr import alter_partition
from kafkaproof.spec.partition.machines import create_first_state, write_leader, write_removal
from kafkaproof.spec.partition.phases import lists, phases
from kafkaproof.spec.partition.reassignment import admin_requests, faults, reassignment
from kafkaproof.traces.basics.columns import ByZxid
from kafkaproof.traces.evidence.accounts import Account, is_listed
from kafkaproof.traces.evidence.streams import Common
from kafkaproof.traces.explain.election.result import Result
from kafkaproof.traces.explain.log.streams import Streams, unexplained
from kafkaproof.traces.explain.partitions.leader_changes import BY_ALTER_PARTITION
from kafkaproof.traces.explain.partitions.strategies import Strategy
from kafkaproof.traces.explain.topics.requests import LISTED, LISTED_AGAIN
from kafkaproof.traces.explain.topics.topic_writes import ADDED, CREATED, EXPLICIT, UNKNOWN
from kafkaproof.traces.reading.recording import Recording

_LISTED = "of a listed kind"
_LOST = Account(None, "nothing that is known")
_CHOSEN = Account(None, "topics and partitions with an explicit assignment")
_WITHDRAWN = Account(None, "requests withdrawn by hand")


def _account(transition: Callable) -> Account:
    """A step of the system in whose folder its transition stands."""
    return Account(transition.__module__.removeprefix("kafkaproof.spec.").split(".")[0], transition.__name__)


_STEPS = {
    CREATED: _account(creation.create_topic),
    f"{CREATED}{EXPLICIT}": _CHOSEN,
    ADDED: _account(expansion.write_partitions),
    f"{ADDED}{EXPLICIT}": _CHOSEN,
    "deletion requested": _account(ask_for_deletion),
    f"{UNKNOWN} requested": _account(ask_for_unknown_deletion),
    "reassignments requested": _account(faults.ask_for_reassignment),
    "preferred elections requested": _account(ask_for_preferred),
    "preferred elections dealt with": _account(triggers.delete_request),
    "partition znodes created": Account(None, "znodes of partitions, before their first states"),
    "added partitions taken back": _account(expansion.restore_partitions),
    "partition znodes deleted": _account(deletion.delete_state),
    "topic znode deleted": _account(deletion.delete_topic),
    "configuration deleted": _account(deletion.delete_config),
    "deletion finished": _account(deletion.delete_marker),
    "deletion is disabled": Account(None, "requests to delete, where deletion is disabled"),
    UNKNOWN: _account(deletion.delete_leftovers),
    "assignment written": _account(reassignment.write_assignment),
    "union written": _account(phases.write_union),
    "target written": _account(reassignment.write_target),
    LISTED: _account(lists.delete_listed),
    LISTED_AGAIN: Account(None, "lists of reassignments, written once more"),
    "ISRs told of": _account(leader_zk.change_isr),
    "log directory failure told of": _account(log_dirs.notify),
    "written again": Account(None, "topic znodes, written once more"),
    "topic id written": Account(None, "topic ids, written by a new controller"),
    "deletion withdrawn by hand": _WITHDRAWN,
    "requests withdrawn by hand": _WITHDRAWN,
    "preferred elections withdrawn by hand": _WITHDRAWN,
}
"""What the writes of streams are. Those of a kind that is missing here are what the election system says of them."""
_BY_TOPIC = {LISTED: _account(admin_requests.delete_request)}
"""Those that are another step where the topic znode says what is added and removed (2.4 and later)."""
_BY_STRATEGY: dict[Strategy, Callable] = {Strategy.NEW_TOPIC: create_first_state, Strategy.REMOVAL: write_removal}
"""The transitions by which a controller writes what a strategy gives; `write_leader`, where it is not here."""


@dataclass(frozen=True)
class Audit:
    """What each record of a log is, by zxid: none is in two of these, and all together are `records`.

    `unexplained`: the zxids that no step explains, and of no listed kind; `not_followed`: how many records come
    after the first that diverges, or that left it undecided.
    """

    records: int
    accounts: ByZxid[Account]
    unexplained: list[int]
    not_followed: int

    @property
    def steps(self) -> int:
        """How many records are steps of the specification."""
        return sum(count for account, count in self.accounts.counts().items() if account.system is not None)

    @property
    def listed(self) -> int:
        """How many records are of the listed kinds."""
        return len(self.accounts) - self.steps

    def as_json(self) -> dict:
        """The object `audit` of `replay --json`."""
        first = self.accounts.firsts()
        return {
            "records": self.records,
            "steps": self.steps,
            "listed": self.listed,
            "unexplained": len(self.unexplained),
            "not_followed": self.not_followed,
            "by": [
                {"system": account.system, "what": account.name, "count": count, "first": hex(first[account])}
                for account, count in self._counts()
            ],
        }

    def of(self, what: str) -> list[int]:
        """The zxids of the records that are a certain step, or of a certain kind."""
        return [zxid for zxid, account in self.accounts.pairs if account.name == what]

    def _counts(self) -> list[tuple[Account, int]]:
        """How many records there are of each, steps before kinds, in a fixed order."""
        return sorted(self.accounts.counts().items(), key=_rank)

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
        out.print(
            f"{len(self.accounts):,} of {self.records:,} records accounted for: {self.steps:,} steps of the "
            f"specification, {self.listed:,} of {kinds} listed kinds; {', '.join(left) or 'none left'}",
            soft_wrap=True,
            highlight=False,
        )


def _rank(each: tuple[Account, int]) -> tuple:
    """Steps before kinds, by their systems and names."""
    system, name = each[0]
    return system is None, system or "", name


def audit(recording: Recording, common: Common, result: Result, streams: Streams, consumers: ByZxid[Account]) -> Audit:
    """Account for every record of a replay that has been settled; `consumers`: what those of old consumers are."""
    odd = {each.zxid for each in unexplained(common, streams)} | set((result.divergence or ())[:1])
    strange, others = ByZxid.alike(sorted(odd), _LOST), ByZxid.alike(recording.zxids, _LOST)
    named = streams.best.mapped(lambda best: _of_partition(best.strategy, best.trigger)).over(
        streams.told.mapped((_STEPS | (_BY_TOPIC if common.features.kip455 else {})).get)
    )
    told = strange.over(named, consumers, result.accounts, others).until(result.last)
    accounts = told.mapped(lambda account: account if _is_known(account) else None)
    lost = told.mapped(lambda account: None if _is_known(account) else account)
    return Audit(len(others), accounts, list(lost), len(others) - len(told))


def _is_known(account: Account) -> bool:
    """Whether it is a step, or of a listed kind."""
    return account.system is not None or is_listed(account.name)


def _of_partition(strategy: Strategy, trigger: str) -> Account:
    """The transition that writes a partition's state by a strategy."""
    if strategy == Strategy.EPOCH_BUMP:
        return _account(reassignment.tell_replicas)
    transition: Callable
    if strategy in (Strategy.ISR_EXPAND, Strategy.ISR_SHRINK):
        transition = alter_partition if trigger == BY_ALTER_PARTITION else leader_zk.change_isr
    else:
        transition = _BY_STRATEGY.get(strategy, write_leader)
    account = _account(transition)
    return account._replace(name=f"{account.name}: {strategy}")
