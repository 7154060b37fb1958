"""A full disk is told in one line, and what is complete is kept."""

import errno
import os
import subprocess

import numpy as np
import pytest

from kafkaproof.checker.basics.errors import UserError
from kafkaproof.checker.compile.packing import MARK
from kafkaproof.checker.runs import files
from kafkaproof.checker.runs.table import Table
from tests.checker.arguments import counts, kept, replication, resumed

KIP320, COUNTS = ("kip320", 3, 1, 1, 1), (6787, 16348, 18, "holds")
LARGE, LARGE_COUNTS = ("kip320", 3, 2, 2, 2), (737_794, 1_967_560, 26, "holds")


@pytest.fixture
def tiny(tmp_path):
    """A file system of twelve megabytes; skips where none can be mounted."""
    place = tmp_path / "tiny"
    place.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=12m", "tmpfs", place], capture_output=True)
    if mounted.returncode:
        pytest.skip("mounting a file system is not allowed here")
    yield place
    subprocess.run(["umount", "--lazy", place], check=True)


@pytest.mark.parametrize(("where", "name"), [(files.pq, "write_table"), (files.Files, "_put")])
def test_in_the_driver_it_is_told_and_the_run_is_resumed_when_there_is_room(kafkaproof, monkeypatch, where, name):
    write, written = getattr(where, name), []

    def write_nine(*arguments, **options):
        if len(written) == 9:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        written.append(arguments)
        return write(*arguments, **options)

    monkeypatch.setattr(where, name, write_nine)
    answer = kafkaproof(*replication(*KIP320), *kept("run"))
    assert "the disk is full; make room, then resume the run" in answer.complaint
    monkeypatch.setattr(where, name, write)
    assert counts(kafkaproof(*resumed("run")).result) == COUNTS


def test_on_spark_it_is_told_and_the_run_is_resumed_when_there_is_room(kafkaproof, tiny):
    answer = kafkaproof(*replication(*LARGE), *kept(tiny / "run"))
    lines = answer.err.strip().splitlines()
    assert answer.code == 2 and "the disk is full; make room, then resume the run" in lines[-1]
    subprocess.run(["mount", "-o", "remount,size=200m", tiny], check=True)
    assert counts(kafkaproof(*resumed(tiny / "run")).result) == LARGE_COUNTS


def test_at_the_very_start_it_is_told(kafkaproof, tiny):
    (tiny / "ballast").write_bytes(bytes(12 << 20))
    answer = kafkaproof(*replication(*KIP320), *kept(tiny / "run"))
    assert "the disk is full" in answer.complaint


def test_a_table_that_finds_no_room_says_so_and_keeps_what_it_has(tiny):
    table = Table(1, tiny / "table")
    rows = (np.arange(1 << 20, dtype=np.uint64) + MARK)[:, None]
    with pytest.raises(UserError, match="No space left"):
        table.insert(rows)
    again = Table(1, tiny / "table")
    assert again.states == table.states > 0
