"""Reads a file without the zeros at its end, however many: ZooKeeper preallocates them (`FilePadding`), Kafka may."""

import errno
import os
from typing import BinaryIO

_CHUNK = 1 << 20
_ZEROS = bytes(_CHUNK)
_MOST_ZEROS = 64
"""So many MiB of zeros in a row are no part of a record: a request has 1 MiB at the most by default (jute.maxbuffer)."""


def written_in(file: BinaryIO) -> tuple[bytes, bool]:
    """What a file holds from where it stands to 64 MiB of zeros, and whether something comes behind them.

    It needs the memory of what is written, and of fewer zeros than that. Behind them nothing is read but to see whether
    it is zero, and holes are passed by where the file system tells them.
    """
    chunks, zeros = [], 0
    while zeros < _MOST_ZEROS and (chunk := file.read(_CHUNK)):
        is_zero = chunk == _ZEROS[: len(chunk)]
        zeros = zeros + 1 if is_zero else 0
        chunks.append(_ZEROS[: len(chunk)] if is_zero else chunk)
    if zeros < _MOST_ZEROS:
        return b"".join(chunks), False
    return b"".join(chunks[: max(1, len(chunks) - zeros)]), _holds_more(file)


def _holds_more(file: BinaryIO) -> bool:
    """Whether anything from where a file stands to its end is not zero."""
    while (place := _next_data(file)) is not None:
        file.seek(place)
        chunk = file.read(_CHUNK)
        if chunk != _ZEROS[: len(chunk)]:
            return True
        if not chunk:
            break
    return False


def _next_data(file: BinaryIO) -> int | None:
    """Where the next byte is that is in no hole, None behind the last."""
    place = file.tell()
    if not hasattr(os, "SEEK_DATA"):
        return place
    try:
        return os.lseek(file.fileno(), place, os.SEEK_DATA)
    except OSError as error:
        return None if error.errno == errno.ENXIO else place
