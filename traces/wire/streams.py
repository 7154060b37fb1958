"""TCP connections of a capture: segments in their order, and the frames of Kafka that they carry."""

from __future__ import annotations

from collections.abc import Iterator

from kafkaproof.spec.protocol.frames import SHORTEST, is_request
from kafkaproof.spec.protocol.passed import ANSWER, LENGTH, PASSED, REQUEST, Passed
from kafkaproof.traces.wire.captures import End, Segment

LARGEST = 100 << 20
"""No frame has more bytes (socket.request.max.bytes)."""
_WAITING = 1 << 20
"""So many bytes may wait for a segment that comes late; then it counts as lost."""
_NUMBERS = 1 << 32


class Way:
    """One direction of a connection, of requests or of answers; `lost` counts bytes that the capture lacks."""

    def __init__(self, part: str):
        self._part = part
        self._next: int | None = None
        self._late: dict[int, Segment] = {}
        self._bytes = bytearray()
        self._in_step = False
        self.lost = self.skipped = 0

    def open(self, number: int) -> None:
        """The connection begins: the next byte is the first of a frame."""
        self._next, self._in_step = (number + 1) % _NUMBERS, True

    def take(self, segment: Segment) -> Iterator[bytes]:
        """The frames that are whole with a segment."""
        if self._next is None:
            self._next = segment.number
        known = self._late.get(segment.number)
        if known is None or len(known.data) < len(segment.data):
            self._late[segment.number] = segment
        yield from self._arrived()
        if sum(len(each.data) for each in self._late.values()) > _WAITING:
            yield from self.end()

    def end(self) -> Iterator[bytes]:
        """Nothing is waited for any more: what is missing before what waits is lost."""
        while self._late:
            first = min(self._late, key=self._ahead)
            self._lose(self._ahead(first))
            self._next = first
            yield from self._arrived()

    def _ahead(self, number: int) -> int:
        """How far a number is ahead of the next byte; negative of one that has been."""
        found = (number - (self._next or 0)) % _NUMBERS
        return found - _NUMBERS if found >= _NUMBERS // 2 else found

    def _arrived(self) -> Iterator[bytes]:
        """Take what follows without a gap."""
        while ready := [number for number in self._late if self._ahead(number) <= 0]:
            for number in sorted(ready, key=self._ahead):
                segment, known = self._late.pop(number), -self._ahead(number)
                new = segment.data[known:]
                self._next = ((self._next or 0) + len(new)) % _NUMBERS
                yield from self._frames(new)
                if segment.missing and known <= len(segment.data):
                    self._lose(segment.missing)
                    self._next = (self._next + segment.missing) % _NUMBERS

    def _lose(self, count: int) -> None:
        """Bytes are missing: the next frame begins where a segment does."""
        if count > 0:
            self.lost += count
            self._bytes.clear()
            self._in_step = False

    def _frames(self, data: bytes) -> Iterator[bytes]:
        if not data:
            return
        if not self._in_step:
            if not self._begins(data):
                self.skipped += len(data)
                return
            self._bytes.clear()
            self._in_step = True
        self._bytes += data
        while len(self._bytes) >= LENGTH:
            size = LENGTH + int.from_bytes(self._bytes[:LENGTH], "big")
            if not LENGTH + 4 <= size <= LARGEST:
                self._in_step = False
                self.skipped += len(self._bytes)
                self._bytes.clear()
                return
            if len(self._bytes) < size:
                return
            yield bytes(self._bytes[:size])
            del self._bytes[:size]

    def _begins(self, data: bytes) -> bool:
        """Whether a segment seems to begin with a frame: nobody has seen where the one before it ended."""
        size = int.from_bytes(data[:LENGTH], "big")
        if self._part == ANSWER:
            return LENGTH <= size and LENGTH + size == len(data)
        return SHORTEST <= size <= LARGEST and is_request(data)


class Streams:
    """The connections of a capture, by number; `servers` has where each goes to.

    That is the end that the first segment asks to open the connection; where that was not captured, the end whose port is
    one of `ports`, or else the one with the lower port.
    """

    def __init__(self, ports: frozenset[int] = frozenset()):
        self._ports = ports
        self._open: dict[frozenset[End], int] = {}
        self._ways: dict[int, dict[str, Way]] = {}
        self.servers: dict[int, End] = {}
        self.clients: dict[int, End] = {}
        self._last: dict[int, float] = {}

    def take(self, segment: Segment) -> Iterator[Passed]:
        """The frames that are whole with a segment."""
        ends = frozenset((segment.source, segment.target))
        number = self._open.get(ends)
        if segment.opens and not segment.answers or number is None:
            if number is not None:
                yield from self._finish(number)
            number = self._open[ends] = len(self.servers) + 1
            self.servers[number] = self._server(segment)
            self.clients[number] = segment.source if self.servers[number] == segment.target else segment.target
            self._ways[number] = {part: Way(part) for part in (REQUEST, ANSWER)}
        self._last[number] = segment.time
        part = ANSWER if segment.source == self.servers[number] else REQUEST
        way = self._ways[number][part]
        if segment.opens:
            way.open(segment.number)
        elif segment.data or segment.missing:
            for data in way.take(segment):
                yield Passed(segment.time, number, part, PASSED, data)

    def end(self) -> Iterator[Passed]:
        """The frames behind segments that never came."""
        for number in self._ways:
            yield from self._finish(number)

    def _finish(self, number: int) -> Iterator[Passed]:
        for part, way in self._ways[number].items():
            for data in way.end():
                yield Passed(self._last[number], number, part, PASSED, data)

    def _server(self, segment: Segment) -> End:
        if segment.opens:
            return segment.source if segment.answers else segment.target
        known = [end for end in (segment.target, segment.source) if end[1] in self._ports]
        return known[0] if len(known) == 1 else min(segment.source, segment.target, key=lambda end: end[1])

    def number_of(self, segment: Segment) -> int:
        """The connection that a segment is of."""
        return self._open[frozenset((segment.source, segment.target))]

    def lost_of(self, number: int) -> int:
        """How many bytes of a connection the capture lacks, or could not be split into frames."""
        return sum(way.lost + way.skipped for way in self._ways[number].values())
