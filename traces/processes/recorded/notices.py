"""When notifications were there, of failed log directories and of changed ISRs, as ZooKeeper's log has them."""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator
from typing import Generic, NamedTuple, TypeVar

from kafkaproof.traces.zookeeper.transactions import Create, Delete, SetData, Transaction

About = TypeVar("About", bound=Hashable)
LOG_DIR_EVENT, ISR_CHANGE = "/log_dir_event_notification/", "/isr_change_notification/"
STATE = re.compile(r"/brokers/topics/([^/]+)/partitions/(\d+)/state")


class Notice(NamedTuple, Generic[About]):
    """A notification came at a zxid, and what it speaks of; or it was deleted then (None)."""

    zxid: int
    path: str
    about: frozenset[About] | None


class Notices(Generic[About]):
    """Notifications, to be asked which are there; each question takes time only for what they may speak of."""

    def __init__(self, notices: Iterable[Notice[About]]):
        self._come: dict[About, list[int]] = defaultdict(list)
        self._gone: dict[About, list[int]] = defaultdict(list)
        there: dict[str, frozenset[About]] = {}
        for zxid, path, about in notices:
            times = self._gone if about is None else self._come
            for each in there.pop(path, ()) if about is None else about:
                times[each].append(zxid)
            if about is not None:
                there[path] = about
        for zxids in (*self._come.values(), *self._gone.values()):
            zxids.sort()

    def there(self, zxid: int) -> list[About]:
        """What the notifications speak of that are there after a transaction."""
        return [
            each for each, come in self._come.items() if bisect_right(come, zxid) > bisect_right(self._gone[each], zxid)
        ]


def log_dir_events(transactions: Iterable[Transaction]) -> Iterator[Notice[int]]:
    """Those of failed log directories; each speaks of a broker."""
    for zxid, path, content in _notifications(transactions, LOG_DIR_EVENT):
        yield Notice(zxid, path, None if content is None else frozenset({content["broker"]}))


def isr_changes(transactions: Iterable[Transaction]) -> Iterator[Notice[tuple[str, int]]]:
    """Those of ISRs, each when its leader has written the state, which in the specification is one step; each speaks
    of partitions of topics.
    """
    written: dict[tuple[int, str], int] = {}
    for transaction in transactions:
        for operation in () if transaction.failed else transaction.operations:
            if isinstance(operation, SetData) and STATE.fullmatch(operation.path):
                written[transaction.session, operation.path] = transaction.zxid
        for zxid, path, content in _notifications([transaction], ISR_CHANGE):
            if content is None:
                yield Notice(zxid, path, None)
                continue
            about = frozenset((each["topic"], each["partition"]) for each in content["partitions"])
            states = (f"/brokers/topics/{topic}/partitions/{partition}/state" for topic, partition in about)
            since = min((written.get((transaction.session, state), zxid) for state in states), default=zxid)
            yield Notice(since, path, about)


def _notifications(transactions: Iterable[Transaction], directory: str) -> Iterator[tuple[int, str, dict | None]]:
    """When notifications in a directory came, and what they say; and when each was deleted (None)."""
    for transaction in transactions:
        for operation in () if transaction.failed else transaction.operations:
            path = getattr(operation, "path", "")
            if path.startswith(directory) and isinstance(operation, (Create, Delete)):
                yield (
                    transaction.zxid,
                    path,
                    json.loads(operation.data or b"") if isinstance(operation, Create) else None,
                )
