"""Frames without the contents of records: what is kept of Produce and Fetch.

What stays of records is the head of each batch: offsets, sizes, the leader epoch, the producer and its sequence numbers,
times. Keys, values and headers become zeros. A frame keeps its length, and all else that it says.
"""

from __future__ import annotations

from collections.abc import Iterator

from kafkaproof.spec.protocol.frames import decoded
from kafkaproof.spec.protocol.passed import ANSWER, REQUEST

PRODUCE, FETCH = 0, 1
_CARRIED = {(PRODUCE, REQUEST), (FETCH, ANSWER)}
_MAGIC, _BEFORE, _HEADS = 16, 12, {0: 18, 1: 26, 2: 61}
"""Where a batch has its magic number; the bytes before what its size counts; how long heads are, by the magic number."""


def without_contents(key: int, version: int, data: bytes, part: str) -> bytes:
    """A frame in which only the heads of records are left."""
    if (key, part) not in _CARRIED:
        return data
    said = decoded(key, version, data, part)
    if not said:
        return data[:_BEFORE] + bytes(len(data) - _BEFORE)
    for records in _records(said):
        data = data.replace(records, heads_of(records), 1)
    return data


def _records(said: object) -> Iterator[bytes]:
    """All records in what is said, at any depth."""
    if isinstance(said, dict):
        if found := said.get("records"):
            yield bytes(found)
        for value in said.values():
            yield from _records(value)
    elif isinstance(said, (list, tuple)):
        for value in said:
            yield from _records(value)


def heads_of(records: bytes) -> bytes:
    """Records of the same length, of which the heads are left."""
    found, start = bytearray(len(records)), 0
    while start + _MAGIC < len(records):
        size = _BEFORE + int.from_bytes(records[start + _BEFORE - 4 : start + _BEFORE], "big")
        kept = min(_HEADS.get(records[start + _MAGIC], _MAGIC), size, len(records) - start)
        found[start : start + kept] = records[start : start + kept]
        start += size
    return bytes(found)
