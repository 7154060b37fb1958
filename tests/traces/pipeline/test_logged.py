"""Records that are kept in files of events are a sequence, in the order of the log, whatever files they are in."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkaproof.traces.reading.recording import read_recording
from kafkaproof.traces.reading.records import Part, runs_of
from kafkaproof.traces.zookeeper.transactions import Failure, LogError, Transaction
from tests.traces.log_writer import write_in, write_log


def record(zxid: int, code: int = -101) -> Transaction:
    return Transaction(zxid, 1, 0, zxid, (Failure(code),))


@given(st.lists(st.tuples(st.integers(1, 12), st.integers(1, 12)), min_size=1, max_size=4), st.data())
def test_files_of_servers_that_overlap_are_one_sequence(tmp_path_factory, ranges, data):
    """Each server has a file from one zxid to another; what several have is there once, and a slice is a slice."""
    directory = tmp_path_factory.mktemp("ensemble")
    for number, (first, last) in enumerate(ranges):
        written = [record(zxid) for zxid in range(min(first, last), max(first, last) + 1)]
        (directory / str(number) / "version-2").mkdir(parents=True)
        write_in(directory / str(number) / "version-2", written)
    zxids = {zxid for one, other in ranges for zxid in range(min(one, other), max(one, other) + 1)}
    found = read_recording(directory)
    whole = [each for part in found.parts for each in part.transactions]
    assert whole == [record(zxid) for zxid in sorted(zxids)]
    assert [zxid for part in found.parts for zxid in part.zxids] == sorted(zxids)
    place = data.draw(st.integers(-len(found.transactions), len(found.transactions) - 1))
    assert found.transactions[place] == list(found.transactions)[place]
    assert found.transactions[place:] == list(found.transactions)[place:]
    twice = sum(max(one, other) - min(one, other) + 1 for one, other in ranges) - len(zxids)
    those = "1 record that occurs" if twice == 1 else f"{twice} records that occur"
    told = [line for line in found.problems if "more than once" in line]
    assert told == ([f"{directory}: {those} more than once, the same each time, dropped"] * bool(twice))


@given(st.sets(st.integers(-3, 12), min_size=1), st.integers(-4, 13), st.integers(-4, 13))
def test_zxids_are_known_by_their_runs(zxids, first, last):
    part = Part(Path(), runs_of(np.array(sorted(zxids))), None)
    assert part.zxids().tolist() == sorted(zxids)
    within = [zxid for zxid in sorted(zxids) if first <= zxid <= last]
    cut = part.between(first, last)
    assert len(cut.runs) == len([zxid for zxid in within if zxid - 1 not in within])
    if within:
        assert cut.zxids().tolist() == within and (cut.first, cut.last) == (within[0], within[-1])


def test_servers_that_differ_are_an_error_and_what_is_before_is_kept(tmp_path):
    for name, changed in (("a", 0), ("b", 0), ("c", 7)):
        (tmp_path / name / "version-2").mkdir(parents=True)
        log = [record(zxid, -110 if zxid == changed else -101) for zxid in range(1, 10)]
        write_log(tmp_path / name / "version-2" / "log.1", log)
    with pytest.raises(
        LogError, match=r"c/version-2/log.1: its record 0x7 .error nodeexists. differs from another .* .error nonode"
    ) as raised:
        read_recording(tmp_path)
    assert [each.zxid for each in raised.value.transactions] == list(range(1, 10))


@pytest.mark.parametrize("zxids", [(2, 1, 3, 3), (1, 2, 3, 3), (3, 2, 1, 1)])
def test_records_of_a_file_may_be_in_any_order(tmp_path, zxids):
    write_log(tmp_path / "log.1", map(record, zxids))
    found = read_recording(tmp_path)
    assert list(found.transactions) == [record(zxid) for zxid in (1, 2, 3)]
    assert found.problems == [f"{tmp_path}: 1 record that occurs more than once, the same each time, dropped"]
