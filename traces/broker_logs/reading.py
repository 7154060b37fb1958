"""Reads what brokers' own logs (controller.log, state-change.log, server.log) tell of elections and leaders."""

import gzip
import re
from calendar import timegm
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, replace
from pathlib import Path
from time import strptime
from typing import NamedTuple
from zlib import error as ZlibError

from kafkaproof.checker.basics.errors import UserError
from kafkaproof.traces.broker_logs.claims import Claim, PartitionClaim
from kafkaproof.traces.broker_logs.forms import TELLS, Tell
from kafkaproof.traces.redaction import Redactor

_NAME = re.compile(r"(server|controller|state-change).*\.log.*")
_LONGEST, _LEAST, _DENSEST = 16 << 20, 64 << 20, 200
"""A line has fewer bytes, and a gzipped file not so many times its own, once it has given that many."""
_LINE = re.compile(r"\[(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d),(\d{3})\] \w+ (.*)")


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
        raise UserError(
            f"--logs {directory}: no server*.log, controller*.log or state-change*.log here or below; give "
            "the directory that kafka.logs.dir names, or one with those of several brokers"
        )
    lines = unreadable = 0
    claims: list[Claim] = []
    for file in files:
        error = ""
        for number, line in enumerate(_lines(file), 1):
            lines += 1
            told = [tell for tell in TELLS if tell.sign in line]
            if line.startswith("["):
                error = line
            elif told:
                line = error
            claim = next(filter(None, (_claim(tell, file, number, line) for tell in told)), None)
            claims += [_redacted(claim, redactor)] if claim else []
            unreadable += bool(told) and claim is None
    return Read(files, lines, unreadable, claims)


def _redacted(claim: Claim, redactor: Redactor | None) -> Claim:
    if redactor is None or not isinstance(claim, PartitionClaim):
        return claim
    topic, number = claim.partition
    return replace(claim, partition=(redactor.name("topic", topic), number))


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
                    raise UserError(
                        f"--logs: {file}: more than {_DENSEST} times of its {size:,} bytes unpacked: no "
                        "log of a broker; unpack it yourself where it is one"
                    )
                yield line.decode(errors="replace")
    except (OSError, EOFError, ZlibError) as error:
        raise UserError(f"--logs: {file}: cannot be read: {getattr(error, 'strerror', None) or error}") from None


def _claim(tell: Tell, file: Path, number: int, line: str) -> Claim | None:
    """What a line tells, None where it has not the form."""
    if (framed := _LINE.match(line)) is None or (found := tell.pattern.match(framed[3])) is None:
        return None
    try:
        time = timegm(strptime(framed[1], "%Y-%m-%d %H:%M:%S")) * 1000 + int(framed[2])
    except ValueError:
        return None
    return tell.claim(file, number, time, **_said(tell.claim, found.groupdict()))


def _said(kind: type[Claim], parts: Mapping[str, str | None]) -> dict:
    """What the groups of a form say, for those fields that this kind of claim has."""
    said: dict[str, object] = {
        name: int(text) for name, text in parts.items() if text and name not in ("topic", "number", "own", "isr")
    }
    if own := parts.get("own"):
        said["epoch"] = int(own)
    if isr := parts.get("isr"):
        said["isr"] = tuple(map(int, isr.split(",")))
    if (topic := parts.get("topic")) and (number := parts.get("number")):
        said["partition"] = topic, int(number)
    return {field.name: said[field.name] for field in fields(kind) if field.name in said}
