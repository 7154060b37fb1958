"""What replay found, as JSON and in words."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from kafkaproof.checker.basics.words import counted
from kafkaproof.checker.commands.tables import console
from kafkaproof.traces.basics.verdicts import BAD_INPUT, CONFORMS, DIVERGES, UNDECIDED, WORST_FIRST
from kafkaproof.traces.broker_logs.checking import Checked
from kafkaproof.traces.evidence.features import Features
from kafkaproof.traces.explain.consumers.groups import Found
from kafkaproof.traces.explain.election.result import Result
from kafkaproof.traces.explain.facts.remarks import Remark, print_remarks
from kafkaproof.traces.explain.log.audit import Audit
from kafkaproof.traces.explain.log.streams import Streams, flaws
from kafkaproof.traces.metrics.series import Series
from kafkaproof.traces.migration.judged import Judged
from kafkaproof.traces.reading.end import End
from kafkaproof.traces.reading.recording import Recording
from kafkaproof.traces.report.broker_logs import logs_as_json, print_logs
from kafkaproof.traces.report.facts import Facts, print_facts
from kafkaproof.traces.report.followed import Followed
from kafkaproof.traces.report.incidents import CRITICAL, KINDS, SERIOUS, SHOWN, WARNING, Incident, by_kind, incidents_of
from kafkaproof.traces.report.metrics import metrics_as_json, print_metrics
from kafkaproof.traces.report.migration import incidents_of_migration, migration_as_json, print_migration
from kafkaproof.traces.report.partitions import changes_as_json, print_changes
from kafkaproof.traces.report.topics import notifications_as_json, print_topics, reassignments_as_json, topics_as_json

MISSING = "records are missing; all others fit"


class Held(NamedTuple):
    """What came of holding a log to a range of releases: where it diverges, or why it was not tried at all.

    `undecided`: it is neither explained nor refuted.
    """

    features: Features
    divergence: tuple[int, str] | None
    excluded: str | None
    undecided: bool = False

    @property
    def told(self) -> str:
        """What came of it, in words."""
        name = f"Kafka {self.features.releases} ({self.features.variant})"
        if self.excluded:
            return f"{name}: no, {self.excluded}"
        if self.divergence:
            return f"{name}: no, diverges at {self.divergence[0]:#x}"
        return f"{name}: undecided" if self.undecided else f"{name}: explains the log"

    def as_json(self) -> dict:
        """An object of `releases` of `replay --json`."""
        return {
            **self.features.releases.ends,
            "variant": self.features.variant,
            "explains": not (self.excluded or self.divergence or self.undecided),
            "first_divergence": self.divergence and hex(self.divergence[0]),
            "excluded": self.excluded,
        }


@dataclass(frozen=True)
class Report:
    """The answer of one replay; `result` and `streams` are None where nothing could be followed.

    `reason` tells why there is no verdict; `streams` are all writes to partitions and topics, each explained or not;
    `audit` is what each record is; `facts` is what happened; `metrics` is what operators would have seen; `logs` is
    what brokers' own logs say to it, where they were given; `end` is the record before which replay ended, if it did;
    `consumers` is what was found of old consumers; `held` are all ranges of releases, where none was asked for;
    `earlier` is the report of what is before missing records, or before a quorum ruled, and then `verdict` and `reason` are
    of both;
    `migration` is what was found of a quorum's rule.
    """

    recording: Recording
    result: Result | None
    problems: tuple[str, ...]
    verdict: str
    reason: str | None = None
    streams: Streams | None = None
    audit: Audit | None = None
    facts: Facts | None = None
    metrics: Series | None = None
    logs: Checked | None = None
    end: End | None = None
    consumers: Found | None = None
    held: tuple[Held, ...] = ()
    earlier: Report | None = None
    migration: Judged | None = None

    @property
    def followed(self) -> Followed | None:
        """All that was found; None where nothing could be followed."""
        if self.result is None or self.streams is None or self.audit is None:
            return None
        if self.facts is None or self.metrics is None:
            return None
        return Followed(self.result, self.streams, self.audit, self.facts, self.metrics)

    @property
    def parts(self) -> list[Report]:
        """The reports of what is before each gap, oldest first, and this."""
        return [*(self.earlier.parts if self.earlier else ()), self]

    @property
    def divergence(self) -> tuple[int, str] | None:
        """The first record of all parts that diverges, and why."""
        found = [part.result.divergence for part in self.parts if part.result and part.result.divergence]
        found += [self.migration.divergence] if self.migration and self.migration.divergence else []
        return min(found, default=None)

    @property
    def remarks(self) -> list[Remark]:
        """What went wrong although every record may conform, in the order of time."""
        found: list[Remark] = []
        if self.facts:
            found += [each.remark() for each in self.facts.outside]
            found += [each.remark() for each in self.facts.unread]
            found += [each.remark() for each in self.facts.failing]
        return sorted([*found, *(self.logs.remarks if self.logs else ())], key=lambda remark: remark.time)

    @cached_property
    def incidents(self) -> list[Incident]:
        """What went wrong in all parts, the worst kinds first."""
        found = [
            incident
            for part in self.parts
            if part.followed
            for incident in incidents_of(part.followed, part.remarks, part.recording.transactions)
        ]
        found += incidents_of_migration(self.migration) if self.migration else []
        return sorted(found, key=lambda each: KINDS.index(each.kind))

    @property
    def and_yet(self) -> str:
        """What a log had that conforms, and yet hurt; empty where it had nothing worse than warnings."""
        return f"but these went wrong: {', '.join(self.hurt)} (see the top)" if self.hurt else ""

    @property
    def until(self) -> str:
        """Up to where a log conforms, if that is not the last that was written."""
        if self.end:
            return f" until {self.end.zxid:#x}"
        return f" up to {self.recording.transactions[-1].zxid:#x}, where it is torn" if self.recording.torn else ""

    @property
    def hurt(self) -> tuple[str, ...]:
        """The kinds of incidents that are worse than warnings, the worst first."""
        return tuple(dict.fromkeys(each.kind for each in self.incidents if each.severity != WARNING))

    @property
    def violated(self) -> set[str]:
        """The ids of the properties that are violated in any part."""
        return {name for part in self.parts if part.result for name in part.result.violations.found}

    def after(self, earlier: Report) -> Report:
        """This report, after that of what is before missing files: alone, the records that are there may fit."""
        if self.verdict == BAD_INPUT:
            return replace(self, earlier=earlier)
        if DIVERGES in (self.verdict, earlier.verdict):
            return replace(self, earlier=earlier, verdict=DIVERGES, reason=self.reason or "what is before a gap does")
        return replace(self, earlier=earlier, verdict=UNDECIDED, reason=(self.reason or earlier.reason or MISSING))

    def behind(self, earlier: Report) -> Report:
        """This report, after that of what is before a quorum ruled: the worse verdict of both."""
        worse = min(self, earlier, key=lambda each: WORST_FIRST.index(each.verdict))
        reason = self.reason if worse is self else worse.reason or "what is before a quorum ruled does"
        return replace(self, earlier=earlier, verdict=worse.verdict, reason=reason)

    def beside(self, migration: Judged, problems: Sequence[str]) -> Report:
        """This report, with what was found of a quorum's rule: the worse verdict of both."""
        found = replace(self, migration=migration, problems=(*problems, *migration.problems, *self.problems))
        if migration.divergence is None or self.verdict in (BAD_INPUT, DIVERGES):
            return found
        return replace(found, verdict=DIVERGES, reason=f"while a quorum rules, at {migration.divergence[0]:#x}")

    def as_json(self) -> dict:
        """The report as `replay --json` prints it."""
        result, divergence = self.result, self.divergence
        first = {"zxid": hex(divergence[0]), "reason": divergence[1]} if divergence else None
        return {
            "format": 1,
            "variant": result.variant if result else None,
            "releases": [each.as_json() for each in self.held],
            "verdict": self.verdict,
            "reason": self.reason,
            "first_divergence": first,
            "violations": [violation.as_json() for violation in result.violations.found.values()] if result else [],
            "controllers": [controller.as_json() for controller in result.controllers.all] if result else [],
            "end": self.end and {"zxid": hex(self.end.zxid), "reason": self.end.text},
            "records": len(self.recording.transactions),
            "explained": result.explained if result else 0,
            "skipped": dict(result.skipped) if result else {},
            "audit": self.audit and self.audit.as_json(),
            "fenced": len(refused_by_epoch(result)) if result else 0,
            "incidents": [incident.as_json() for incident in self.incidents],
            "problems": list(self.problems),
            "flaws": [flaw.as_json() for flaw in flaws(self.streams)] if self.streams else [],
            "owed": [each.as_json() for each in self.streams.owed.waiting] if self.streams else [],
            "facts": self.facts and self.facts.as_json(),
            "partitions": changes_as_json(self.streams) if self.streams else None,
            "topics": topics_as_json(self.streams) if self.streams else None,
            "reassignments": reassignments_as_json(self.streams) if self.streams else None,
            "notifications": notifications_as_json(self.streams) if self.streams else None,
            "metrics": None if self.metrics is None else metrics_as_json(self.metrics),
            "consumers": self.consumers and self.consumers.as_json(),
            "logs": self.logs and logs_as_json(self.logs),
            "remarks": [remark.as_json() for remark in self.remarks],
            "migration": self.migration and migration_as_json(self.migration),
            "earlier": [replace(part, earlier=None).as_json() for part in self.parts[:-1]],
        }


