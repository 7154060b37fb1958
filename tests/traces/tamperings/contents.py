"""Tamperings with what is written to znodes: what no Kafka writes there."""

import json
from dataclasses import replace

from kafkaproof.traces.zookeeper.transactions import Create, SetData
from tests.traces.tamperings.scene import Record, kind


def _written(record: Record, data: bytes):
    """The last operation of the record writes something else."""
    return record.operate(*record.transaction.operations[:-1], replace(record.write, data=data))


def _as(record: Record, change):
    """The state that is written, with its leader of another type; None where it is no state."""
    return record.restate(leader=change(record.after.leader)) if record.after else None


@kind()
def leader_that_is_text(record: Record):
    """The leader in a partition's state is a text of digits."""
    return _as(record, str)


@kind()
def leader_that_is_a_float(record: Record):
    """The leader in a partition's state is a number with a point."""
    return _as(record, float)


@kind()
def leader_that_is_true(record: Record):
    """The leader in a partition's state is `true`, where it is broker 1."""
    return _as(record, bool) if record.after and record.after.leader == 1 else None


@kind()
def state_without_a_version(record: Record):
    """A partition's state has no version."""
    if record.after:
        return record.rewrite(lambda content: content.pop("version"))


@kind()
def state_with_another_leader_first(record: Record):
    """A partition's state has the key leader twice, the first with another broker."""
    if record.after:
        return _written(record, record.write.data.replace(b"{", b'{"leader":%d,' % (record.after.leader + 1), 1))


def _registers(record: Record) -> bool:
    """Whether it has what a broker registers with."""
    own = isinstance(record.write, Create | SetData) and record.path == f"/brokers/ids/{record.broker}"
    return own and bool(record.write.data)


@kind()
def registration_of_nothing(record: Record):
    """A broker registers with an empty JSON object."""
    if _registers(record):
        return _written(record, b"{}")


@kind()
def registration_without_its_listeners(record: Record):
    """A broker registers, and its listeners are missing."""
    if _registers(record):
        rest = {key: value for key, value in json.loads(record.write.data).items() if key != "endpoints"}
        return _written(record, json.dumps(rest).encode())


@kind()
def sequence_number_that_jumps(record: Record):
    """A broker creates a sequential znode whose number is not the next one."""
    if isinstance(record.write, Create) and record.broker is not None and record.path[-10:].isdigit():
        path = f"{record.path[:-10]}{int(record.path[-10:]) + 5:010d}"
        return record.operate(replace(record.write, path=path), raw=True)
