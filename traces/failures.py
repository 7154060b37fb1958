"""The requests that failed, by session: what a session did between two of its writes is not all in the log."""

from array import array
from bisect import bisect_left, bisect_right
from collections import defaultdict

from traces.zookeeper.transactions import Failure, Transaction

BADVERSION, NODEEXISTS = -103, -110


class Failures:
    """Collects the failed requests record by record."""

    def __init__(self):
        self._failed: dict[int, array] = defaultdict(_zxids)
        self._multi: dict[int, array] = defaultdict(_zxids)
        self._refused: dict[int, array] = defaultdict(_zxids)

    def add(self, transaction: Transaction) -> None:
        """Note a transaction that failed."""
        codes = {o.code for o in transaction.operations if isinstance(o, Failure)}
        if NODEEXISTS not in codes:
            self._failed[transaction.session].append(transaction.zxid)
            if transaction.multi:
                self._multi[transaction.session].append(transaction.zxid)
        if BADVERSION in codes:
            self._refused[transaction.session].append(transaction.zxid)

    def failed(self, session: int, first: int, last: float, guarded: bool) -> bool:
        """Whether a controller's write or deletion may have failed between two records of its session.

        A creation is none: it alone finds that its znode exists. Where each is checked against the epoch (`guarded`) it
        is one of several operations; those alone are others'.
        """
        return _between((self._multi if guarded else self._failed)[session], first, last)

    def refused(self, session: int, first: int, last: int) -> bool:
        """Whether a request of a session failed between two records because of a version."""
        return _between(self._refused[session], first, last)


def _zxids() -> array:
    return array("q")


def _between(zxids: array, first: int, last: float) -> bool:
    return bisect_left(zxids, last) > bisect_right(zxids, first)
