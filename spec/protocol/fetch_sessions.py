"""What a fetch asks for, and what its answer says, with what both leave out: fetch sessions.

From 1.1 on a fetch names only what has changed since the one before it in its session, and its answer only partitions
with records, with an error, or with another high watermark than before (KIP-227).

Source: kafka.server.FetchSession, org.apache.kafka.clients.FetchSessionHandler, 1.1 to 3.9.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from kafkaproof.spec.protocol.batches import Batch, CorruptBatch, heads_in

Place = tuple[Hashable, int]
"""A topic, by its name or its id as a request has it, and the number of a partition."""
_ALONE = (0, -1)
"""The numbers of fetches that name all that they want (FetchMetadata.INITIAL_EPOCH, FINAL_EPOCH)."""
_NONE = "NONE"


class Wanted(NamedTuple):
    """What a fetch asks of a partition: from which offset on; the leader epoch of the replica, and the epoch of its last
    record, None where the version has no such field or it says nothing.
    """

    offset: int
    epoch: int | None
    last: int | None


class Given(NamedTuple):
    """What an answer says of a partition. `hw`: None where it is as in an earlier answer that is not known; `batches`: None
    where they are of an older format; `diverging`: the epoch that the logs may share, and where it ends.
    """

    error: str
    hw: int | None
    start: int | None
    batches: tuple[Batch, ...] | None
    diverging: tuple[int, int] | None


@dataclass
class _Session:
    wanted: dict[Place, Wanted] = field(default_factory=dict)
    marks: dict[Place, int] = field(default_factory=dict)
    waits: bool = False


@dataclass(frozen=True)
class Fetch:
    """A fetch: what it asks for; `is_whole`: nothing else is asked for that is not known; `named`: what the request names."""

    wanted: dict[Place, Wanted]
    named: frozenset[Place]
    is_whole: bool
    session: int


class Sessions:
    """The fetch sessions of one broker."""

    def __init__(self) -> None:
        self._open: dict[int, _Session] = {}

    def ask(self, said: dict[str, Any]) -> Fetch:
        """Take a request."""
        named = dict(_wanted_in(said))
        number, epoch = said.get("session_id", 0), said.get("session_epoch", -1)
        if epoch in _ALONE:
            self._open.pop(number, None)
            return Fetch(named, frozenset(named), True, 0)
        session = self._open.get(number)
        if session is None:
            return Fetch(named, frozenset(named), False, number)
        if session.waits:
            session.marks.clear()
        session.waits = True
        session.wanted = {
            place: each for place, each in session.wanted.items() if place not in set(_forgotten_in(said))
        } | named
        return Fetch(dict(session.wanted), frozenset(named), True, number)

    def give(self, fetch: Fetch, said: dict[str, Any]) -> dict[Place, Given]:
        """Take the answer to a request: what it says of each partition; nothing where the whole request was refused."""
        if _name(said.get("error_code")) != _NONE:
            self._open.pop(fetch.session, None)
            return {}
        given = dict(_given_in(said))
        session = self._open.get(fetch.session)
        if session is None and not fetch.session and (number := said.get("session_id", 0)):
            session = self._open[number] = _Session(dict(fetch.wanted))
        if session is None:
            return given
        session.waits = False
        if fetch.session:
            for place in fetch.wanted.keys() - given.keys():
                given[place] = Given(_NONE, session.marks.get(place), None, (), None)
        session.marks |= {place: each.hw for place, each in given.items() if each.hw is not None}
        for place in [place for place, each in given.items() if each.error != _NONE]:
            session.marks.pop(place, None)
        return given


def _wanted_in(said: dict[str, Any]) -> Iterator[tuple[Place, Wanted]]:
    for topic in said["topics"]:
        for each in topic["partitions"]:
            wanted = Wanted(
                each["fetch_offset"], _known(each.get("current_leader_epoch")), _known(each.get("last_fetched_epoch"))
            )
            yield (_topic(topic), each["partition"]), wanted


def _forgotten_in(said: dict[str, Any]) -> Iterator[Place]:
    for topic in said.get("forgotten_topics_data", ()):
        for number in topic["partitions"]:
            yield (_topic(topic), number)


def _given_in(said: dict[str, Any]) -> Iterator[tuple[Place, Given]]:
    for topic in said["responses"]:
        for each in topic["partitions"]:
            diverging = each.get("diverging_epoch") or {"epoch": -1, "end_offset": -1}
            ends = diverging["epoch"], diverging["end_offset"]
            yield (
                (_topic(topic), each["partition_index"]),
                Given(
                    _name(each["error_code"]),
                    _known(each["high_watermark"]),
                    _known(each.get("log_start_offset")),
                    heads_of(each.get("records")),
                    ends if ends[1] >= 0 else None,
                ),
            )


def heads_of(records: Any) -> tuple[Batch, ...] | None:
    """The heads of the batches in a field of a message, None where they are of an older format."""
    try:
        return tuple(heads_in(bytes(records or b"")))
    except CorruptBatch:
        return None


def _topic(said: dict[str, Any]) -> Hashable:
    return said.get("topic") or said.get("topic_id")


def _name(code: Any) -> str:
    return code.name.upper() if code is not None else _NONE


def _known(number: int | None) -> int | None:
    return None if number is None or number < 0 else number
