"""The writes to topics, their configuration, and the requests to the controller, one by one in the order of a log."""

from bisect import bisect_left, bisect_right
from collections import defaultdict
from dataclasses import dataclass

from traces.cluster import Members, below
from traces.topics.znodes import ENTITY, Place, place_of
from traces.transactions import Check, Create, Delete, Failure, SetData, Transaction

BADVERSION = -103
_FORMS = {Create: "create", SetData: "set", Delete: "delete"}


@dataclass(frozen=True)
class Write:
    """One operation that succeeded on a znode of a topic, or on a request to the controller.

    `form`: create, set or delete; `place`: None for the configuration of something else; `broker`: whose session
    wrote it, None for a tool's; `checked`: in a multi with a check of /controller_epoch.
    """

    zxid: int
    time: int
    session: int
    broker: int | None
    form: str
    path: str
    place: Place | None
    data: bytes | None
    checked: bool

    @property
    def text(self) -> str:
        """What it does, and who does it."""
        whose = "a session that is no broker's" if self.broker is None else f"broker {self.broker}"
        form = {"set": "setData"}.get(self.form, self.form)
        return f"{form} {self.path} by {whose} ({self.session:#x})"


class Writes:
    """Collects the writes record by record, and the requests that failed."""

    def __init__(self, members: Members, root: str):
        self.all: list[Write] = []
        self._members, self._root = members, root
        self._checked: dict[int, list[Write]] = defaultdict(list)
        self._failed: dict[int, list[int]] = defaultdict(list)
        self._refused: dict[int, list[int]] = defaultdict(list)

    def add(self, transaction: Transaction) -> None:
        """Note what a transaction did, or that it failed."""
        if transaction.failed:
            self._failed[transaction.session].append(transaction.zxid)
            if any(isinstance(o, Failure) and o.code == BADVERSION for o in transaction.operations):
                self._refused[transaction.session].append(transaction.zxid)
            return
        first = transaction.operations[0]
        checked = isinstance(first, Check) and below(self._root, first.path) == "/controller_epoch"
        for operation in transaction.operations:
            path = below(self._root, getattr(operation, "path", "")) or ""
            form, place = _FORMS.get(type(operation)), place_of(path)
            if form and (place or ENTITY.fullmatch(path)):
                broker = self._members.broker_of.get(transaction.session)
                data = getattr(operation, "data", None)
                write = Write(transaction.zxid, transaction.time, transaction.session, broker, form, path, place, data,
                              checked)
                self.all.append(write)
                if checked:
                    self._checked[transaction.session].append(write)

    def next_checked(self, session: int, zxid: int) -> Write | None:
        """The next write of a session that was checked against the epoch: the next step of its controller."""
        own = self._checked[session]
        place = bisect_right(own, zxid, key=lambda write: write.zxid)
        return own[place] if place < len(own) else None

    def failed(self, session: int, first: int, last: int) -> bool:
        """Whether a request of a session failed between two records."""
        return _between(self._failed[session], first, last)

    def refused(self, session: int, first: int, last: int) -> bool:
        """Whether a request of a session failed between two records because of a version."""
        return _between(self._refused[session], first, last)


def _between(zxids: list[int], first: int, last: int) -> bool:
    return bisect_left(zxids, last) > bisect_right(zxids, first)
