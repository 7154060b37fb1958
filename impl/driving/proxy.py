"""A TCP proxy in this process, between a broker and ZooKeeper: a link that can be cut, or made slow."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator

from impl.clients.wire import HOST

_CHUNK = 1 << 16


class Proxy:
    """Forwards connections from a free port on the loopback interface to `target`.

    `delay` is how long each piece that comes is held back, in seconds. While the link is cut, connections are closed.
    """

    def __init__(self, target: tuple[str, int]):
        self._target, self.delay, self._is_cut = target, 0.0, False
        self._open: set[socket.socket] = set()
        self._lock = threading.Lock()
        self._listener = socket.create_server((HOST, 0))
        self.address = f"{HOST}:{self._listener.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def cut(self) -> None:
        """Break all connections, and take none, until `mend`."""
        with self._lock:
            self._is_cut = True
            for connection in self._open:
                _break(connection)
            self._open.clear()

    def mend(self) -> None:
        """Take connections again."""
        self._is_cut = False

    def close(self) -> None:
        """Forward nothing any more."""
        self.cut()
        self._listener.close()

    def _accept(self):
        while True:
            try:
                inner = self._listener.accept()[0]
            except OSError:
                return
            threading.Thread(target=self._connect, args=(inner,), daemon=True).start()

    def _connect(self, inner):
        try:
            outer = socket.create_connection(self._target, timeout=1)
            outer.settimeout(None)
        except OSError:
            inner.close()
            return
        with self._lock:
            if self._is_cut:
                _break(inner)
                _break(outer)
                return
            self._open |= {inner, outer}
        pieces = self._pieces(inner, outer)
        for source, sink, each in zip((inner, outer), (outer, inner), pieces):
            threading.Thread(target=self._forward, args=(source, sink, each), daemon=True).start()

    def _pieces(self, inner: socket.socket, outer: socket.socket) -> tuple[Iterator[bytes], Iterator[bytes]]:
        """What is to be forwarded from each end."""
        return chunks(inner), chunks(outer)

    def _forward(self, source, sink, pieces):
        try:
            for data in pieces:
                if self.delay:
                    time.sleep(self.delay)
                sink.sendall(data)
        except OSError:
            pass  # one end has gone: so does the other
        with self._lock:
            self._open -= {source, sink}
        _break(source)
        _break(sink)


def chunks(source: socket.socket) -> Iterator[bytes]:
    """What a connection brings, as it comes."""
    while data := source.recv(_CHUNK):
        yield data


def _break(connection):
    try:
        connection.shutdown(socket.SHUT_RDWR)
    except OSError:
        pass
    connection.close()
