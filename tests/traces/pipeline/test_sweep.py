"""A sweep tells its listeners of each record once: of one that only sets a partition's state, that it is one."""

from pathlib import Path

import pytest

from traces.pipeline.sweep import Listener, sweep
from traces.recording import Recording
from traces.zookeeper.snapshot import Snapshot, Znode
from traces.zookeeper.transactions import Check, Create, Delete, Failure, SetData, Transaction

STATE, EPOCH = "/brokers/topics/t/partitions/4/state", "/controller_epoch"
SET, OLD = SetData(STATE, b"new", 1), b"old"


class Told(Listener):
    """Notes what it is told of."""

    def __init__(self):
        self.heard = []

    def before(self, transaction):
        self.heard.append("before")

    def after(self, transaction, contradictions):
        self.heard.append("after")

    def state_written(self, write, contradictions):
        self.heard.append((*write[1:], contradictions))


def told_of(root: str, *operations) -> list:
    """What a listener hears of one record."""
    nodes = {path: Znode(OLD) for path in ("/", root + STATE, root + EPOCH)}
    record = Transaction(2, 7, 0, 0, operations, len(operations) > 1)
    listener = Told()
    sweep(Recording(Path("log"), Snapshot(1, 1, {}, nodes), [record], []), root, listener)
    return listener.heard


@pytest.mark.parametrize("root", ["", "/kafka"])
@pytest.mark.parametrize("checked", [False, True])
def test_a_record_that_only_sets_a_state_is_told_as_that(root, checked):
    write = SetData(root + STATE, b"new", 1)
    [heard] = told_of(root, *[Check(root + EPOCH, 1)] * checked, write)
    assert (heard[0], heard[2:]) == (STATE, (("t", 4), b"new", OLD, checked, ()))
    assert heard[1].kind == "state"


@pytest.mark.parametrize("operations", [
    (), (SET, SET), (Check(STATE, 1), SET), (Check(EPOCH, 1), Delete(STATE)), (Check(EPOCH, 1), Failure(-103)),
    (Failure(-103), SET), (Check(EPOCH, 1), SET, SET), (SetData(EPOCH, b"new", 1),), (Create(STATE, b"", False, 1),),
    (SetData(f"/elsewhere{STATE}", b"new", 1),),
])
def test_every_other_record_is_told_before_and_after(operations):
    assert told_of("", *operations) == ["before", "after"]


def test_a_multi_of_one_operation_is_not_what_it_would_be_alone():
    nodes = {path: Znode(OLD) for path in ("/", STATE)}
    listener = Told()
    sweep(Recording(Path("log"), Snapshot(1, 1, {}, nodes), [Transaction(2, 7, 0, 0, (SET,), True)], []), "", listener)
    assert listener.heard == ["before", "after"]


def test_a_contradiction_is_told_with_the_record():
    [heard] = told_of("", SetData(STATE, b"new", 3))
    assert heard[-1] == (f"zxid 0x2, session 0x7: setData {STATE} to version 3, but it is at version 0",)
