"""``kafkaproof replay``: hold the ZooKeeper log of a real cluster to the specification."""

from __future__ import annotations

import argparse
import gc
import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from functools import partial
from pathlib import Path
from time import sleep

from checker.commands.main import OK, UNFINISHED, VIOLATED, WRONG_USE
from checker.commands.tables import console
from checker.errors import UserError
from spec.museum.election import MODELS
from spec.processes import CHECKED, parts
from spec.processes import VARIANTS as RUN
from traces.audit import audit
from traces.broker_logs.checking import check_logs
from traces.broker_logs.reading import read_logs
from traces.cluster import VARIANTS, Members, find_root, find_variant
from traces.election_steps import identity, logged_properties
from traces.evidence import gather
from traces.facts.report import facts_of
from traces.following import Watch, expect_nothing_else
from traces.groups.command import (
    EXPECTED, exit_code_of, groups_beside, is_segments, replay_segments, row_with, with_groups, worse,
)
from traces.groups.replay import replay_groups
from traces.groups.report import print_groups
from traces.many import Row, print_rows, recordings_in, replay_all, worst
from traces.many import as_json as rows_as_json
from traces.metrics.series import metrics_of
from traces.page.render import render
from traces.page.writing import expect_writable, write_whole
from traces.pictures import history_of
from traces.processes.group_view import SHOWN
from traces.processes.pictures import history_of as recorded_history
from traces.processes.reading import Cluster, is_recording, read_cluster
from traces.processes.replay import Result
from traces.processes.replay import replay as follow
from traces.processes.report import as_json, print_result
from traces.recording import Recording, learn, log_files, read_readable
from traces.redaction import Redactor
from traces.replay import replay
from traces.report import (
    BAD_INPUT, CONFORMS, DIVERGES, UNDECIDED, Report, print_report, refused_by_epoch, verdict_of,
)
from traces.streams import explain_streams, settle, together

PROPERTIES = {name: p for model in MODELS for name, p in logged_properties(model).items()}
RECORDED = {identity(p) for variant in RUN for model in parts(variant) for p in model.properties} | {
    identity(p) for p in SHOWN}
_ROUND = 1.0
"""Seconds between two looks at a log that is followed."""
EXAMPLES = """examples:
  kafkaproof replay /var/lib/zookeeper
  kafkaproof replay runs/cluster-20260101-120000-1f2e
  kafkaproof replay /var/lib/zookeeper --html report.html
  kafkaproof replay /var/lib/zookeeper --offsets copy-of-the-brokers
  kafkaproof replay copy-of-the-logs --expect C4 --history split-brain.json
  kafkaproof replay /var/lib/zookeeper --master local[2] --events events
  kafkaproof replay runs --master local[2]
  kafkaproof show split-brain.json --beside runs/election-legacy-20260101-120000-1f2e

exit codes: 0 conforms and violates at most what --expect names, 1 diverges or violates, 2 bad input, 3 undecided;
of several recordings the worst, which is 1 before 2 before 3
"""


def add_parser(commands) -> None:
    """Add the subcommand."""
    parser = commands.add_parser(
        "replay", help="hold the ZooKeeper log of a real cluster to the specification", epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        description="Follow the elections and the controllers' writes in a ZooKeeper log, as steps of the "
                    "election system. Only reads; nothing needs to be instrumented. Of a cluster that `kafkaproof run` "
                    "recorded, follow every step of every process.",
    )
    parser.add_argument("directories", metavar="DIR", type=Path, nargs="+",
                        help="with log.* and snapshot.* files, or version-2/; or what `kafkaproof run` has left; or a "
                             "directory of such: several are told in a table")
    parser.add_argument("--offsets", metavar="PATH", type=Path,
                        help="follow groups too, in the __consumer_offsets-N/ of brokers: a directory for each broker, "
                        "or one log.dir (default: consumer-offsets/ in DIR or beside it; DIR itself, if it has no log)")
    parser.add_argument("--variant", metavar="V",
                        help=f"hold it to this variant: {', '.join(VARIANTS)} (default: found "
                        f"from the log, or as it was run); a recording to {', '.join((*RUN, CHECKED))}: legacy "
                        "with the fix of KAFKA-6082 and nothing else")
    parser.add_argument("--chroot", metavar="PATH", help="where the cluster's znodes are (default: found from the log)")
    parser.add_argument("--expect", metavar="ID", action="append", default=[],
                        help="a violation that is no failure (repeatable): C4")
    parser.add_argument("--history", metavar="FILE", type=Path,
                        help="write the first violation or divergence, for `kafkaproof show`")
    parser.add_argument("--html", metavar="FILE", type=Path,
                        help="write the report as one page: the verdict, a timeline of the cluster, the records behind it")
    parser.add_argument("--logs", metavar="PATH", type=Path,
                        help="hold the brokers' own server.log, controller.log and state-change.log to the result: "
                             "all below this directory, gzipped or not")
    parser.add_argument("--events", metavar="OUT", type=Path,
                        help="write every operation of the logs as Parquet into this new directory, for SQL")
    parser.add_argument("--master", metavar="MASTER",
                        help="replay several recordings, or explain the topics of a long log, in tasks of Spark, such "
                             "as local[2] (default: no Spark)")
    parser.add_argument("--follow", action="store_true",
                        help="stay, and tell what happens in a log that grows, until Ctrl-C or the first divergence")
    parser.add_argument("--redact", action="store_true",
                        help="topics, hosts, groups, clients, principals and all other names become pseudonyms everywhere")
    parser.add_argument("--json", action="store_true", help="print the result as JSON")
    parser.set_defaults(run=run)


