"""The writes to topics, their configuration, and the messages to the controller, one by one in the order of a log."""

from collections.abc import Iterator
from enum import StrEnum
from typing import NamedTuple

from kafkaproof.traces.reading.cluster import Members, below
from kafkaproof.traces.zookeeper.transactions import Check, Create, Delete, SetData, Transaction
from kafkaproof.traces.zookeeper.znodes.topics import ENTITY, OUTSIDE, Place, place_of


class Form(StrEnum):
    """What a write does to its znode; END is none, behind all of a log."""

    CREATE = "create"
    SET = "set"
    DELETE = "delete"
    END = "end"


_FORMS = {Create: Form.CREATE, SetData: Form.SET, Delete: Form.DELETE}


class Write(NamedTuple):
    """One operation that succeeded on a znode of a topic, or on a message to the controller.

    `place`: OUTSIDE for the configuration of something else; `broker`: whose session
    wrote it, None for a tool's; `checked`: in a multi with a check of /controller_epoch; `previous`: the zxid of the
    write of its session before, of those that are checked, in whatever stream; `number`: which write of the log it is.
    """

    zxid: int
    time: int
    session: int
    broker: int | None
    form: Form
    path: str
    place: Place
    data: bytes | None
    checked: bool
    previous: int = 0
    number: int = 0

    @property
    def text(self) -> str:
        """What it does, and who does it."""
        whose = "a session that is no broker's" if self.broker is None else f"broker {self.broker}"
        does = "setData" if self.form == Form.SET else self.form
        return f"{does} {self.path} by {whose} ({self.session:#x})"


def writes_of(
    transaction: Transaction, members: Members, root: str, previous: int = 0, number: int = 0
) -> Iterator[Write]:
    """The writes of a transaction that succeeded.

    `previous`: the zxid of the checked write of its session before; `number`: of its first write.
    """
    first, session, zxid = transaction.first, transaction.session, transaction.zxid
    checked = type(first) is Check and below(root, first.path) == "/controller_epoch"
    for operation in transaction.operations:
        if not isinstance(operation, Create | SetData | Delete):
            continue
        path = below(root, operation.path) or ""
        place = place_of(path)
        if place or ENTITY.fullmatch(path):
            data = None if isinstance(operation, Delete) else operation.data
            yield Write(
                zxid,
                transaction.time,
                session,
                members.broker_of.get(session),
                _FORMS[type(operation)],
                path,
                place or OUTSIDE,
                data,
                checked,
                previous if checked else 0,
                number,
            )
            number += 1
            previous = zxid
