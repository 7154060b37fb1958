"""One ZooKeeper session on one kazoo client: requests, and a single queue for all that comes back.

Answers, watch events and changes of the connection are put into the owner's queue by the client's connection thread,
in the order in which ZooKeeper sent them, each with the zxid that came with it. Nothing is retried: a request whose
connection breaks is answered with `Lost`. A client reconnects within its session, and arms its watches again
with the zxid that it saw last, as Kafka's Java client does; when the session has expired it stops for good.
"""

from __future__ import annotations

import queue
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from kazoo.client import KazooClient
from kazoo.exceptions import ConnectionClosedError, ConnectionLoss, KazooException, SessionExpiredError
from kazoo.handlers.threading import SequentialThreadingHandler
from kazoo.protocol.connection import ConnectionHandler
from kazoo.protocol.serialization import Exists, GetChildren2, GetData, int_struct, long_struct, write_string
from kazoo.protocol.states import EventType, KazooState

RECONNECT = {"max_tries": -1, "delay": 0.02, "max_delay": 0.2, "ignore_expire": False}


class Lost(KazooException):
    """The connection broke before the answer came: whether the request was applied is unknown."""


class Expired(KazooException):
    """The session is over: the request was not applied."""


class Event(NamedTuple):
    """A watch has fired; `zxid` is that of the change, 0 where the server does not tell it."""

    session: Session
    type: str
    path: str
    zxid: int


class Connection(NamedTuple):
    """The connection is there again (True) or broken (False)."""

    session: Session
    up: bool


class Expiry(NamedTuple):
    """The client has heard that its session is over."""

    session: Session


@dataclass(eq=False)
class Reply:
    """What was asked, and once it has come, the result (as kazoo gives it) or the error, and the zxid that came with
    it.
    """

    session: Session
    request: Any
    result: Any = None
    error: Exception | None = None
    zxid: int = 0
    done: bool = False
    arms: bool = False

    def set(self, result: object) -> None:
        """Called by kazoo's connection thread."""
        self.result = result
        self.session.arrived(self)

    def set_exception(self, error: Exception) -> None:
        """Called by kazoo's connection thread."""
        self.error = error
        self.session.arrived(self)


@dataclass(frozen=True)
class SetWatches:
    """Arms watches again after a reconnection; those that changed after `zxid` fire at once."""

    zxid: int
    data: list[str]
    exists: list[str]
    children: list[str]
    type: ClassVar[int] = 101

    def serialize(self) -> bytes:
        """The jute form of `org.apache.zookeeper.proto.SetWatches`."""
        parts = [long_struct.pack(self.zxid)]
        for paths in (self.data, self.exists, self.children):
            parts.append(int_struct.pack(len(paths)))
            parts += [write_string(path) for path in paths]
        return b"".join(parts)

    @classmethod
    def deserialize(cls, buffer: bytes, offset: int) -> bool:
        """The answer is empty."""
        return True


class _Handler(SequentialThreadingHandler):
    """Runs callbacks of watches at once, so that events and answers keep their order."""

    def dispatch_callback(self, callback):
        callback.func(*callback.args)


class _Connection(ConnectionHandler):
    """Remembers the header of what was received last: kazoo drops the zxid of an event."""

    zxid = 0

    def _read_header(self, timeout):
        header, buffer, offset = super()._read_header(timeout)
        self.zxid = max(0, header.zxid)
        return header, buffer, offset


