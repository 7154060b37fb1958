"""A proxy that loses one request of a ZooKeeper client, or its answer, and the connection with it."""

from __future__ import annotations

import socket
from collections.abc import Iterator

from impl.driving.proxy import Proxy, chunks

WRITES = (1, 2, 5, 14, 15)
"""create, delete, setData, multi and create2 of `org.apache.zookeeper.ZooDefs.OpCode`."""


class LossyProxy(Proxy):
    """A proxy that knows ZooKeeper's frames: a length of four bytes; from the client, the number of the request and its
    kind, from the server that number. The first frame of a connection opens the session.
    """

    _loss: tuple[bool, bytes] | None = None

    def lose(self, applied: bool, part: bytes = b"") -> None:
        """Lose the next write in whose frame `part` is: where it is `applied` its answer, else the request."""
        self._loss = applied, part

    def _pieces(self, inner, outer):
        awaited: set[bytes] = set()
        return self._requests(inner, awaited), self._answers(outer, awaited)

    def _requests(self, source: socket.socket, awaited: set[bytes]) -> Iterator[bytes]:
        for number, frame in enumerate(frames(source)):
            loss = self._loss
            if number and loss and int.from_bytes(frame[8:12], "big") in WRITES and loss[1] in frame:
                self._loss = None
                if not loss[0]:
                    return
                awaited.add(frame[4:8])
            yield frame

    def _answers(self, source: socket.socket, awaited: set[bytes]) -> Iterator[bytes]:
        for number, frame in enumerate(frames(source)):
            if number and frame[4:8] in awaited:
                return
            yield frame


def frames(source: socket.socket) -> Iterator[bytes]:
    """The frames that a connection brings, each with its length."""
    waiting = b""
    for chunk in chunks(source):
        waiting += chunk
        while len(waiting) >= 4 and len(waiting) >= (size := 4 + int.from_bytes(waiting[:4], "big")):
            yield waiting[:size]
            waiting = waiting[size:]
