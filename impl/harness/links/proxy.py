"""A TCP proxy in this process: a link that can be cut, or made slow, and that holds or loses what rules name.

ZooKeeper and Kafka both speak in frames: a length of four bytes, and as many bytes. Subclasses know what they say.
All proxies share one thread, which runs their event loop.
"""

from __future__ import annotations

import asyncio
import socket
import threading
from collections import deque
from functools import cache
from typing import Any

from kafkaproof.impl.harness.links.rules import DELAY, DROP, HOLD, Frame, Rule
from kafkaproof.impl.protocol.wire import HOST
from kafkaproof.spec.protocol.passed import ANSWER, DROPPED, LENGTH, PASSED, REQUEST, Recorder

LOOK, CONNECT = 0.005, 1.0


class Proxy:
    """Forwards connections from a free port on the loopback interface to `target` (host and port).

    `delay` is how long each frame is held back, in seconds. While the link is cut, connections are closed. What passes
    is noted by `recorder`.
    """

    def __init__(self, target: tuple[str, int], recorder: Recorder | None = None):
        self.target, self.delay, self.is_cut, self.recorder = target, 0.0, False, recorder
        self.rules: list[Rule] = []
        self.connections: set[Connection] = set()
        self.count = 0
        listener = socket.create_server((HOST, 0))
        self.port = listener.getsockname()[1]
        self.address = f"{HOST}:{self.port}"
        self._server = _run(asyncio.start_server(self._serve, sock=listener))

    # What is done to it

    def cut(self) -> None:
        """Break all connections, and take none, until `mend`."""
        self.is_cut = True
        _run(self._break_all())

    def mend(self) -> None:
        """Take connections again."""
        self.is_cut = False

    def add(self, rule: Rule) -> Rule:
        """Apply a rule from now on, and return it; the first rule that fits a frame decides."""
        self.rules = [*self.rules, rule]
        return rule

    def remove(self, *rules: Rule) -> None:
        """Apply rules no more, and let go what they hold."""
        self.rules = [rule for rule in self.rules if rule not in rules]
        for rule in rules:
            rule.release()

    def close(self) -> None:
        """Forward nothing any more."""
        self.remove(*self.rules)
        self.is_cut = True
        _run(self._close())
        if self.recorder:
            self.recorder.close()

    # What a subclass knows

    def number(self, data: bytes, part: str) -> int | None:
        """The number that a request and its answer have; None of a frame that has none."""
        return None

    def part(self, data: bytes, is_answer: bool) -> str:
        """Which part of the conversation a frame is."""
        return ANSWER if is_answer else REQUEST

    def read(self, connection: Connection, data: bytes, part: str) -> dict[str, object]:
        """What a frame says, as names and values."""
        return {}

    def hear(self, connection: Connection, data: bytes, part: str) -> None:
        """Learn who is at the ends of a connection, from each frame as it passes."""

    def kept(self, connection: Connection, data: bytes, part: str) -> bytes:
        """A frame as it is noted, of the same length."""
        return data

    def overtakes(self, data: bytes) -> bool:
        """Whether a frame may pass those that are held: it keeps a session alive, and says nothing else."""
        return False

    # Connections

    async def _serve(self, reader, writer):
        try:
            outer = await asyncio.wait_for(asyncio.open_connection(*self.target), CONNECT)
        except OSError:
            writer.close()
            return
        self.count += 1
        connection = Connection(self, self.count, (reader, writer), outer)
        self.connections.add(connection)
        if not self.is_cut:
            await connection.forward()
        connection.close()
        self.connections.discard(connection)

    async def _break_all(self):
        for connection in list(self.connections):
            connection.abort()

    async def _close(self):
        self._server.close()
        await self._break_all()

    def taken(self, connection: Connection, data: bytes, part: str) -> tuple[Rule, Frame] | None:
        """The first rule that fits a frame, and the frame that it has taken."""
        if not self.rules:
            return None
        said = {"part": part, **self.read(connection, data, part)}
        return next(((rule, frame) for rule in self.rules if (frame := rule.take(said))), None)


