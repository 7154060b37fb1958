"""``kafkaproof replay`` of the log of a ZooKeeper: once, or as it grows."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Collection
from contextlib import suppress
from dataclasses import replace
from functools import partial, reduce
from math import inf
from time import sleep

from kafkaproof.checker.basics.errors import UserError
from kafkaproof.checker.commands.main import OK, UNFINISHED, VIOLATED, WRONG_USE
from kafkaproof.checker.commands.tables import console
from kafkaproof.spec.election.model import MODELS
from kafkaproof.traces.basics.tasks import Here, collecting_seldom, shown
from kafkaproof.traces.broker_logs.checking import check_logs
from kafkaproof.traces.broker_logs.reading import Read, read_logs
from kafkaproof.traces.commands.elections_and_metrics import Beside, followed_beside
from kafkaproof.traces.commands.follow import Watch
from kafkaproof.traces.commands.groups import EXPECTED, exit_code_of, groups_beside, with_groups, worse
from kafkaproof.traces.commands.migration import migration_in
from kafkaproof.traces.commands.options import chroot_of, given, jobs_on, write_history
from kafkaproof.traces.commands.page import clusters_of, write_page
from kafkaproof.traces.commands.wire import exit_code_of_wire, expect_no_others, wire_beside, with_wire
from kafkaproof.traces.evidence.choice import VARIANTS_BY_RELEASE, Choice, asked_for, choice_of, fitting
from kafkaproof.traces.evidence.features import Features
from kafkaproof.traces.evidence.gathering import Gathering
from kafkaproof.traces.explain.consumers.follower import OldConsumers
from kafkaproof.traces.explain.election.single_steps import logged_properties
from kafkaproof.traces.explain.log.audit import audit
from kafkaproof.traces.explain.log.streams import explain_streams, settle
from kafkaproof.traces.groups.directories import beside
from kafkaproof.traces.integrity.contradictions import remarks_on
from kafkaproof.traces.integrity.early_expiries import Expiries
from kafkaproof.traces.integrity.later_snapshots import Snapshots
from kafkaproof.traces.reading.cluster import Members, find_root
from kafkaproof.traces.reading.events import rows_in
from kafkaproof.traces.reading.files import log_files
from kafkaproof.traces.reading.recording import Recording, read_readable
from kafkaproof.traces.reading.storing import learn
from kafkaproof.traces.reading.sweep import sweep
from kafkaproof.traces.redaction import Redactor
from kafkaproof.traces.report.facts import facts_of
from kafkaproof.traces.report.groups import print_groups
from kafkaproof.traces.report.history import history_of
from kafkaproof.traces.report.log import (
    BAD_INPUT,
    CONFORMS,
    DIVERGES,
    UNDECIDED,
    Held,
    Report,
    print_report,
    refused_by_epoch,
    verdict_of,
)
from kafkaproof.traces.report.page.render import render
from kafkaproof.traces.report.wire import print_wire
from kafkaproof.traces.zookeeper.transactions import LogError

PROPERTIES = {name: p for model in MODELS for name, p in logged_properties(model).items()}
_ROUND = 1.0
"""Seconds between two looks at a log that is followed."""
_PATIENCE = 60
"""Seconds that the command of --on-event may take."""


def replay_log(options) -> int:
    """Replay a log, print what was found; returns the exit code."""
    for name in set(options.expect) - PROPERTIES.keys() - EXPECTED:
        raise UserError(f"--expect {name}: replay evaluates {', '.join((*PROPERTIES, *sorted(EXPECTED)))}")
    asked_for(options.release, options.variant)
    expect_no_others(options)
    if options.on_event and not options.follow:
        raise UserError("--on-event runs a command for what happens while a log grows: give --follow, too")
    if options.follow:
        return watch(options)
    redactor = Redactor() if options.redact else None
    with jobs_on(options.master) as jobs, collecting_seldom():
        recording, error = _read(options, redactor, jobs)
        try:
            report = report_of(recording, error, options, redactor, jobs)
        except UserError as problem:
            if not options.json:
                raise
            problems = (*recording.problems, str(problem))
            report = Report(recording, None, problems, BAD_INPUT, str(problem))
    groups = groups_beside(options, recording, redactor) if recording.transactions else None
    wire = wire_beside(options, report)
    if options.json:
        found = with_groups(report.as_json(), groups) if groups else report.as_json()
        print(json.dumps(with_wire(found, wire) if wire else found, indent=2))
    else:
        print_report(report)
        if groups:
            print_groups(console(), groups)
        if wire:
            print_wire(console(), wire)
    if options.history:
        write_history(_history(report), options.history)
    if options.html:
        write_page(options.html, render(report, groups, clusters_of(options, recording, redactor), wire))
    code = exit_code(report, options.expect, options.fail_on)
    besides = [exit_code_of(groups, options.expect)] if groups else []
    return worse(code, *besides, *([exit_code_of_wire(wire)] if wire else []))


def _history(report: Report) -> dict | None:
    """The steps to the first violation or divergence of all parts."""
    found = (history_of(part.result, str(part.recording.directory)) for part in report.parts if part.result)
    return next(filter(None, found), None)


def watch(options) -> int:
    """Replay a log, then what is appended to it; returns the exit code of the state at Ctrl-C, or at a divergence."""
    if names := given(options, "json", "html", "history", "events", "master", "offsets", "logs", "redact"):
        raise UserError(f"--follow: not with {names}, for a log that does not grow; copy it, and replay the copy")
    watched = Watch(options.directory, partial(report_of_growing, options))
    print_report(watched.report)
    if found := beside(options.directory):
        print(f"--follow: groups are not followed; the segments in {found} are left alone", file=sys.stderr)
    print("waiting for more records; Ctrl-C ends it", file=sys.stderr)
    with suppress(KeyboardInterrupt):
        while not watched.over:
            sleep(_ROUND)
            for line in watched.round():
                print(line, flush=True)
                if options.on_event:
                    _tell(options.on_event, line)
    code = exit_code(watched.report, options.expect, options.fail_on)
    return VIOLATED if watched.violated - set(options.expect) else code


def _tell(command: list[str], line: str) -> None:
    """Run a command with a line as its last argument; what goes wrong with it ends nothing."""
    try:
        done = subprocess.run([*command, line], stdin=subprocess.DEVNULL, timeout=_PATIENCE).returncode
        problem = f"exit code {done}" if done else None
    except (OSError, subprocess.TimeoutExpired) as error:
        problem = str(error)
    if problem:
        print(f"--on-event {command[0]}: {problem}", file=sys.stderr)


def report_of_growing(options, recording: Recording, before: Report | None) -> Report:
    """Replay a recording that grows, held to what it was held to before."""
    held_to = before.streams.features if before and before.streams else None
    return report_of(recording, None, options, held_to=held_to)


def _read(options, redactor: Redactor | None, jobs) -> tuple[Recording, LogError | None]:
    """Read all logs of a directory, and leave their operations as Parquet files in a new one, if that is asked for."""
    directory, events = options.directory, options.events
    if events:
        try:
            events.mkdir(parents=True)
        except OSError as error:
            raise UserError(f"--events {events}: {error.strerror}; name a directory that does not exist") from None
    if redactor and jobs:
        learn(log_files(directory), redactor)
    found = read_readable(directory, redactor, events, jobs or Here())
    if events:
        print(f"{sum(map(rows_in, events.iterdir())):,} operations in {events}", file=sys.stderr)
    return found


def report_of(
    recording: Recording,
    error: UserError | None,
    options,
    redactor: Redactor | None = None,
    jobs=None,
    held_to: Features | None = None,
) -> Report:
    """Follow what could be read, with `error` where nothing more could; raises UserError.

    `held_to`: what the log is held to; None where that is to be asked of the options, and of the log.
    """
    read = read_logs(options.logs, redactor) if options.logs else None
    chroot = chroot_of(options, redactor)
    if recording.earlier is None:
        return _report_of_part(recording, error, chroot, read, options, jobs, redactor, held_to)

    def report_of_one(part: Recording) -> Report:
        try:
            return _report_of_part(
                part, error if part is recording else None, chroot, read, options, jobs, redactor, held_to
            )
        except UserError as problem:
            return Report(part, None, (*part.problems, str(problem)), UNDECIDED, str(problem))

    return reduce(lambda earlier, report: report.after(earlier), map(report_of_one, recording.parts))


def _report_of_part(
    recording: Recording,
    error: UserError | None,
    chroot: str | None,
    read: Read | None,
    options,
    jobs,
    redactor: Redactor | None,
    held_to: Features | None,
) -> Report:
    """Follow what no file is missing of, beside what brokers' logs tell; raises UserError."""
    problems = (*recording.problems, *([str(error)] if error else []))
    if not recording.transactions:
        raise error or UserError("; ".join(problems) or f"{options.directory}: no record")
    if recording.begins_unknown:
        return Report(recording, None, problems, UNDECIDED, "what was before the first record is unknown")
    root = find_root(recording, chroot)
    if end := recording.survey.ends.get(root):
        if end.migrated:
            return _report_of_migrated(recording, error, root, read, options, jobs, redactor, held_to)
        recording, problems = recording.before(end.zxid), (*problems, f"{options.directory}: {end.text}")
        error = UserError(problems[-1])
        if not recording.transactions:
            raise error
    members = Members(recording, root)
    if asked := asked_for(options.release, options.variant):
        held_to = fitting(asked, recording, root)

    def judged(features: Features) -> Report:
        found = _held_to(features, recording, members, root, read, jobs, redactor)
        verdict, reason = (BAD_INPUT, str(error)) if error else (found.verdict, found.reason)
        return replace(found, problems=(*problems, *found.problems), verdict=verdict, reason=reason, end=end)

    if held_to:
        return judged(held_to)
    if choice := choice_of(recording, members, root):
        return _furthest(choice, judged)
    unknown = "no election in this log, so the release is unknown; say --release R or --variant V"
    told = f"{options.directory}: {unknown}, by the brokers' release of Kafka: {VARIANTS_BY_RELEASE}"
    raise UserError(problems[-1] if end else told)


