"""Reads what brokers' own logs (controller.log, state-change.log, server.log) tell of elections and leaders."""

import gzip
import re
from calendar import timegm
from collections.abc import Callable, Iterator
from pathlib import Path
from time import strptime
from typing import NamedTuple
from zlib import error as ZlibError

from checker.errors import UserError
from traces.redaction import Redactor

ELECTED, STATE, FROM, SHUTTING_DOWN = "elections of controllers", "leaders and leader epochs", "controllers obeyed", \
    "controlled shutdowns asked for"
_NAME = re.compile(r"(server|controller|state-change).*\.log.*")
_LONGEST, _LEAST, _DENSEST = 16 << 20, 64 << 20, 200
"""A line has fewer bytes, and a gzipped file not so many times its own, once it has given that many."""
_LINE = re.compile(r"\[(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d),(\d{3})\] \w+ (.*)")
_CONTROLLER = r"\[Controller (?:id=)?(?P<broker>\d+)(?: epoch=(?P<epoch>\d+))?\]:? "
_PARTITION = r"(?P<topic>[\w.-]+)-(?P<number>\d+)"


class Claim(NamedTuple):
    """What a line tells: `time` in ms as if it were UTC; `broker`, `epoch`: a controller; `leader`, `leader_epoch`:
    those of a partition's state.
    """

    what: str
    file: Path
    line: int
    time: int
    broker: int | None
    epoch: int | None
    partition: tuple[str, int] | None = None
    leader: int | None = None
    leader_epoch: int | None = None


class Tell(NamedTuple):
    """A form of line: what is in every one of its kind, what it tells, and how it is read."""

    sign: str
    what: str
    pattern: re.Pattern


_TELLS = (
    Tell("poch incremented to ", ELECTED, re.compile(_CONTROLLER + r".*[Ee]poch incremented to (?P<own>\d+)")),
    Tell("incremented epoch to ", ELECTED, re.compile(_CONTROLLER + r".*incremented epoch to (?P<own>\d+)")),
    Tell("new controller with epoch ", ELECTED, re.compile(_CONTROLLER + r".*new controller with epoch (?P<own>\d+)")),
    Tell("] Shutting down broker ", SHUTTING_DOWN, re.compile(_CONTROLLER + r"Shutting down broker (?P<leader>\d+)")),
    Tell(" with state LeaderAndIsr(", STATE, re.compile(
        _CONTROLLER + rf"Changed partition {_PARTITION} from .* with state LeaderAndIsr\(leader=(?P<leader>-?\d+), "
                      r"leaderEpoch=(?P<leader_epoch>\d+)")),
    Tell(" state changed to (Leader:", STATE, re.compile(
        _CONTROLLER + rf"Partition {_PARTITION} state changed to \(Leader:(?P<leader>-?\d+),"
                      r".*LeaderEpoch:(?P<leader_epoch>\d+)")),
    Tell("Received LeaderAndIsr request ", STATE, re.compile(
        r"\[Broker id=\d+\] .*[( ]leader=(?P<leader>-?\d+), leaderEpoch=(?P<leader_epoch>\d+).* from controller "
        rf"(?P<broker>\d+) epoch (?P<epoch>\d+) for partition {_PARTITION}\b")),
    Tell("Received LeaderAndIsr request ", STATE, re.compile(
        r"\[Broker id=\d+\] .*\(topicName='(?P<topic>[^']+)', partitionIndex=(?P<number>\d+),.* "
        r"leader=(?P<leader>-?\d+), leaderEpoch=(?P<leader_epoch>\d+).* from controller (?P<broker>\d+) "
        r"epoch (?P<epoch>\d+)\b")),
    Tell("Completed LeaderAndIsr request ", FROM, re.compile(
        r"\[Broker id=\d+\] .* from controller (?P<broker>\d+) epoch (?P<epoch>\d+) ")),
)
"""The forms of 1.1.1 and 3.9.1, and one of before 1.0. `own`: the epoch that the controller itself tells of."""


class Read(NamedTuple):
    """What was read: claims, and how many lines there were; `unreadable` are of a known kind and in no known form."""

    files: list[Path]
    lines: int
    unreadable: int
    claims: list[Claim]


def read_logs(directory: Path, redactor: Redactor | None = None) -> Read:
    """Read all server*.log, controller*.log and state-change*.log below a directory, rotated or gzipped ones too.

    With a `redactor` topics have its pseudonyms.
    Raises UserError where there is none, or one cannot be read.
    """
    files = sorted(file for file in directory.rglob("*") if file.is_file() and _NAME.fullmatch(file.name))
    if not files:
        raise UserError(f"--logs {directory}: no server*.log, controller*.log or state-change*.log here or below; give "
                        "the directory that kafka.logs.dir names, or one with those of several brokers")
    lines = unreadable = 0
    claims: list[Claim] = []
    for file in files:
        for number, line in enumerate(_lines(file), 1):
            lines += 1
            told = [tell for tell in _TELLS if tell.sign in line]
            claim = next(filter(None, (_claim(tell, file, number, line) for tell in told)), None)
            claims += [_redacted(claim, redactor)] if claim else []
            unreadable += bool(told) and claim is None
    return Read(files, lines, unreadable, claims)


def _redacted(claim: Claim, redactor: Redactor | None) -> Claim:
    if redactor is None or claim.partition is None:
        return claim
    topic, number = claim.partition
    return claim._replace(partition=(redactor.name("topic", topic), number))


def _lines(file: Path) -> Iterator[str]:
    """The lines of a file, gzipped or not; bytes that are no UTF-8 are replaced."""
    opened: Callable = gzip.open if file.suffix == ".gz" else open
    try:
        size = file.stat().st_size
        with opened(file, "rb") as lines:
            while line := lines.readline(_LONGEST):
                if len(line) == _LONGEST:
                    raise UserError(f"--logs: {file}: a line of {_LONGEST >> 20} MiB or more: no log of a broker")
                if lines.tell() > max(_LEAST, _DENSEST * size):
                    raise UserError(f"--logs: {file}: more than {_DENSEST} times of its {size:,} bytes unpacked: no "
                                    "log of a broker; unpack it yourself where it is one")
                yield line.decode(errors="replace")
    except (OSError, EOFError, ZlibError) as error:
        raise UserError(f"--logs: {file}: cannot be read: {getattr(error, 'strerror', None) or error}") from None


def _claim(tell: Tell, file: Path, number: int, line: str) -> Claim | None:
    """What a line tells, None where it has not the form."""
    framed = _LINE.match(line)
    found = framed and tell.pattern.match(framed[3])
    if not found:
        return None
    parts = found.groupdict()
    try:
        time = timegm(strptime(framed[1], "%Y-%m-%d %H:%M:%S")) * 1000 + int(framed[2])
    except ValueError:
        return None
    numbers = {name: int(parts[name]) if parts.get(name) else None for name in ("broker", "leader", "leader_epoch")}
    epoch = parts.get("own") or parts.get("epoch")
    partition = (parts["topic"], int(parts["number"])) if parts.get("topic") else None
    return Claim(tell.what, file, number, time, epoch=int(epoch) if epoch else None, partition=partition, **numbers)
