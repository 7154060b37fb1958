"""A log in a file answers as the specification's log does, and a new process finds what the last one left whole."""

import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkaproof.impl.protocol.batches import check, split
from kafkaproof.impl.seams.storage.checkpoint import NAME, Checkpoint
from kafkaproof.impl.seams.storage.log import FileLog, LogFailed
from kafkaproof.impl.seams.zookeeper.partition_numbers import Places
from kafkaproof.spec.language.plain import new_state
from kafkaproof.spec.protocol.batches import CorruptBatch, read_header
from kafkaproof.spec.replica import storage
from kafkaproof.spec.replication.replication import append, truncate
from tests.impl import batches

LONGEST, EPOCHS = 12, 4


def batch(value=b"v", count=1):
    """A record batch, as a producer sends it."""
    return batches.batch(*[value] * count)


def add(log, value, epoch, count=1):
    """Append a batch; its id."""
    log.incoming = batch(value, count)
    id = read_header(log.incoming).crc
    log.append(id, epoch)
    return id


def questions(log, ask):
    """All that the specification asks of a log: `ask` is one of its functions with the log as the first argument."""
    yield ask("last_epoch", log)
    for epoch in range(-1, EPOCHS + 1):
        for name in ("end_of_epoch", "has_epoch", "known_epoch", "start_of_epoch"):
            yield name, epoch, ask(name, log, epoch)


@given(st.lists(st.one_of(st.integers(0, 2), st.tuples(st.integers(0, LONGEST))), max_size=LONGEST))
def test_it_answers_as_the_specifications_log(tmp_path_factory, acts):
    log, model, epoch = FileLog(tmp_path_factory.mktemp("log")), new_state(storage.LOG, {"log": LONGEST}), 0
    for number, act in enumerate(acts):
        if isinstance(act, int):
            epoch = min(epoch + act, EPOCHS)
            append(model, add(log, b"%d" % number, epoch), epoch)
        elif act[0] < log.length:
            truncate(model, act[0])
            log.truncate(act[0])
            epoch = max(epoch, 0)
        assert [(e.id, e.epoch) for e in log.slots] == [(e.id, e.epoch) for e in model.slots[: model.length]]
        asked = list(questions(model, lambda name, *arguments: getattr(storage, name)(*arguments)))
        assert asked == list(questions(log, lambda name, log, *rest: getattr(log, name)(*rest)))
    found = FileLog(log.path.parent)
    assert (found.slots, found.chain, found.dropped) == (log.slots, log.chain, 0)


def test_offsets_are_kafkas(tmp_path):
    log = FileLog(tmp_path)
    for number, count in enumerate((3, 1, 2)):
        add(log, b"%d" % number, 0, count)
    assert [log.offset_of(place) for place in range(4)] == [0, 3, 4, 6] and log.end_offset == 6
    assert [log.place_of(offset) for offset in range(8)] == [0, 0, 0, 1, 2, 2, 3, 3]
    stored = log.read(2)
    assert (check(stored).base_offset, check(stored).epoch, check(stored).count) == (4, 0, 2)


@pytest.mark.parametrize("left", (1, 11, 12, 60, -1))
def test_a_torn_batch_is_cut_off(tmp_path, left):
    log = FileLog(tmp_path)
    add(log, b"whole", 0)
    log.fail_after = left if left > 0 else len(batch(b"torn")) - 1
    with pytest.raises(LogFailed, match="injected"):
        add(log, b"torn", 1)
    assert log.length == 1
    log.close()
    found = FileLog(tmp_path)
    assert (found.length, found.dropped) == (1, log.fail_after)
    add(found, b"next", 2)
    assert [e.epoch for e in FileLog(tmp_path).slots] == [0, 2]


def test_a_batch_that_has_changed_on_disk_ends_the_log(tmp_path):
    log = FileLog(tmp_path)
    for number in range(3):
        add(log, b"%d" % number, 0)
    data = bytearray(log.path.read_bytes())
    data[log.slots[1].position + 65] ^= 1
    log.path.write_bytes(data)
    assert FileLog(tmp_path).length == 1


def test_a_full_disk_is_a_failure_and_changes_nothing(tmp_path, monkeypatch):
    log = FileLog(tmp_path)
    add(log, b"0", 0)
    monkeypatch.setattr(os, "pwrite", lambda *_: 10)
    with pytest.raises(LogFailed, match="disk full"):
        add(log, b"1", 0)
    assert log.length == 1


def test_changes_are_told_before_they_are_made(tmp_path):
    log, sizes = FileLog(tmp_path), []
    log.before_write = lambda: sizes.append(log.path.stat().st_size)
    add(log, b"0", 0)
    add(log, b"1", 0)
    log.truncate(1)
    assert sizes == [0, log.slots[0].size, 2 * log.slots[0].size]


def test_batches_are_split_and_what_is_none_is_refused():
    one, other = batch(b"1"), batch(b"2", 5)
    assert split(one + other) == [one, other] and split(b"") == []
    for data in (one[:-1], one[:20], b"\0" * 61, one + b"\0" * 7, one[:16] + b"\1" + one[17:], one[:-1] + b"?"):
        with pytest.raises(CorruptBatch):
            split(data)


def test_checkpoints_are_kafkas_and_a_broken_one_says_nothing(tmp_path):
    log = FileLog(tmp_path / "t-0")
    for number in range(4):
        add(log, b"%d" % number, 0, 2)
    Checkpoint(tmp_path, Places("t", size=2)).write({0: 6, 1: 0})
    assert (tmp_path / NAME).read_text() == "0\n2\nt 0 6\nt 1 0\n"
    assert Checkpoint(tmp_path, Places("t", size=2)).place_in(log, 0) == 3
    assert Checkpoint(tmp_path, Places("other")).place_in(log, 0) == 0
    (tmp_path / NAME).write_text("0\n1\nt 0 x\n")
    assert Checkpoint(tmp_path, Places("t", size=2)).place_in(log, 0) == 0


def test_a_directory_that_cannot_be_made_is_a_log_that_fails(tmp_path):
    (tmp_path / "file").write_text("")
    log = FileLog(tmp_path / "file" / "events-0")
    log.incoming = batch(b"a", 1)
    with pytest.raises(LogFailed, match="Not a directory|File exists"):
        log.append(read_header(log.incoming).crc, 0)
    assert log.length == 0