def _report_of_migrated(
    recording: Recording,
    error: UserError | None,
    root: str,
    read: Read | None,
    options,
    jobs,
    redactor: Redactor | None,
    held_to: Features | None,
) -> Report:
    """Follow a log in which a quorum rules for a while, and a controller in ZooKeeper mode before, and perhaps after."""
    judged = migration_in(recording, root, options)
    reports = []
    for stretch in judged.stretches:
        part = recording.between(stretch.start, stretch.first, stretch.last)
        last = stretch is judged.stretches[-1] and judged.reigns[-1].owner is None
        if not part.transactions:
            continue
        try:
            found = _report_of_part(part, error if last else None, root, read, options, jobs, redactor, held_to)
        except UserError as problem:
            found = Report(part, None, (str(problem),), UNDECIDED, str(problem))
        reports.append(replace(found, end=judged.end_of(stretch)))
    if not reports:
        reports.append(Report(recording.between(recording.start, 0, -1), None, (), CONFORMS))
    whole = reduce(lambda earlier, report: report.behind(earlier), reports)
    problems = (*recording.problems, *([str(error)] if error else []))
    return whole.beside(judged, problems)


def _furthest(choice: Choice, judged: Callable[[Features], Report]) -> Report:
    """The report of the releases that explain a log; where none of the likely do, of all that go furthest."""
    found = {features: judged(features) for features in choice.likely}
    excluded = dict(choice.excluded)
    if all(report.divergence for report in found.values()):
        found |= {features: judged(features) for features in excluded}
        excluded = {}
    best = max(found.values(), key=_reach)
    ranges = [
        Held(features, each.divergence, None, bool(each.result and each.result.undecided))
        for features, each in found.items()
    ]
    ranges += [Held(features, None, why) for features, why in excluded.items()]
    return replace(best, held=tuple(sorted(ranges, key=lambda each: each.features.releases)))