def verdict_of(recording: Recording, result: Result, accounts: Audit) -> tuple[str, str | None]:
    """The verdict of a recording that was followed, and why it is undecided, if it is."""
    if result.divergence:
        return DIVERGES, None
    if result.undecided:
        return UNDECIDED, result.undecided
    if recording.gaps:
        return UNDECIDED, MISSING
    if accounts.unexplained:
        return (
            UNDECIDED,
            f"{len(accounts.unexplained):,} records are no step of the specification, and of no listed "
            f"kind: the first is {accounts.unexplained[0]:#x}",
        )
    return CONFORMS, None


def refused_by_epoch(result: Result) -> list[tuple[int, int]]:
    """Zxid and session of each write that the check of /controller_epoch refused."""
    return [(zxid, made.session) for zxid, made in result.steps.made.pairs if made.candidate.answer == "FENCED"]


def print_report(report: Report) -> None:
    """Print the incidents, the controllers, what explains the writes, what each record is, problems, and the verdict."""
    out = console()
    _print_incidents(out, report.incidents)
    _print_part(out, report)
    if report.migration:
        print_migration(out, report.migration)


def _print_incidents(out: Console, incidents: list[Incident]) -> None:
    """Print a line for each incident, the first of many of a kind, and the way out of each kind once."""
    colours = {CRITICAL: "bold red", SERIOUS: "yellow"}
    for kind, found, ways_out in by_kind(incidents):
        for each in found[:SHOWN]:
            out.print(f"[{colours.get(each.severity, 'cyan')}]{each.severity}[/] ", end="")
            out.print(f"{kind}: {each.line}", soft_wrap=True, markup=False, highlight=False)
        if len(found) > SHOWN:
            out.print(f"         and {len(found) - SHOWN:,} more of {kind}: see --json")
        for way_out in ways_out:
            out.print(f"         way out: {way_out}", soft_wrap=True, markup=False, highlight=False)


