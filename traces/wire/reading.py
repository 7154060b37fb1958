"""Reads what passed on the wire: record files of the proxies of `kafkaproof run`, and packet captures."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from itertools import count
from pathlib import Path

from kafkaproof.checker.basics.errors import UserError
from kafkaproof.checker.basics.words import counted
from kafkaproof.spec.protocol.frames import Unreadable, client_of, is_request, number_of, sender_of
from kafkaproof.spec.protocol.passed import ANSWER, DROPPED, REQUEST, Passed, read_passed
from kafkaproof.traces.wire.captures import MAGICS, Capture
from kafkaproof.traces.wire.exchanges import Exchange, Place
from kafkaproof.traces.wire.listeners import Listeners
from kafkaproof.traces.wire.streams import Streams

_RECORD = re.compile(r"(?:kafka|clients)-(\d+)(?:\.gz)?")
"""What the proxies of a broker call their files, by the broker."""
_CAPTURES = (".pcap", ".pcapng", ".cap")
_LINKS = Path("recording") / "links"
_TLS = b"\x16\x03"
_MOST = 10
"""So many lines tell of connections that are not read."""


class Wire:
    """All that passed, in the order of time. `problems`: what could not be read, in lines.

    `unreadable`: how many messages of an API and a version are in no known form.
    """

    def __init__(self) -> None:
        self.files: list[Path] = []
        self.exchanges: list[Exchange] = []
        self.problems: list[str] = []
        self.unreadable: Counter[tuple[str, int]] = Counter()

    def readable(self, exchange: Exchange) -> bool:
        """Whether a request and its answer can be read; those that cannot are counted."""
        try:
            _ = exchange.asked, exchange.told
        except Unreadable:
            self.unreadable[exchange.api, exchange.version] += 1
            return False
        return True


def read_wire(paths: Iterable[Path], listeners: Listeners) -> Wire:
    """Read files, and all that is in directories. Raises UserError where nothing of Kafka is in them."""
    wire = Wire()
    for file in (file for path in paths for file in _files(path)):
        wire.files.append(file)
        if _is_capture(file):
            _read_capture(file, listeners, wire)
        elif found := _RECORD.fullmatch(file.name):
            wire.exchanges += _exchanges(file, int(found[1]), zip(read_passed(file), count(1)))
        else:
            raise UserError(
                f"--wire {file}: neither a packet capture (.pcap, .pcapng) nor what a proxy of `kafkaproof run` has noted "
                "(recording/links/kafka-N, clients-N)"
            )
    wire.exchanges.sort(key=lambda each: (each.time, each.place))
    if not wire.exchanges:
        raise UserError("--wire: " + ("; ".join(wire.problems) or "no request of Kafka in it"))
    return wire


def _files(path: Path) -> list[Path]:
    if path.is_file():
        return [path]
    if not path.is_dir():
        raise UserError(f"--wire {path}: no such file or directory")
    found = sorted(
        file
        for directory in (path, path / "links", path / _LINKS)
        if directory.is_dir()
        for file in directory.iterdir()
        if file.is_file() and (_RECORD.fullmatch(file.name) or file.suffix in _CAPTURES)
    )
    if not found:
        raise UserError(f"--wire {path}: no packet capture (.pcap, .pcapng) and no kafka-N of a proxy in it")
    return found


def _is_capture(file: Path) -> bool:
    try:
        with open(file, "rb") as source:
            return source.read(4) in MAGICS
    except OSError as error:
        raise UserError(f"--wire {file}: cannot be read: {error.strerror}") from None


def _exchanges(file: Path, broker: int | None, frames: Iterable[tuple[Passed, int]]) -> Iterator[Exchange]:
    """The requests to a broker among frames, each with its number, and their answers."""
    waiting: dict[tuple[int, int], Exchange] = {}
    for passed, number in frames:
        if passed.part not in (REQUEST, ANSWER):
            raise UserError(f"--wire {file}: no record of Kafka's frames")
        key, time = (passed.connection, number_of(passed.data, passed.part)), round(passed.time * 1000)
        dropped = passed.became == DROPPED
        if passed.part == REQUEST:
            found = Exchange(Place(file, number), time, broker, passed.connection, passed.data, dropped)
            waiting[key] = found
            yield found
        elif asked := waiting.pop(key, None):
            asked.answer, asked.answered, asked.answer_lost = passed.data, time, dropped


def _read_capture(file: Path, listeners: Listeners, wire: Wire) -> None:
    """Read the connections of a capture that carry Kafka's requests in the clear."""
    capture, streams = Capture(file), Streams(ports=listeners.ports)
    frames: dict[int, list[Passed]] = defaultdict(list)
    begun: dict[int, bytes] = {}
    for segment in capture.segments():
        for frame in streams.take(segment):
            frames[frame.connection].append(frame)
        if segment.data:
            begun.setdefault(streams.number_of(segment), segment.data[:8])
    for frame in streams.end():
        frames[frame.connection].append(frame)
    firsts = {connection: first for connection, own in frames.items() if (first := _first_request(own))}
    numbers, senders = count(1), _senders(firsts, streams)
    found = [
        each
        for connection in firsts
        for each in _exchanges(
            file,
            listeners.broker_of(streams.servers[connection], senders),
            zip(sorted(frames[connection], key=lambda each: each.time), numbers),
        )
    ]
    wire.exchanges += found
    wire.problems += capture.problems
    wire.problems += list(_remarks(file, found, firsts, begun, streams))