def _reach(report: Report) -> tuple[bool, float]:
    """Whether nothing of a log diverges, and the zxid up to which it is explained."""
    return report.divergence is None, report.result.last if report.result else inf


def _held_to(
    features: Features,
    recording: Recording,
    members: Members,
    root: str,
    read: Read | None,
    jobs,
    redactor: Redactor | None,
) -> Report:
    """Follow what no file is missing of, held to some releases."""
    gathering, others = Gathering(recording, features, members, root), Beside(recording, features, members, root)
    beside = jobs and jobs.beside(recording, partial(followed_beside, features=features, root=root))
    snapshots, expiries = Snapshots(recording, redactor), Expiries(recording.directory)
    consumers = OldConsumers(root, redactor is None)
    sweep(
        recording,
        root,
        gathering,
        snapshots,
        expiries,
        consumers,
        *(() if beside else others.listeners),
        progress=shown("records"),
    )
    gathered = gathering.gathered
    streams = explain_streams(gathered, jobs or Here())
    result, series = beside() if beside else others.found
    settle(gathered.common, result, streams, recording, snapshots.contradictions)
    logs = check_logs(read, gathered, recording, streams) if read else None
    accounts = audit(recording, gathered.common, result, streams, consumers.accounts)
    problems = (*remarks_on(recording, members), *snapshots.problems, *expiries.problems, *consumers.problems)
    verdict, reason = verdict_of(recording, result, accounts)
    facts = facts_of(gathered, streams, refused_by_epoch(result))
    return Report(
        recording, result, problems, verdict, reason, streams, accounts, facts, series, logs, consumers=consumers.found
    )


def exit_code(report: Report, expected: Collection[str], fail_on: Collection[str] = ()) -> int:
    """0 when it conforms, violates only what is expected, and has no incident of the kinds `fail_on`; 1, 2, 3 as in
    EXAMPLES.
    """
    if report.verdict == BAD_INPUT:
        return WRONG_USE
    contradicted = any(part.logs and part.logs.contradictions for part in report.parts)
    incident = any(each.kind in fail_on for each in report.incidents)
    if report.verdict == DIVERGES or report.violated - set(expected) or contradicted or incident:
        return VIOLATED
    return OK if report.verdict == CONFORMS else UNFINISHED
