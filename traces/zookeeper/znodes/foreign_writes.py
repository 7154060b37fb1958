"""What of a record's operations no Kafka writes."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from kafkaproof.traces.zookeeper.transactions import Create, SetData, Transaction
from kafkaproof.traces.zookeeper.znodes.formats import Content, Fault, Format, content_of, format_of

_NUMBERED = re.compile(r"(.*?)(\d{10})")


class Strange(NamedTuple):
    """A znode that is written as no Kafka does: `session` is the writer's, None where a snapshot has it.

    `root`: the chroot of its cluster; `certain`: no Kafka writes it. Else it has a key that no known Kafka writes.
    """

    zxid: int
    session: int | None
    root: str
    path: str
    text: str
    certain: bool


class Declared(NamedTuple):
    """A znode of a kind that is declared: the chroot of its cluster, what it is, and what it holds or is to hold."""

    root: str
    known: Format
    content: Content


def declared_at(path: str, data: bytes | None) -> Declared | None:
    """What a znode is and holds; None where it is of no kind that is declared."""
    found = format_of(path)
    return found and Declared(*found, content_of(found[1], data))


def declared_in(transaction: Transaction) -> list[Declared | None]:
    """What each operation of a record writes; None for one that writes nothing, or nothing of a kind that is declared."""
    return [
        declared_at(each.path, each.data) if isinstance(each, Create | SetData) else None
        for each in transaction.operations
    ]


def strange_in(transaction: Transaction, declared: list[Declared | None]) -> Iterator[Strange]:
    """What is strange in a record that succeeded, and writes this; what it overwrites itself may be empty.

    A broker creates its ephemerals empty, and sets their data in the same multi (`KafkaZkClient.CheckedEphemeral`).
    """
    last = {each.path: each for each in transaction.operations if isinstance(each, Create | SetData)}
    for each, found in zip(transaction.operations, declared):
        if found and isinstance(each, Create | SetData):
            for fault in _faults(found, each, each is last[each.path]):
                yield Strange(transaction.zxid, transaction.session, found.root, each.path, *fault)


def _faults(declared: Declared, operation: Create | SetData, is_read: bool) -> Iterator[Fault]:
    known = declared.known
    if (is_read or operation.data) and declared.content.fault:
        yield declared.content.fault
    if isinstance(operation, Create):
        if operation.ephemeral != known.ephemeral:
            yield Fault(f"it is {'' if operation.ephemeral else 'not '}ephemeral")
        if operation.kind in ("container", "ttl"):
            yield Fault(f"it is a znode of the kind {operation.kind}")
        if known.sequence and (why := _why_not_numbered(known.sequence, operation)):
            yield Fault(why)


def _why_not_numbered(sequence: str, create: Create) -> str | None:
    """Why ZooKeeper has not given this name to a sequential znode; None where it may.

    The number is how many children the parent has ever had: its cversion before the creation, which the record has
    plus one (`PrepRequestProcessor.pRequest2TxnCreate`); -1 in a record that has none.
    """
    found = _NUMBERED.fullmatch(create.path.rpartition("/")[2])
    if not found or found[1] != sequence:
        return f"its name is not {sequence} and ten digits"
    if create.parent_cversion > 0 and int(found[2]) != create.parent_cversion - 1:
        return f"its number is {int(found[2])}, and ZooKeeper would have given it {create.parent_cversion - 1}"
    return None
