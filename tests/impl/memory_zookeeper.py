"""A ZooKeeper server in memory, and the parts of a broker's process that reach outside: for tests without time."""

import re
from dataclasses import dataclass, replace
from functools import partial
from types import SimpleNamespace

from kazoo.exceptions import BadVersionError, NodeExistsError, NoNodeError, RolledBackError
from kazoo.protocol.serialization import (
    CheckVersion,
    Create,
    Delete,
    Exists,
    GetChildren2,
    GetData,
    SetData,
    Transaction,
)
from kazoo.protocol.states import EventType

from kafkaproof.impl.protocol.inner_frames import read_answer, read_request
from kafkaproof.impl.protocol.wire import HOST
from kafkaproof.impl.seams.between.port import Answered, Arrived
from kafkaproof.impl.seams.zookeeper.session import Event, Expired, Expiry, Lost, Reply, Session

EPHEMERAL, SEQUENTIAL = 1, 2


@dataclass
class Znode:
    """A znode with what is asked of its stat."""

    data: bytes
    ephemeralOwner: int
    czxid: int
    mzxid: int
    version: int = 0


class Server:
    """Znodes by their paths, sessions, one-shot watches, and the zxid of the last transaction.

    `lost`: the next write, of a path that `lost_at` fits, is applied and its answer lost (True), or the write (False);
    None: neither.
    """

    def __init__(self):
        self.znodes, self.sessions, self.zxid, self.numbers = {}, {}, 0, 0
        self.watches = {"node": {}, "children": {}}
        self.lost, self.lost_at = None, ".*"

    def read(self, session, request):
        """What a read finds; its watch is armed, of a znode that is not there only by `exists`."""
        znode = self.znodes.get(request.path)
        if request.watcher and (znode or isinstance(request, Exists)):
            kind = "children" if isinstance(request, GetChildren2) else "node"
            self.watches[kind].setdefault(request.path, set()).add(session)
        if znode is None and not isinstance(request, Exists):
            raise NoNodeError
        if isinstance(request, Exists):
            return znode and SimpleNamespace(**vars(znode))
        if isinstance(request, GetData):
            return znode.data, SimpleNamespace(**vars(znode))
        below = f"{request.path}/"
        names = [path.removeprefix(below) for path in self.znodes if path.startswith(below)]
        return [name for name in names if "/" not in name], None

    def write(self, session, request):
        """One transaction: of its operations all or none."""
        self.zxid += 1
        operations = request.operations if isinstance(request, Transaction) else [request]
        kept, events, results = {path: replace(znode) for path, znode in self.znodes.items()}, [], []
        for operation in operations:
            try:
                results.append(self.apply(session, operation, events))
            except (NoNodeError, NodeExistsError, BadVersionError) as error:
                if operations == [request]:
                    raise
                self.znodes = kept
                return [RolledBackError()] * len(results) + [error]
        for event in events:
            self.fire(*event)
        return results if isinstance(request, Transaction) else results[0]

    def apply(self, session, request, events):
        """One operation, and what it is an event of; raises the errors of ZooKeeper."""
        path, znode = request.path, self.znodes.get(request.path)
        if isinstance(request, Create):
            if request.flags & SEQUENTIAL:
                self.numbers += 1
                path += f"{self.numbers:010}"
            elif znode:
                raise NodeExistsError
            owner = session.id if request.flags & EPHEMERAL else 0
            self.znodes[path] = Znode(request.data, owner, self.zxid, self.zxid)
            events.append((path, EventType.CREATED))
            return path
        if znode is None:
            raise NoNodeError
        if request.version not in (-1, znode.version):
            raise BadVersionError
        if isinstance(request, SetData):
            znode.data, znode.version, znode.mzxid = request.data, znode.version + 1, self.zxid
            events.append((path, EventType.CHANGED))
        elif isinstance(request, Delete):
            del self.znodes[path]
            events.append((path, EventType.DELETED))
        else:
            assert isinstance(request, CheckVersion)
        return True

    def fire(self, path, kind):
        """Tell those that watch a znode, and where it came or went its parent's children."""
        parent = path.rpartition("/")[0]
        for session in self.watches["node"].pop(path, ()):
            session.inbox.put(Event(session, kind, path, self.zxid))
        if kind != EventType.CHANGED:
            for session in self.watches["children"].pop(parent, ()):
                session.inbox.put(Event(session, EventType.CHILD, parent, self.zxid))

    def close(self, id):
        """End a session: its watches, then its ephemerals."""
        session = self.sessions.pop(id, None)
        for watches in self.watches.values():
            for watching in watches.values():
                watching.discard(session)
        self.zxid += 1
        for path in [path for path, znode in self.znodes.items() if znode.ephemeralOwner == id]:
            del self.znodes[path]
            self.fire(path, EventType.DELETED)


class MemorySession(Session):
    """A session at a `Server`, whose answers are there at once."""

    def __init__(self, hosts, timeout, inbox):
        self.server, self.inbox, self.zxid, self.expired, self.ready = hosts, inbox, 0, False, False
        self.fired, self._expected = {}, set()

    def open(self, wait):
        self.server.numbers += 1
        self.id, self.password, self.ready = self.server.numbers, b"", True
        self.server.sessions[self.id] = self
        return True

    def close(self):
        self.server.close(self.id)

    def hear_of_expiry(self):
        """The client hears that its session is over, if it is."""
        if self.id not in self.server.sessions:
            self.inbox.put(Expiry(self))

    def send(self, request):
        reply, server = Reply(self, request), self.server
        is_read = isinstance(request, (Exists, GetData, GetChildren2))
        paths = [each.path for each in getattr(request, "operations", [request])]
        stays = is_read or not any(re.fullmatch(server.lost_at, path) for path in paths)
        lost, server.lost = (None, server.lost) if stays else (server.lost, None)
        try:
            if self.id not in server.sessions:
                raise Expired
            if lost is not False:
                reply.arms = is_read and request.watcher is not None and not isinstance(request, GetChildren2)
                reply.result = (server.read if is_read else server.write)(self, request)
            if lost is not None:
                raise Lost
        except (Expired, Lost, NoNodeError, NodeExistsError, BadVersionError) as error:
            reply.error = Lost() if lost is not None and not isinstance(error, Expired) else error
        reply.zxid = server.zxid
        self.inbox.put(reply)
        return reply


class MemoryPort:
    """A port whose requests are in the receiver's inbox at once: none is ever to be sent again."""

    listening: dict = {}
    pipelined = True

    def __init__(self, inbox, *_):
        self.inbox, self.address = inbox, (HOST, len(self.listening))
        self.listening[self.address] = self

    def ask(self, request):
        """Deliver a request."""
        arrived = Arrived(read_request(request.frame(1)[4:]), SimpleNamespace(answer=partial(self._take, request)))
        self.listening[request.receiver.address].inbox.put(arrived)

    def _take(self, request, data):
        self.inbox.put(Answered(request, read_answer(data[4:], request.api, request.version)))

    def is_busy(self, address, lane):
        """Nothing waits."""
        return False


class MemoryClientPort:
    """Where no client comes."""

    def __init__(self, *_):
        self.address = (HOST, 0)
