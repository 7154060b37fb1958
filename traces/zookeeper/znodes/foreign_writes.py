"""What of a record's operations no Kafka writes."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from kafkaproof.traces.zookeeper.transactions import Create, SetData, Transaction
from kafkaproof.traces.zookeeper.znodes.formats import Fault, Format, fault_in, format_of

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


def strange_in(transaction: Transaction) -> Iterator[Strange]:
    """What is strange in a record that succeeded; what it overwrites itself may be empty.

    A broker creates its ephemerals empty, and sets their data in the same multi (`KafkaZkClient.CheckedEphemeral`).
    """
    writes = [each for each in transaction.operations if isinstance(each, Create | SetData)]
    last = {each.path: each for each in writes}
    for each in writes:
        if found := format_of(each.path):
            root, known = found
            for fault in _faults(known, each, each is last[each.path]):
                yield Strange(transaction.zxid, transaction.session, root, each.path, *fault)


def strange_at(zxid: int, path: str, data: bytes | None) -> Strange | None:
    """What is strange in a znode of a snapshot of that zxid."""
    if (found := format_of(path)) is None:
        return None
    root, known = found
    fault = fault_in(known, data)
    return Strange(zxid, None, root, path, *fault) if fault else None


def _faults(known: Format, operation: Create | SetData, is_read: bool) -> Iterator[Fault]:
    if (is_read or operation.data) and (fault := fault_in(known, operation.data)):
        yield fault
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
