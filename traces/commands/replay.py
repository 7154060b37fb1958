"""``kafkaproof replay``: hold the ZooKeeper log of a real cluster to the specification."""

from __future__ import annotations

import argparse
import gc
import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from kafkaproof.checker.basics.errors import UserError, meant
from kafkaproof.spec.running.processes import CHECKED
from kafkaproof.spec.running.processes import VARIANTS as RUN
from kafkaproof.traces.basics.whole_files import expect_writable
from kafkaproof.traces.commands.groups import is_segments, replay_segments
from kafkaproof.traces.commands.log import replay_log
from kafkaproof.traces.commands.moment import add_moment_options, look_into
from kafkaproof.traces.commands.options import given
from kafkaproof.traces.commands.recorded import replay_recording
from kafkaproof.traces.commands.recording_rows import recordings_in
from kafkaproof.traces.commands.several import replay_several
from kafkaproof.traces.evidence.choice import VARIANTS
from kafkaproof.traces.processes.recorded.reading import is_recording
from kafkaproof.traces.report.incidents import KINDS

EXAMPLES = """examples:
  kafkaproof replay /var/lib/zookeeper
  kafkaproof replay runs/cluster-20260101-120000-1f2e
  kafkaproof replay /var/lib/zookeeper --release 2.8
  kafkaproof replay /var/lib/zookeeper --html report.html
  kafkaproof replay /var/lib/zookeeper --at 2026-11-21T03:24:44 --topic orders
  kafkaproof replay /var/lib/zookeeper --at 0x9b --html report.html
  kafkaproof replay /var/lib/zookeeper --dump --from 0x90 --to 0xa0
  kafkaproof replay /var/lib/zookeeper --offsets copy-of-the-brokers
  kafkaproof replay /var/lib/zookeeper --logs /var/log/kafka
  kafkaproof replay /var/lib/zookeeper --metadata-log copy-of-the-controllers
  kafkaproof replay /var/lib/zookeeper --wire broker-1.pcap broker-2.pcap
  kafkaproof replay /var/lib/zookeeper --redact --html report.html
  kafkaproof replay /var/lib/zookeeper --fail-on unclean,split-brain,offline
  kafkaproof replay /var/lib/zookeeper --follow --on-event 'logger -t kafka'
  kafkaproof replay copy-of-the-logs --expect C4 --history split-brain.json
  kafkaproof replay /var/lib/zookeeper --master local[2] --events events
  kafkaproof replay runs --master local[2]
  kafkaproof show split-brain.json --beside runs/election-legacy-20260101-120000-1f2e

exit codes: 0 conforms and violates at most what --expect names, 1 diverges, violates, or has what --fail-on names,
2 bad input, 3 undecided;
of several recordings the worst, which is 1 before 2 before 3
"""


