"""Sessions that ZooKeeper ended sooner than their timeout after their last request."""

import numpy as np

from kafkaproof.traces.reading.state_records import StateWrite, StateWrites
from kafkaproof.traces.reading.sweep import Listener
from kafkaproof.traces.zookeeper.transactions import CloseSession, Transaction
from kafkaproof.traces.zookeeper.tree import Tree

_WHY = (
    "ZooKeeper waits as long: a clock was set, the request had waited on its way, or somebody ended the session "
    "(terminateSession)"
)


class Expiries(Listener):
    """Collects them. `problems`: a line each.

    A record has the time of the leader's clock, which may be set, and there are other ways to end a session; so none of
    these is a divergence. An end that a client asked for has a cxid, and one by ZooKeeper has none
    (`ZooKeeperServer.close`). What a session does beside writing, such as its pings, is in no log: it may only make
    the end later.
    """

    def __init__(self, directory: object):
        self.problems: list[str] = []
        self._directory, self._heard = directory, dict[int, int]()

    def begin(self, tree: Tree, standing) -> None:
        """Begin with the sessions that are open."""
        self._tree = tree

    def before(self, transaction: Transaction) -> None:
        """Judge the end of a session, while its timeout is known."""
        session, time = transaction.session, transaction.time
        timeout, heard = self._tree.sessions.get(session), self._heard.get(session)
        if type(transaction.first) is CloseSession and transaction.cxid == 0 and timeout and heard is not None:
            if time - heard < timeout:
                self.problems.append(
                    f"{self._directory}: {transaction.zxid:#x}: session {session:#x} expires {time - heard:,} ms after "
                    f"its last record, sooner than its timeout of {timeout:,} ms; {_WHY}"
                )
        self._heard[session] = time

    def state_written(self, write: StateWrite, contradictions: tuple[str, ...]) -> None:
        """A session is alive."""
        self._heard[write.transaction.session] = write.transaction.time

    def states_written(self, writes: StateWrites) -> None:
        """The same of many records."""
        sessions, last = np.unique(writes.sessions[::-1], return_index=True)
        self._heard |= zip(sessions.tolist(), writes.times[::-1][last].tolist())