class Session:
    """A session from its opening to its end; `inbox` receives Reply, Event, Connection and Expiry.

    `zxid` is the last one that its owner has taken note of, `id` and `password` are ZooKeeper's. `path_of` tells of the path
    of a read how ZooKeeper has it.
    """

    path_of: Callable[[str], str] = staticmethod(lambda path: path)

    def __init__(self, hosts: str, timeout: float, inbox: queue.SimpleQueue):
        self.inbox, self.zxid, self.expired, self.ready = inbox, 0, False, False
        self.fired: dict[str, list[str]] = {}
        self._expected: set[str] = set()
        self._armed: dict[str, set[str]] = {"data": set(), "exists": set(), "children": set()}
        self._client = KazooClient(
            hosts, timeout, handler=_Handler(), connection_retry=RECONNECT, randomize_hosts=False
        )
        retry = self._client._conn_retry.copy()
        self._client._connection = _Connection(self._client, retry, logger=self._client.logger)
        self._client.add_listener(self._changed)
        self._opened = self._usable = False

    def open(self, wait: float) -> bool:
        """Connect and create the session; False when ZooKeeper does not answer within `wait` seconds."""
        self._client.start_async().wait(wait)
        self._opened = True
        if not self._client.connected:
            return False
        self.id, self.password = self._client.client_id
        self.ready = True
        return True

    def close(self) -> None:
        """Close the session, if it is still open, and leave the client."""
        if self._client._stopped.is_set():
            self._client._safe_close()
        self._client.stop()
        self._client.close()

    def send(self, request: object) -> Reply:
        """Send a request; its reply comes through the inbox, at once where there is no connection."""
        reply = Reply(self, request)
        if self.expired:
            reply.set_exception(SessionExpiredError())
        elif not self._usable:
            reply.set_exception(ConnectionLoss())
        else:
            self._client._call(request, reply)
        return reply

    def exists(self, path: str, watch: bool = False) -> Reply:
        """Ask for a znode's stat, None when there is none."""
        return self.send(Exists(self.path_of(path), self._noticed if watch else None))

    def get(self, path: str, watch: bool = False) -> Reply:
        """Ask for a znode's data and stat."""
        return self.send(GetData(self.path_of(path), self._noticed if watch else None))

    def children(self, path: str, watch: bool = False) -> Reply:
        """Ask for the names of a znode's children, and its stat."""
        return self.send(GetChildren2(self.path_of(path), self._noticed if watch else None))

    def armed(self, path: str) -> bool:
        """Whether a watch for a znode's data, or for its creation, is armed, as far as the owner has taken note.

        An event that waits in the inbox has not yet come to it.
        """
        return path in self._expected

    def note(self, item: object) -> bool:
        """The owner takes an item of the inbox; True when that is all there is to do with it."""
        if isinstance(item, Reply):
            item.done = True
            self.zxid = max(self.zxid, item.zxid)
            if item.arms:
                self._expected.add(item.request.path)
            if isinstance(item.request, SetWatches) and item.error is None:
                self.ready = True
        elif isinstance(item, Event):
            self.zxid = max(self.zxid, item.zxid)
            self.fired.setdefault(item.path, []).append(item.type)
            if item.type != EventType.CHILD:
                self._expected.discard(item.path)
        elif isinstance(item, Connection):
            self.ready = False
        elif isinstance(item, Expiry):
            self.expired, self.ready = True, False
        return isinstance(item, (Reply, Connection))

    def arrived(self, reply: Reply) -> None:
        """An answer has come, in the connection thread."""
        if isinstance(reply.error, SessionExpiredError) or self.expired:
            reply.error = Expired()
        elif isinstance(reply.error, (ConnectionLoss, ConnectionClosedError)):
            reply.error = Lost()
        else:
            reply.zxid = self._client.last_zxid
            self._arm(reply)
        self.inbox.put(reply)

    def _arm(self, reply):
        request, missing = reply.request, reply.result is None
        if not getattr(request, "watcher", None) or (reply.error and not isinstance(request, Exists)):
            return
        if isinstance(request, GetChildren2):
            self._armed["children"].add(request.path)
        else:
            self._armed["exists" if missing else "data"].add(request.path)
            reply.arms = True

    def _noticed(self, event):
        """A watch has fired, in the connection thread; kazoo also calls this when a connection breaks."""
        if event.type == EventType.NONE:
            return
        kinds = {EventType.CHILD: ("children",), EventType.DELETED: ("data", "exists", "children")}
        for kind in kinds.get(event.type, ("data", "exists")):
            self._armed[kind].discard(event.path)
        self.inbox.put(Event(self, event.type, event.path, self._client._connection.zxid))

    def _changed(self, state):
        """The connection has changed, in the connection thread."""
        if state == KazooState.LOST:
            self._client._stopped.set()
            self.inbox.put(Expiry(self))
        elif state == KazooState.SUSPENDED:
            self._usable = False
            if self._opened:
                self.inbox.put(Connection(self, False))
        elif self._opened:
            for kind, watchers in (
                ("data", self._client._data_watchers),
                ("exists", self._client._data_watchers),
                ("children", self._client._child_watchers),
            ):
                for path in self._armed[kind]:
                    watchers[path].add(self._noticed)
            self.inbox.put(Connection(self, True))
            request = SetWatches(self._client.last_zxid, *(sorted(self._armed[kind]) for kind in self._armed))
            self._client._call(request, Reply(self, request))
            self._usable = True
        else:
            self._usable = True
