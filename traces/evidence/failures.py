"""The requests that failed, by session: what a session did between two of its writes is not all in the log."""

from array import array
from bisect import bisect_left, bisect_right
from collections import defaultdict

from kafkaproof.traces.zookeeper.transactions import Failure, Transaction

NONODE, BADVERSION, NODEEXISTS = -101, -103, -110


class Failures:
    """Collects the failed requests record by record."""

    def __init__(self):
        self._failed: dict[tuple[int, bool, bool], array] = defaultdict(_zxids)
        self._refused: dict[int, array] = defaultdict(_zxids)
        self._existed: dict[int, array] = defaultdict(_zxids)

    def add(self, transaction: Transaction) -> None:
        """Note a transaction that failed."""
        codes = {o.code for o in transaction.operations if isinstance(o, Failure)}
        if NODEEXISTS not in codes:
            self._failed[transaction.session, transaction.multi, NONODE in codes].append(transaction.zxid)
        else:
            self._existed[transaction.session].append(transaction.zxid)
        if BADVERSION in codes:
            self._refused[transaction.session].append(transaction.zxid)

    def failed(self, session: int, first: int, last: float, guarded: bool, deleting: bool = False) -> bool:
        """Whether a controller's write or deletion may have failed between two records of its session.

        A creation is none: it alone finds that its znode exists. Where each is checked against the epoch (`guarded`) it
        is one of several operations; those alone are others'. Who deletes all of a topic (`deleting`) goes on where he
        finds that a znode is gone (KafkaZkClient.deleteRecursive).
        """
        return any(
            _between(self._failed[session, multi, gone], first, last)
            for multi in (True, False)[: 1 if guarded else 2]
            for gone in (False, True)[: 1 if deleting else 2]
        )

    def refused(self, session: int, first: int, last: int) -> bool:
        """Whether a request of a session failed between two records because of a version."""
        return _between(self._refused[session], first, last)

    def existed(self, session: int, first: int, last: int) -> bool:
        """Whether a request of a session failed between two records because its znode was there."""
        return _between(self._existed[session], first, last)


def _zxids() -> array:
    return array("q")


def _between(zxids: array, first: int, last: float) -> bool:
    return bisect_left(zxids, last) > bisect_right(zxids, first)