def add_parser(commands) -> None:
    """Add the subcommand."""
    parser = commands.add_parser(
        "replay",
        help="say what went wrong in a real cluster, from its ZooKeeper log, and check it against the specification",
        epilog=EXAMPLES,
        description="Read the ZooKeeper log of a Kafka cluster: say what went wrong (unclean elections, split brain, what is "
        "stuck), and check that each record is a step that the specification allows. Nothing is written, and nothing "
        "needs to be instrumented. Of a cluster that `kafkaproof run` recorded, follow every step of every process.",
    )
    parser.add_argument(
        "directories",
        metavar="DIR",
        type=Path,
        nargs="+",
        help="ZooKeeper's data directory, with version-2/ or log.* files; or one that `kafkaproof run` has written; of "
        "several, or of a directory of such, a table is printed",
    )
    parser.add_argument(
        "--offsets",
        metavar="PATH",
        type=Path,
        help="follow groups too, in the __consumer_offsets-N/ of brokers: a directory for each broker, "
        "or one log.dir (default: consumer-offsets/ in DIR or beside it; DIR itself, if it has no log)",
    )
    parser.add_argument(
        "--release",
        metavar="R",
        help="check against this release of Kafka, such as 2.8 or 3.9.1 (default: find the releases that explain the log)",
    )
    parser.add_argument(
        "--variant",
        metavar="V",
        help=f"check against this variant: {', '.join(VARIANTS)} (default: found "
        f"from the log, or as it was run); of a recording: {', '.join((*RUN, CHECKED))}: legacy "
        "with the fix of KAFKA-6082 and nothing else",
    )
    parser.add_argument("--chroot", metavar="PATH", help="where the cluster's znodes are (default: found from the log)")
    parser.add_argument(
        "--expect", metavar="ID", action="append", default=[], help="a violation that is no failure (repeatable): C4"
    )
    parser.add_argument(
        "--fail-on",
        metavar="KINDS",
        type=_kinds,
        default=(),
        help=f"exit with 1 if the log has an incident of these kinds, with commas between them: {', '.join(KINDS)}",
    )
    parser.add_argument(
        "--history", metavar="FILE", type=Path, help="write the first violation or divergence, for `kafkaproof show`"
    )
    parser.add_argument(
        "--html",
        metavar="FILE",
        type=Path,
        help="write the report as one page: incidents, the verdict, a timeline, the records behind it, and the cluster "
        "at each incident and where --at says",
    )
    parser.add_argument(
        "--logs",
        metavar="PATH",
        type=Path,
        help="also read the brokers' own server.log, controller.log and state-change.log: all below this directory, "
        "gzipped or not",
    )
    parser.add_argument(
        "--metadata-log",
        metavar="PATH",
        type=Path,
        help="hold ZooKeeper's log of a migration against that of the quorum: a controller's metadata.log.dir, or a "
        "directory that has several (default: metadata/ in DIR or beside it)",
    )
    parser.add_argument(
        "--wire",
        metavar="PATH",
        type=Path,
        nargs="+",
        default=[],
        help="also hold traffic to the specification: packet captures of plaintext listeners (.pcap, .pcapng), or what "
        "the proxies of `kafkaproof run --kafka` noted; files, or directories that have them",
    )
    parser.add_argument(
        "--events",
        metavar="OUT",
        type=Path,
        help="write every operation of the logs as Parquet in this new directory, for SQL",
    )
    parser.add_argument(
        "--master",
        metavar="MASTER",
        help="replay several recordings, or read the files and explain the topics of a long log, in "
        "tasks of Spark, such as local[2] (default: no Spark)",
    )
    parser.add_argument(
        "--follow",
        action="store_true",
        help="keep watching a log that grows, and print what happens, until Ctrl-C or the first divergence",
    )
    parser.add_argument(
        "--on-event",
        metavar="COMMAND",
        type=shlex.split,
        help="with --follow, run this command for each event, with the event's line as its last argument",
    )
    parser.add_argument(
        "--redact",
        action="store_true",
        help="topics, hosts, clients, principals and all other names become pseudonyms everywhere",
    )
    add_moment_options(parser)
    parser.add_argument("--json", action="store_true", help="print the result as JSON")
    parser.set_defaults(run=run)


def _kinds(text: str) -> tuple[str, ...]:
    kinds = tuple(kind.strip() for kind in text.split(","))
    for unknown in (kind for kind in kinds if kind not in KINDS):
        known = f"there are {', '.join(KINDS)}{meant(unknown, KINDS)}"
        raise argparse.ArgumentTypeError(f"no kind of incident {unknown!r}; {known}")
    return kinds


def _look(directories: list[Path], options) -> int:
    if len(directories) > 1 or is_recording(directories[0]) or is_segments(directories[0]):
        raise UserError("--at and --dump look into one directory of ZooKeeper's logs")
    if options.at and options.dump or options.at and (options.begin or options.end):
        raise UserError("--at prints one moment, and --dump the records --from and --to: give one of them")
    judging = (
        "html",
        "history",
        "events",
        "master",
        "offsets",
        "logs",
        "wire",
        "redact",
        "follow",
        "fail_on",
        "metadata_log",
    )
    if not (options.at and options.html) and (names := given(options, *judging)):
        raise UserError(
            f"{names}: not with --at or --dump, which judge nothing; --at --html puts the moment on the page of the report"
        )
    options.directory = directories[0]
    if options.html:
        expect_writable("--html", options.html)
        return replay_log(options)
    return look_into(options)


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
    if options.at or options.dump:
        return _look(directories, options)
    if names := given(options, "begin", "end", "topic", "broker"):
        raise UserError(f"{names}: of what --at or --dump prints; give one of these")
    if len(directories) > 1 or options.master and is_recording(directories[0]):
        return replay_several(directories, options)
    options.directory = directories[0]
    for option, file in (("--html", options.html), ("--history", options.history)):
        if file:
            expect_writable(option, file)
    if is_recording(options.directory):
        return replay_recording(options)
    if is_segments(options.directory):
        return replay_segments(options)
    return replay_log(options)