def _print_part(out: Console, report: Report) -> None:
    if report.earlier:
        _print_part(out, replace(report.earlier, problems=()))
    transactions, result = report.recording.transactions, report.result
    if transactions:
        span = f"{transactions[0].zxid:#x} to {transactions[-1].zxid:#x}"
        out.print(
            f"{report.recording.directory}: {counted(transactions, 'record')}, {span}", soft_wrap=True, markup=False
        )
    if result:
        out.print(_controllers(result))
    if report.facts:
        print_facts(out, report.facts)
    if report.streams:
        print_changes(out, report.streams)
        print_topics(out, report.streams)
        for each in flaws(report.streams):
            out.print(
                f"[yellow]{each.property} does not hold[/] in any version of Kafka, nor here: first at "
                f"{each.zxid:#x}, {counted(each.count, 'record')}. It demands: {each.text}",
                soft_wrap=True,
            )
        for waiting in report.streams.owed.waiting:
            out.print(f"[yellow]owed[/] {escape(waiting.told)}", soft_wrap=True)
    if report.consumers and report.consumers.groups:
        for line in report.consumers.lines():
            out.print(line, soft_wrap=True)
    if report.metrics:
        print_metrics(out, report.metrics)
    if report.logs:
        print_logs(out, report.logs)
    if report.audit:
        report.audit.print(out)
    print_remarks(out, report.remarks)
    for problem in (each for each in report.problems if each != report.reason):
        out.print(f"[yellow]problem[/]: {escape(problem)}", soft_wrap=True)
    for held in report.held:
        out.print(held.told, soft_wrap=True, markup=False)
    _print_verdict(out, report)


def _controllers(result: Result) -> Table:
    table = Table(header_style="bold")
    for name in ("epoch", "broker", "session", "/controller", "/controller_epoch", "how it ended"):
        table.add_column(name, justify="right" if name in ("epoch", "broker") else "left")
    for each in result.controllers.all:
        ended = f"{each.ended} at {each.ended_zxid:#x}" if each.ended else "still controller"
        raised = "" if each.epoch_zxid is None else hex(each.epoch_zxid)
        epoch = "none" if each.epoch is None else str(each.epoch)
        table.add_row(epoch, str(each.broker), hex(each.session), hex(each.zxid), raised, ended)
    return table


def print_where(out: Console, directory: Path, *options: str) -> None:
    """Print the command that opens a recording where it diverges."""
    command = shlex.join(["kafkaproof", "explore", str(directory), *options])
    out.print(f"see what was possible there, and why this was not: {command}", soft_wrap=True, markup=False)


def _print_verdict(out: Console, report: Report) -> None:
    result = report.result
    if result and result.divergence:
        zxid, reason = result.divergence
        out.print(f"[bold red]diverges[/] from {result.variant} at {zxid:#x}:", soft_wrap=True)
        out.print(reason, soft_wrap=True, markup=False)
        print_where(out, report.recording.directory)
    elif result and report.verdict == CONFORMS:
        out.print(f"[green]conforms[/] to {result.variant}{report.until}: each record is a step that it allows")
        if report.and_yet:
            out.print(f"[yellow]{report.and_yet}[/]", soft_wrap=True)
    else:
        out.print(f"[bold yellow]{report.verdict}[/]", end="")
        out.print(f": {report.reason}", soft_wrap=True, markup=False)
    for each in result.violations.found.values() if result else ():
        changed = f", {each.leader_changes:,} of which changed a leader" if each.leader_changes else ""
        out.print(
            f"[bold red]violates {each.property}[/] first at {each.zxid:#x}: {counted(each.count, 'record')}{changed}. "
            f"It demands: {each.text}",
            soft_wrap=True,
        )