@contextmanager
def _without_collector() -> Iterator[None]:
    """No search for circles of objects: among millions of records, which are in none, it is a fifth of the time."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


@_without_collector()
def run(options) -> int:
    """Replay a directory, or several; print what was found; returns the exit code."""
    directories = recordings_in(options.directories)
    if len(directories) > 1 or options.master and is_recording(directories[0]):
        return replay_several(directories, options)
    options.directory = directories[0]
    if options.html:
        expect_writable("--html", options.html)
    if is_recording(options.directory):
        return replay_recording(options)
    if is_segments(options.directory):
        return replay_segments(options)
    for name in set(options.expect) - PROPERTIES.keys() - EXPECTED:
        raise UserError(f"--expect {name}: replay evaluates {', '.join((*PROPERTIES, *sorted(EXPECTED)))}")
    if options.variant not in (None, *VARIANTS):
        raise UserError(f"--variant {options.variant}: there are {', '.join(VARIANTS)}")
    if options.follow:
        return watch(options)
    if options.redact and (given := _given(options, "offsets", "logs")):
        raise UserError(f"--redact: what {given} names holds names that are not replaced; leave out one of both")
    redactor = Redactor() if options.redact else None
    recording, error = read_readable(options.directory, redactor)
    try:
        report = _report(recording, error, options, redactor)
    except UserError as problem:
        if not options.json:
            raise
        problems = (*recording.problems, str(problem))
        report = Report(recording, None, problems, BAD_INPUT, str(problem))
    groups = groups_beside(options, recording) if recording.transactions and not options.redact else None
    if options.json:
        print(json.dumps(with_groups(report.as_json(), groups) if groups else report.as_json(), indent=2))
    else:
        print_report(report)
        if groups:
            print_groups(console(), groups)
    if options.history:
        found = report.result and history_of(report.result, str(report.recording.directory))
        _write_history(found, options.history)
    if options.html:
        _write_page(options.html, render(report, groups))
    code = exit_code(report, options.expect)
    return worse(code, exit_code_of(groups, options.expect)) if groups else code


def watch(options) -> int:
    """Replay a log, then what is appended to it; returns the exit code of the state at Ctrl-C, or at a divergence."""
    expect_nothing_else(options)
    watched = Watch(options.directory, lambda recording: _report(recording, None, options))
    print_report(watched.report)
    options.variant = options.variant or watched.report.result and watched.report.result.variant
    print("waiting for more records; Ctrl-C ends it", file=sys.stderr)
    with suppress(KeyboardInterrupt):
        while not watched.over:
            sleep(_ROUND)
            for line in watched.round():
                print(line, flush=True)
    code = exit_code(watched.report, options.expect)
    return VIOLATED if watched.violated - set(options.expect) else code


def replay_several(directories: list[Path], options) -> int:
    """Replay several recordings, print a row of each; returns the worst exit code."""
    known = PROPERTIES.keys() | RECORDED | EXPECTED
    for name in set(options.expect) - known:
        raise UserError(f"--expect {name}: replay evaluates {', '.join(sorted(known))}")
    if given := _given(options, "history", "events", "html", "offsets", "logs", "redact", "follow"):
        raise UserError(f"{given}: for one recording only: give one DIR")
    asked = vars(options) | {"master": None}
    asked.pop("run")
    with _jobs(options.master) as jobs:
        rows = replay_all(directories, partial(row_of, asked), jobs)
    if options.json:
        print(json.dumps(rows_as_json(rows), indent=2))
    else:
        print_rows(rows)
    return worst(rows)


def _given(options, *names: str) -> str:
    """Those of the options that were given, as one writes them."""
    return ", ".join(f"--{name}" for name in names if getattr(options, name))


def row_of(asked: dict, directory: Path) -> Row:
    """The row of one recording, `asked` being the options of the command; raises UserError."""
    options = argparse.Namespace(**asked | {"directory": directory})
    if is_recording(directory):
        recorded = read_cluster(directory)
        result = _followed(recorded, options)
        told = result.divergence and ": ".join(result.divergence)
        return Row(str(directory), result.variant, DIVERGES if told else CONFORMS, result.steps, told,
                   tuple(result.violations), code=_code(result, options))
    if is_segments(directory):
        return row_with(Row(str(directory), verdict=CONFORMS, code=OK), replay_groups(directory), options.expect)
    report = _report(*read_readable(directory), options)
    result = report.result
    found = result and result.divergence
    row = Row(str(directory), result and result.variant, report.verdict, len(report.recording.transactions),
              f"{found[0]:#x}: {found[1]}" if found else None, tuple(result.violations.found) if result else (),
              report.reason, exit_code(report, options.expect))
    return row_with(row, groups_beside(options, report.recording), options.expect)


def replay_recording(options) -> int:
    """Replay what `kafkaproof run` has recorded; returns the exit code."""
    for name in set(options.expect) - RECORDED:
        raise UserError(f"--expect {name}: of a recording replay evaluates {', '.join(sorted(RECORDED))}")
    if given := _given(options, "chroot", "events", "html", "offsets", "logs", "redact", "follow"):
        raise UserError(f"{options.directory}: {given}: for the log of a ZooKeeper only; its own is in "
                        f"{options.directory / 'zookeeper'}")
    recorded = read_cluster(options.directory)
    result = _followed(recorded, options)
    if options.json:
        print(json.dumps(as_json(recorded, result), indent=2))
    else:
        print_result(recorded, result)
    if options.history:
        _write_history(recorded_history(recorded, result), options.history)
    return _code(result, options)


def _followed(recorded: Cluster, options) -> Result:
    try:
        return follow(recorded, options.variant)
    except LookupError as error:
        raise UserError(f"--variant: {error.args[0]}") from None


def _code(result: Result, options) -> int:
    return VIOLATED if result.divergence or set(result.violations) - set(options.expect) else OK


def _report(recording: Recording, error: UserError | None, options,
            redactor: Redactor | None = None) -> Report:
    """Follow what could be read."""
    problems = (*recording.problems, *([str(error)] if error else []))
    if not recording.transactions:
        raise error or UserError("; ".join(problems) or f"{options.directory}: no record")
    if recording.begins_unknown:
        return Report(recording, None, problems, UNDECIDED, "what was before the first record is unknown")
    chroot = redactor.path(options.chroot) if redactor and options.chroot else options.chroot
    root = find_root(recording, chroot)
    members = Members(recording, root)
    variant = options.variant or find_variant(recording, members, root)
    if variant is None:
        raise UserError(f"{options.directory}: no election in this log, so the variant is unknown; say --variant "
                        "fenced (Kafka 2.1 to 3.9), legacy (1.1 to 2.0) or zkclient (to 1.0)")
    read = read_logs(options.logs) if options.logs else None
    gathered = gather(recording, variant, members, root)
    with _jobs(options.master) as jobs:
        if options.events:
            _write_events(options.directory, options.events, root, jobs, redactor)
        explained = jobs and jobs.explain(gathered.common, gathered.streams.values())
        result = replay(recording, variant, members, root, _progress(len(recording.transactions)))
        metrics = metrics_of(recording, members, root)
        streams = together(gathered.common, explained.result()) if explained else explain_streams(gathered)
    settle(gathered.common, result, streams, recording)
    logs = check_logs(read, gathered, recording, streams) if read else None
    accounts = audit(recording, gathered.common, result, streams)
    verdict, reason = (BAD_INPUT, str(error)) if error else verdict_of(recording, result, accounts)
    facts = facts_of(gathered, streams, refused_by_epoch(result))
    return Report(recording, result, problems, verdict, reason, streams, accounts, facts, metrics, logs)


def _jobs(master: str | None):
    """Spark for as long as a block runs; None where it was not asked for."""
    if master is None:
        return nullcontext()
    from traces.jobs import started

    return started(master)


def _write_events(directory: Path, events: Path, root: str, jobs, redactor: Redactor | None) -> None:
    """Write the operations of all logs as Parquet files into a new directory."""
    from traces.events import write_events

    try:
        events.mkdir(parents=True)
    except OSError as error:
        raise UserError(f"--events {events}: {error.strerror}; name a directory that does not exist") from None
    files = log_files(directory)
    if jobs and redactor:
        learn(files, redactor)
    written = jobs.events(files, events, root, redactor) if jobs else \
        sum(write_events(file, events, root, redactor) for file in files)
    print(f"{written:,} operations in {events}", file=sys.stderr)


def _progress(records: int):
    """Shows how far a long log is, on a terminal."""
    def show(done: int) -> None:
        if sys.stderr.isatty() and records > 2_000:
            print(f"\r{done:,} of {records:,} records", end="\n" if records - done < 500 else "", file=sys.stderr)

    return show


def _write_history(history: dict | None, file: Path) -> None:
    if history is None:
        print("no violation and no divergence, so there is no history to write", file=sys.stderr)
        return
    file.write_text(json.dumps(history, indent=1), encoding="utf-8")
    print(f"history in {file}; see it with: kafkaproof show {file}", file=sys.stderr)


def _write_page(file: Path, page: str) -> None:
    write_whole("--html", file, page)
    print(f"report in {file}, {len(page) / 1e6:,.1f} MB", file=sys.stderr)


def exit_code(report: Report, expected: list[str]) -> int:
    """0 when it conforms and violates only what is expected; 1, 2, 3 as in EXAMPLES."""
    if report.verdict == BAD_INPUT:
        return WRONG_USE
    violated = set(report.result.violations.found) if report.result else set()
    if report.verdict == DIVERGES or violated - set(expected) or report.logs and report.logs.contradictions:
        return VIOLATED
    return OK if report.verdict == CONFORMS else UNFINISHED
