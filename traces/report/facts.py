"""The facts of a log as JSON and in words."""

from collections.abc import Callable
from dataclasses import dataclass

from rich.console import Console
from rich.table import Table

from kafkaproof.checker.basics.words import counted
from kafkaproof.traces.basics.times import time_of_day
from kafkaproof.traces.evidence.registrations import Registration
from kafkaproof.traces.evidence.state_changes import Change
from kafkaproof.traces.evidence.streams import Gathered
from kafkaproof.traces.explain.facts.expectations import Broken
from kafkaproof.traces.explain.facts.failing_failovers import Failing, failing_in
from kafkaproof.traces.explain.facts.leaderless import Leaderless
from kafkaproof.traces.explain.facts.outside_assignment import Outside
from kafkaproof.traces.explain.facts.terms import Written, written_by
from kafkaproof.traces.explain.facts.unread_lists import Unread, unread_in
from kafkaproof.traces.explain.log.streams import Streams

_SHOWN = 10
LONG = 1_000
"""Times without a leader are told one by one from so many milliseconds on: shorter ones belong to every election."""


@dataclass(frozen=True)
class Facts:
    """What happened in a log.

    `leaderless`: times without a leader; `outside`: those in which an ISR was not within the assignment; `unread`:
    lists of reassignments that no controller read; `failing`: controllers that gave up at once, one after the other;
    `written`: how many states took the leader from a partition, and how many of those kept only the lost leader in the
    ISR; `broken`: what one might expect of writes, and was not so.
    """

    registrations: list[Registration]
    unclean: list[Change]
    leaderless: list[Leaderless]
    outside: list[Outside]
    unread: list[Unread]
    failing: list[Failing]
    written: tuple[int, int]
    terms: list[Written]
    broken: list[Broken]

    @property
    def long(self) -> list[Leaderless]:
        """The times without a leader that lasted, but for those of topics that are deleted."""
        return [e for e in self.leaderless if not e.removed and (e.ended_time is None or e.ended_time - e.time > LONG)]

    def as_json(self) -> dict:
        """The object `facts` of `replay --json`."""
        states, kept = self.written
        return {
            "registrations": [each.as_json() for each in self.registrations],
            "unclean_elections": [_unclean(change) for change in self.unclean],
            "leaderless": {
                "states": states,
                "kept_lost_leader_alone": kept,
                "times": len(self.leaderless),
                "long": [each.as_json() for each in self.long],
            },
            "terms": [each.as_json() for each in self.terms],
            "unexpected": [each.as_json() for each in self.broken],
        }


def facts_of(gathered: Gathered, streams: Streams, refused: list[tuple[int, int]]) -> Facts:
    """Collect the facts. `refused`: zxid and session of the requests that the check of the epoch refused."""
    found, controllers = streams.facts, gathered.common.controllers
    terms = written_by(controllers, refused)
    written = {(each.epoch, each.session): each for each in found.written}
    for each in terms:
        if (states := written.get((each.epoch, each.session))) is not None:
            each.add(states)
    return Facts(
        gathered.common.registrations.all,
        found.unclean,
        found.leaderless,
        found.outside,
        unread_in(gathered.common),
        failing_in(gathered.common),
        (found.lost, found.kept_alone),
        terms,
        found.broken,
    )


def print_facts(out: Console, facts: Facts) -> None:
    """Print the lives of brokers, late writes of controllers, unclean elections, times without a leader."""
    out.print(_brokers(facts.registrations))
    if any(each.unowned or each.stale or each.refused for each in facts.terms):
        out.print(_terms(facts.terms))
    _print_some(out, "unclean elections", facts.unclean, _unclean_text)
    _print_some(out, "without a leader for more than a second", facts.long, _leaderless_text)
    for each in facts.broken:
        writes = counted(each.count, "write")
        out.print(f"unexpected: {writes} (first {each.zxid:#x}) where this does not hold: {each.text}", soft_wrap=True)


def _print_some(out: Console, title: str, found: list, text: Callable[..., str]) -> None:
    if found:
        out.print(f"{title}: {len(found):,}")
    for each in found[:_SHOWN]:
        out.print(f"  {text(each)}", soft_wrap=True, markup=False, highlight=False)
    if len(found) > _SHOWN:
        out.print(f"  and {len(found) - _SHOWN:,} more: see --json")


def _brokers(registrations: list[Registration]) -> Table:
    table = Table(header_style="bold")
    for name in ("broker", "times", "registered at", "ended"):
        table.add_column(name, justify="right" if name in ("broker", "times") else "left")
    for broker in sorted({each.broker for each in registrations}):
        own = [each for each in registrations if each.broker == broker]
        begun = [f"{each.zxid:#x} {time_of_day(each.time)}" for each in own]
        ended = [
            "still registered"
            if each.ended_time is None
            else f"{each.how} at {each.ended:#x} {time_of_day(each.ended_time)}"
            for each in own
        ]
        shown = slice(-_SHOWN, None)
        table.add_row(str(broker), f"{len(own):,}", "\n".join(begun[shown]), "\n".join(ended[shown]))
    return table


def _terms(terms: list[Written]) -> Table:
    table = Table(header_style="bold", title="writes of partition states by controllers", title_justify="left")
    for name in (
        "epoch",
        "broker",
        "all",
        "after it lost /controller",
        "after the next election",
        "refused (any kind)",
    ):
        table.add_column(name, justify="right")
    for each in terms:
        counts = (each.states, each.unowned, each.stale, each.refused)
        table.add_row(str(each.epoch), str(each.broker), *(f"{count:,}" for count in counts))
    return table


def _unclean(change: Change) -> dict:
    return {
        "zxid": hex(change.zxid),
        "topic": change.topic,
        "partition": change.number,
        "before": {"leader": change.former.leader, "isr": list(change.former.isr)},
        "after": {"leader": change.written.leader, "isr": list(change.written.isr)},
        "leader_epoch": change.written.leader_epoch,
        "broker": change.broker,
    }


def _unclean_text(change: Change) -> str:
    before, after = change.former, change.written
    return (
        f"{change.zxid:#x} {time_of_day(change.time)} {change.topic}-{change.number}: leader {before.leader}, ISR "
        f"{list(before.isr)} to leader {after.leader}, ISR {list(after.isr)}"
    )


def _leaderless_text(each: Leaderless) -> str:
    name = "{}-{}".format(*each.partition)
    begin = f"{name} from {each.zxid:#x} {time_of_day(each.time)}, ISR {list(each.isr)}"
    if each.ended_time is None:
        return f"{begin}, to the end"
    how = f"led by {each.leader}" + (", unclean" if each.unclean else "")
    return f"{begin}, to {each.ended:#x} {time_of_day(each.ended_time)}: {how}"