def _first_request(frames: list[Passed]) -> bytes | None:
    """The first request that was captured of a connection, None where it is none of Kafka's."""
    first = next((frame.data for frame in frames if frame.part == REQUEST), None)
    return first if first is not None and is_request(first) else None


def _senders(firsts: dict[int, bytes], streams: Streams) -> dict[str, set[int]]:
    """The brokers that send from each address, by the client ids of the first requests of connections."""
    found: dict[str, set[int]] = defaultdict(set)
    for connection, first in firsts.items():
        if (broker := sender_of(client_of(first))) is not None:
            found[streams.clients[connection][0]].add(broker)
    return found


def _remarks(
    file: Path, found: list[Exchange], firsts: dict[int, bytes], begun: dict[int, bytes], streams: Streams
) -> Iterator[str]:
    """What of a capture is not read, and why; gaps in connections that carry something else do not matter."""
    lost = [(number, size) for number in streams.servers if number in firsts and (size := streams.lost_of(number))]
    for number, size in lost[:_MOST]:
        yield f"{file}: {size:,} bytes are missing on {_ends(streams, number)}; frames in them are not judged"
    if len(lost) > _MOST:
        yield f"{file}: and bytes on {len(lost) - _MOST:,} more connections"
    if unknown := {streams.servers[each.connection] for each in found if each.broker is None}:
        told = ", ".join(f"{address}:{port}" for address, port in sorted(unknown))
        yield f"{file}: no registration in ZooKeeper's log tells whose listener this is: {told}"
    if not found:
        encrypted = sum(data.startswith(_TLS) for data in begun.values())
        why = f"; {counted(encrypted, 'connection')} encrypted (TLS)" if encrypted else ""
        yield f"{file}: no plaintext Kafka in it, in {counted(streams.servers, 'connection')}{why}"


def _ends(streams: Streams, number: int) -> str:
    return " to ".join(f"{address}:{port}" for address, port in (streams.clients[number], streams.servers[number]))


def unreadable_words(wire: Wire) -> list[str]:
    """What could not be read, in lines: versions that are not known, and what does not fit its schema."""
    return [
        f"{counted(number, 'message')} of {api}, version {version}: not readable by Kafka's schemas (up to 3.9)"
        for (api, version), number in sorted(wire.unreadable.items())
    ]
