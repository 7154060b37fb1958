"""Requests of one process to ZooKeeper: reads at one moment, writes with or without the check of the epoch."""

from __future__ import annotations

import queue
import time
from collections import deque
from collections.abc import Callable

from kazoo.exceptions import BadVersionError, NodeExistsError, NoNodeError, RolledBackError
from kazoo.protocol.serialization import Create, Transaction
from kazoo.security import OPEN_ACL_UNSAFE

from kafkaproof.impl.seams.zookeeper.broker_names import Names
from kafkaproof.impl.seams.zookeeper.session import Expired, Lost, Reply, Session
from kafkaproof.spec.kafka.zookeeper import BADVERSION, EXPIRED, LOST, NODEEXISTS, NONODE, OK
from kafkaproof.spec.running.broker_ids import PLAIN
from kafkaproof.spec.running.processes import REFUSED

CODES = {NoNodeError: NONODE, NodeExistsError: NODEEXISTS, BadVersionError: BADVERSION, Expired: EXPIRED, Lost: LOST}
EPHEMERAL, SEQUENTIAL = 1, 2
CONTROLLER_EPOCH = "/controller_epoch"
ALL_PLAIN = Names(PLAIN)
AGAIN = 0.02
"""So many seconds pass until a read that was not answered is tried again."""


class NotAnswered(Exception):
    """A read was not answered: the step that asked has not happened, and is tried again."""


def create(path: str, data: bytes = b"", flags: int = 0) -> Create:
    """A creation."""
    return Create(path, data, OPEN_ACL_UNSAFE, flags)


class Requests:
    """Asks in the present session, and waits for the answers; what else comes meanwhile is kept in `backlog`.

    `zxids` are those of the transactions that the step in progress has made; `before_write` is called before each. `at`
    is when the step took place, as far as it asked: the zxid of its last write, or of what it read, and whether it
    wrote. `attempts`: how often the last reading `at_once` was begun. `names`: the brokers, as ZooKeeper names them.
    """

    def __init__(self, hosts: str, timeout: float, names: Names = ALL_PLAIN):
        self.hosts, self.timeout, self.names = hosts, timeout, names
        self.inbox: queue.SimpleQueue = queue.SimpleQueue()
        self.backlog: deque = deque()
        self._session: Session | None = None
        self.begin()
        self.before_write: Callable[[], None] = lambda: None

    def begin(self) -> None:
        """A step begins: it has asked for nothing yet."""
        self.zxids: list[int] = []
        self._written = False
        self.at: tuple[int, bool] | None = None

    @property
    def refused(self) -> bool:
        """Whether the step in progress has tried to write, and each time ZooKeeper has refused it."""
        return bool(self.zxids) and not self._written

    @property
    def has_session(self) -> bool:
        """Whether a session was opened."""
        return self._session is not None

    @property
    def session(self) -> Session:
        """The present session, or the last one, where it is over; raises RuntimeError where there was none yet."""
        if self._session is None:
            raise RuntimeError("a session is asked for before one was opened: a defect")
        return self._session

    def open(self, wait: float) -> bool:
        """Leave the former session, if there is one, and open another; False when ZooKeeper does not answer."""
        if self._session:
            self._session.close()
        session = Session(self.hosts, self.timeout, self.inbox)
        session.path_of = self.names.path
        if not session.open(wait):
            session.close()
            return False
        self._session = session
        return True

    def take(self, item: object) -> bool:
        """Note an item of the inbox; True when it is of ZooKeeper, of this session or of a former one."""
        session = getattr(item, "session", None)
        if session is self._session and session is not None:
            session.note(item)
            if isinstance(item, Reply):
                item.result = self.names.told(item.request, item.result)
        return session is not None

    def wait(self, replies: list[Reply]) -> None:
        """Wait until all replies have come."""
        while not all(reply.done for reply in replies):
            item = self.inbox.get()
            if not self.take(item):
                self.backlog.append(item)

    def at_once(self, *reads: Callable[[], Reply]) -> list[Reply]:
        """Read several things at one moment: again and again, until no transaction comes in between.

        Raises Expired, and NotAnswered where the connection breaks.
        """
        self.attempts = 0
        while True:
            self.attempts += 1
            replies = [read() for read in reads]
            self.wait(replies)
            for reply in replies:
                if isinstance(reply.error, Expired):
                    raise reply.error
                if isinstance(reply.error, Lost):
                    raise NotAnswered
            if len({reply.zxid for reply in replies}) == 1:
                self.at = replies[0].zxid, False
                return replies

    def finds(self, look: Callable[[], Reply]) -> bool:
        """Whether a read of a stat finds something that was there at the step's other request, too; not, where it is not
        answered before the session is over.
        """
        self.wait([reply := look()])
        while isinstance(reply.error, Lost):
            time.sleep(AGAIN)
            self.wait([reply := look()])
        found = reply.error is None and reply.result is not None
        return found and (self.at is None or reply.result.czxid <= self.at[0])

    def write(self, operation: object) -> int:
        """One write: its answer."""
        reply = self._send(operation)
        return OK if reply.error is None else CODES[type(reply.error)]

    def write_beside(self, operation: object) -> int:
        """One write that belongs to no step: its answer."""
        reply = self.session.send(self.names.asked(operation))
        self.wait([reply])
        return OK if reply.error is None else CODES[type(reply.error)]

    def write_checked_beside(self, check: object, operation: object) -> tuple[int, int]:
        """The same if a check succeeds: the answer, and the place of the operation that decided it."""
        reply = self.session.send(self.names.asked(Transaction([check, operation])))
        self.wait([reply])
        return _decided(reply)

    def write_all(self, *operations: object) -> tuple[int, int]:
        """One transaction of several writes: its answer, and the place of the operation that decided it."""
        return _decided(self._send(Transaction(list(operations))))

    def _send(self, operation):
        self.before_write()
        reply = self.session.send(self.names.asked(operation))
        self.wait([reply])
        self._written = self._written or CODES.get(type(reply.error)) not in REFUSED
        if reply.zxid:
            self.zxids.append(reply.zxid)
            self.at = reply.zxid, True
        return reply


def _decided(reply) -> tuple[int, int]:
    """The answer to a transaction, and the place of the operation that decided it."""
    if reply.error:
        return CODES[type(reply.error)], 0
    for place, result in enumerate(reply.result):
        if isinstance(result, Exception) and not isinstance(result, RolledBackError):
            return CODES[type(result)], place
    return OK, 0