class Connection:
    """One connection through a proxy: its `place` among them, its `requests` that wait for an answer, by their
    numbers, and `about`, what is known of it.
    """

    def __init__(self, proxy: Proxy, place: int, inner: tuple, outer: tuple):
        self.proxy, self.place, self._inner, self._outer = proxy, place, inner, outer
        self.requests: dict[int | None, bytes] = {}
        self.about: dict[str, Any] = {}

    async def forward(self) -> None:
        """Forward both ways, until one end has gone or a frame is dropped."""
        ways = (_Way(self, self._inner[0], self._outer[1], False), _Way(self, self._outer[0], self._inner[1], True))
        takers = [asyncio.ensure_future(way.take()) for way in ways]
        givers = [asyncio.ensure_future(way.give()) for way in ways]
        await asyncio.wait(givers, return_when=asyncio.FIRST_COMPLETED)
        for task in (*takers, *givers):
            task.cancel()
        await asyncio.gather(*takers, *givers, return_exceptions=True)

    def close(self) -> None:
        """Close both ends, when they have got what was sent."""
        for writer in self._inner[1], self._outer[1]:
            writer.close()

    def abort(self) -> None:
        """Break both ends at once."""
        for writer in self._inner[1], self._outer[1]:
            writer.transport.abort()


class _Way:
    """One direction of a connection. A frame waits for the one before it, but for what overtakes."""

    def __init__(
        self, connection: Connection, source: asyncio.StreamReader, sink: asyncio.StreamWriter, is_answer: bool
    ):
        self._connection, self._proxy, self._is_answer = connection, connection.proxy, is_answer
        self._source, self._sink = source, sink
        self._waiting: deque[tuple[float, bytes | None]] = deque()
        self._comes = asyncio.Event()

    async def take(self) -> None:
        """Read frames until the end comes, which waits like a frame."""
        try:
            while True:
                head = await self._source.readexactly(LENGTH)
                data = head + await self._source.readexactly(int.from_bytes(head, "big"))
                self._wait((_now() + self._proxy.delay, data))
        except (OSError, asyncio.IncompleteReadError):
            self._wait((0.0, None))

    def _wait(self, frame):
        self._waiting.append(frame)
        self._comes.set()

    async def give(self) -> None:
        """Forward frames in their order, until the end comes, or one is dropped."""
        while True:
            while not self._waiting:
                self._comes.clear()
                await self._comes.wait()
            due, data = self._waiting.popleft()
            if data is None:
                return
            await asyncio.sleep(max(0.0, due - _now()))
            part = self._proxy.part(data, self._is_answer)
            self._proxy.hear(self._connection, data, part)
            taken = self._proxy.taken(self._connection, data, part)
            try:
                if taken and await self._decide(*taken) == DROPPED:
                    self._note(data, part, DROPPED)
                    return
                await self._send(data, part)
            except OSError:
                return

    async def _decide(self, rule: Rule, frame: Frame) -> str:
        """Keep a frame as long as its rule says, while what overtakes it is sent; what becomes of it then.

        It is lost when its connection breaks at the other end.
        """
        until = _now() + rule.seconds
        while rule.action == HOLD and not frame.verdict or rule.action == DELAY and _now() < until:
            try:
                await asyncio.sleep(LOOK)
            except asyncio.CancelledError:
                frame.drop()
                raise
            frame.is_stale = bool(self._waiting) and self._waiting[-1][1] is None
            for each in list(self._waiting):
                if (data := each[1]) and self._proxy.overtakes(data):
                    self._waiting.remove(each)
                    await self._send(data, self._proxy.part(data, self._is_answer))
        return DROPPED if rule.action == DROP else frame.verdict or PASSED

    async def _send(self, data: bytes, part: str) -> None:
        number = self._proxy.number(data, part)
        self._note(data, part, PASSED)
        if part == REQUEST:
            self._connection.requests[number] = data
        elif part == ANSWER:
            self._connection.requests.pop(number, None)
        self._sink.write(data)
        await self._sink.drain()

    def _note(self, data, part, became):
        if self._proxy.recorder:
            kept = self._proxy.kept(self._connection, data, part)
            self._proxy.recorder.note(self._connection.place, part, became, kept)


@cache
def _loop() -> asyncio.AbstractEventLoop:
    """The event loop of all proxies, in a thread of its own."""
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, daemon=True).start()
    return loop


def _run(coroutine):
    """Run something in the event loop; return what it returns."""
    return asyncio.run_coroutine_threadsafe(coroutine, _loop()).result()


def _now() -> float:
    return asyncio.get_running_loop().time()
