"""``replay --at`` and ``--dump``: the cluster at a moment of a log, and the records of a part of it."""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import partial

from kafkaproof.checker.basics.errors import UserError
from kafkaproof.checker.basics.printable import printable
from kafkaproof.checker.commands.main import OK
from kafkaproof.checker.commands.tables import console
from kafkaproof.traces.basics.times import time_of_day
from kafkaproof.traces.commands.options import chroot_of
from kafkaproof.traces.reading.cluster import Members, find_root
from kafkaproof.traces.reading.recording import Recording, read_readable
from kafkaproof.traces.report.moment import Moment, Placed, clusters_at, is_before, print_cluster, zxid_at
from kafkaproof.traces.zookeeper.transactions import Create, Operation, SetData, Transaction

_LONGEST = 200


def moment(text: str) -> Moment:
    """A zxid (``0x9b``, 155) or a time (``2026-11-21T03:24:44``, in UTC where it has no zone)."""
    if re.fullmatch(r"0x[0-9a-fA-F]+|\d+", text):
        return "zxid", int(text, 0)
    try:
        time = datetime.fromisoformat(text)
    except ValueError as error:
        told = f"{text!r} is neither a zxid, such as 0x9b, nor a time, such as 2026-11-21T03:24:44"
        raise argparse.ArgumentTypeError(told) from error
    return "time", round((time if time.tzinfo else time.replace(tzinfo=UTC)).timestamp() * 1000)


def add_moment_options(parser) -> None:
    """Add ``--at``, ``--dump``, and what narrows them."""
    parser.add_argument(
        "--at",
        metavar="ZXID|TIME",
        type=moment,
        help="print the cluster as it was then: controller, brokers, leaders, ISRs, reassignments, requests",
    )
    parser.add_argument("--dump", action="store_true", help="print the records, one a line")
    parser.add_argument("--from", dest="begin", metavar="ZXID|TIME", type=moment, help="with --dump: from here on")
    parser.add_argument("--to", dest="end", metavar="ZXID|TIME", type=moment, help="with --dump: up to here")
    parser.add_argument("--topic", metavar="T", help="with --at or --dump: only of this topic")
    parser.add_argument("--broker", metavar="B", type=int, help="with --at or --dump: only of this broker")


def look_into(options) -> int:
    """Print the cluster or the records that the options ask for, and what is wrong with the files. Raises UserError."""
    recording, error = read_readable(options.directory)
    if not recording.transactions:
        raise error or UserError("; ".join(recording.problems) or f"{options.directory}: no record")
    for problem in (*recording.problems, *([error] if error else [])):
        print(printable(f"problem: {problem}"), file=sys.stderr)
    root = find_root(recording, chroot_of(options, None))
    if options.at:
        _print_at(options, recording, root)
    else:
        broker_of = Members(recording, root).broker_of
        for transaction in _between(recording, options.begin, options.end):
            if line := _line(transaction, broker_of, options):
                print(printable(line))
    return OK


def _between(recording: Recording, begin: Moment | None, end: Moment | None) -> Iterator[Transaction]:
    for part in recording.parts:
        for transaction in part.transactions:
            if (not begin or not is_before(transaction, begin, False)) and (
                not end or is_before(transaction, end, True)
            ):
                yield transaction


def _print_at(options, recording: Recording, root: str) -> None:
    """Print the cluster after the last record up to the moment that was asked for."""
    zxid = zxid_at(recording, options.at)
    (found,) = clusters_at(recording, root, [zxid], partial(is_wanted, options, options.topic))
    if options.json:
        print(json.dumps(found.as_json(), indent=2))
    else:
        print_cluster(console(), found)


def is_wanted(options, topic: str | None, placed: Placed) -> bool:
    """Whether a partition is of the topic and of the broker that were asked for; `topic`: its name as it is read."""
    of_topic = topic in (None, placed.topic)
    return of_topic and (options.broker is None or options.broker in placed.assignment.replicas)


def _line(transaction: Transaction, broker_of: dict[int, int], options) -> str:
    """A record as a line; empty where it is not of the topic or the broker that was asked for."""
    broker = broker_of.get(transaction.session)
    texts = [_told(operation) for operation in transaction.operations]
    whole = f"multi[{'; '.join(texts)}]" if transaction.multi else "; ".join(texts)
    of_topic = options.topic is None or re.search(rf"\b{re.escape(options.topic)}\b", whole)
    if not of_topic or options.broker not in (None, broker):
        return ""
    who = f"broker {broker}" if broker is not None else f"session {transaction.session:#x}"
    return f"{transaction.zxid:#x} {time_of_day(transaction.time)} {who}: {whole}"


def _told(operation: Operation) -> str:
    """An operation with what it writes."""
    if not isinstance(operation, Create | SetData) or not operation.data:
        return operation.form()
    text = operation.data.decode("utf-8", "backslashreplace")
    return f"{operation.form()} {text if len(text) <= _LONGEST else text[:_LONGEST] + '…'}"
