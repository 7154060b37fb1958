"""What has passed a link, and what became of it; kept in a file, for replay."""

from __future__ import annotations

import gzip
import struct
import time
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple, cast

from kafkaproof.spec.errors import UserError

REQUEST, ANSWER, NOTIFICATION = "request", "answer", "notification"
PARTS = (REQUEST, ANSWER, NOTIFICATION)
PASSED, DROPPED = "passed", "dropped"
_BECAME = (PASSED, DROPPED)
LENGTH = 4
"""So many bytes at the beginning of a frame say how many follow."""
_HEAD = struct.Struct(">dIBBI")


class Passed(NamedTuple):
    """A frame: seconds since the epoch when it had passed, the number of its connection, which part of the
    conversation it is, what became of it, and its bytes, the length at their beginning included.
    """

    time: float
    connection: int
    part: str
    became: str
    data: bytes


class Recorder:
    """Notes what passes a link in a file, which is made."""

    def __init__(self, file: Path):
        self._file = open(file, "wb", buffering=0)

    def note(self, connection: int, part: str, became: str, data: bytes) -> None:
        """Note a frame."""
        head = _HEAD.pack(time.time(), connection, PARTS.index(part), _BECAME.index(became), len(data))
        self._file.write(head + data)

    def close(self) -> None:
        """Write what is left."""
        self._file.close()


def read_passed(file: Path) -> Iterator[Passed]:
    """The frames that a file has, in the order in which they passed; one that was not written whole is left out.

    Raises UserError where there is no such file, or it is no record of frames.
    """
    try:
        with _opened(file) as source:
            while len(head := source.read(_HEAD.size)) == _HEAD.size:
                when, connection, part, became, length = _HEAD.unpack(head)
                if part >= len(PARTS) or became >= len(_BECAME):
                    raise UserError(f"{file}: not a record of what passed a link; was it written by something else?")
                if len(data := source.read(length)) == length:
                    yield Passed(when, connection, PARTS[part], _BECAME[became], data)
    except (OSError, EOFError, zlib.error) as error:
        raise UserError(f"{file}: cannot be read: {getattr(error, 'strerror', None) or error}") from None


def _opened(file: Path) -> BinaryIO:
    """A file of frames, gzipped or not."""
    return cast(BinaryIO, gzip.open(file) if file.suffix == ".gz" else open(file, "rb"))
