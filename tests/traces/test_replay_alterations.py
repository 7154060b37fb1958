"""A real log that is altered, its checksums made right, is caught at the record that was altered."""

import json
from dataclasses import replace

import pytest

from kafkaproof.checker.pictures.history import checked
from kafkaproof.traces.reading.recording import read_recording
from kafkaproof.traces.report.history import history_of
from kafkaproof.traces.zookeeper.transactions import Check, CloseSession, Create, Delete, SetData
from tests.traces.log_writer import write_log
from tests.traces.replaying import FENCED, LEGACY, altered, first, replayed, with_operations

CONTROLLER, EPOCH = "/controller", "/controller_epoch"
DEPOSED = 0x1000012C9B10005
NEVER_CONTROLLER = 0x1A1FC225EC20003


def operation(directory, zxid: int, place: int = 0):
    """An operation of a record as it really is."""
    return first(directory, zxid)[-1].operations[place]


def with_epoch(epoch: bytes):
    """A change of the epoch that a fenced election writes."""
    return lambda t: replace(t, operations=(t.operations[0], replace(t.operations[1], data=epoch)))


def state_of_epoch(directory, zxid: int, place: int, epoch: int):
    """The partition state that a record writes, with another controller epoch in it."""
    write = operation(directory, zxid, place)
    return replace(write, data=json.dumps({**json.loads(write.data), "controller_epoch": epoch}).encode())


def without_controller(transaction):
    """An end of a session that leaves /controller behind."""
    paths = tuple(path for path in transaction.operations[0].paths if path != CONTROLLER)
    return replace(transaction, operations=(CloseSession(paths),))


DROPPED = lambda transaction: None  # noqa: E731

ALTERATIONS = {
    "a second /controller while the first lives": (
        FENCED,
        0x81,
        0x81,
        with_operations(Create(CONTROLLER, b'{"brokerid":2}', True, 14), SetData(EPOCH, b"4", 4)),
        "it exists since 0x80",
    ),
    "an epoch that goes back": (FENCED, 0xA9, 0xA9, with_epoch(b"2"), "controller_epoch 2 (version 4)"),
    "an epoch that skips": (FENCED, 0xA9, 0xA9, with_epoch(b"5"), "broker 2, /controller_epoch 4"),
    "an election that does not raise the epoch": (
        FENCED,
        0xA9,
        0xA9,
        with_operations(Create(CONTROLLER, b'{"brokerid":2}', True, 15)),
        "create /controller",
    ),
    "a write of a deposed controller that succeeds": (
        FENCED,
        0xF8,
        0xF8,
        with_operations(Check(EPOCH, 7), Create("/brokers/topics/x", None, False, 3), multi=True, session=DEPOSED),
        "clean would be answered FENCED in epoch 5",
    ),
    "a state written with an older controller epoch": (
        FENCED,
        0x5B,
        0x5B,
        lambda t: replace(t, operations=(t.operations[0], state_of_epoch(FENCED, 0x5B, 1, 1))),
        "which writes controller epoch 1",
    ),
    "an ephemeral that survives its session": (FENCED, 0x59, 0x59, without_controller, "closeSession lists"),
    "an election that is missing": (FENCED, 0x5A, 0x5B, DROPPED, "it is at version 1"),
    "a creation of a session that is missing": (FENCED, 0x2, 0x3, DROPPED, "is not open"),
    "a write without a check": (
        FENCED,
        0x5B,
        0x5B,
        lambda t: replace(t, operations=t.operations[1:], multi=False),
        "no step of fenced",
    ),
    "an end of a session that is missing": (FENCED, 0xA8, 0xA9, DROPPED, "it exists since 0x80"),
    "plain: a second /controller": (
        LEGACY,
        0x81,
        0x81,
        with_operations(Create(CONTROLLER, b'{"brokerid":2}', True, 11), session=NEVER_CONTROLLER),
        "it exists since 0x80",
    ),
    "plain: an epoch that goes back": (
        LEGACY,
        0x9A,
        0x9A,
        with_operations(SetData(EPOCH, b"0", 1)),
        "/controller_epoch 0",
    ),
    "plain: an epoch that skips": (LEGACY, 0x9A, 0x9A, with_operations(SetData(EPOCH, b"3", 1)), "controller_epoch 3"),
    "plain: an epoch raised by a broker that did not stand": (
        LEGACY,
        0x9A,
        0x9A,
        lambda t: replace(t, session=NEVER_CONTROLLER),
        "raise_epoch is not enabled",
    ),
    "plain: a controller's write of a broker that never was one": (
        LEGACY,
        0x51,
        0x51,
        lambda t: replace(t, session=NEVER_CONTROLLER),
        "clean is not enabled",
    ),
    "plain: an epoch write that is missing": (LEGACY, 0x9A, 0xD0, DROPPED, "clean is not enabled"),
    "plain: a deletion of /controller that is missing": (LEGACY, 0x60, 0x80, DROPPED, "it exists since 0x36"),
    "plain: /controller deleted by a broker that never stood": (
        LEGACY,
        0x60,
        0x60,
        lambda t: replace(t, session=NEVER_CONTROLLER),
        "delete_any_controller is not enabled",
    ),
    "a deletion of /controller by a broker without a check": (
        FENCED,
        0xF6,
        0xF6,
        lambda t: replace(t, session=DEPOSED),
        "fenced has no such step",
    ),
    "an epoch that is deleted": (LEGACY, 0x60, 0x60, with_operations(Delete(EPOCH)), "has no such step"),
}


@pytest.mark.parametrize("name", ALTERATIONS)
def test_is_caught(name):
    directory, zxid, caught, change, text = ALTERATIONS[name]
    result = replayed(altered(first(directory, 0x130), zxid, change), "legacy" if directory == LEGACY else "fenced")
    assert result.divergence is not None
    assert (hex(result.divergence[0]), text in result.divergence[1]) == (hex(caught), True), result.divergence


def test_a_leader_that_writes_an_epoch_not_yet_written_violates_c9():
    def change(transaction):
        return replace(transaction, operations=(state_of_epoch(LEGACY, 0xA1, 0, 9),))

    result = replayed(altered(first(LEGACY, 0xA1), 0xA1, change))
    assert result.divergence is None
    assert {name: hex(v.zxid) for name, v in result.violations.found.items()} == {"C4": "0x9b", "C9": "0xa1"}
    del result.violations.found["C4"]
    last = checked(history_of(result, "here"))["steps"][-1]
    assert (last["zxid"], last["violates"]) == ("0xa1", ["C9"])
    assert "No step of the specification makes it" in last["words"]


def test_is_caught_in_a_file_too(tmp_path):
    directory, zxid, caught, change, _ = ALTERATIONS["an epoch that skips"]
    write_log(tmp_path / "log.1", altered(first(directory, 0x130), zxid, change).transactions)
    assert replayed(read_recording(tmp_path)).divergence[0] == caught


def test_the_wrong_variant_diverges():
    assert replayed(altered(first(FENCED, 0x130), 0, DROPPED), "legacy").divergence[0] == 0x2B
    assert replayed(altered(first(LEGACY, 0x130), 0, DROPPED), "fenced").divergence[0] == 0x36
