"""Changes of states that are alike are explained at once: what is found is what is found of each alone."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkaproof.traces.basics.columns import distinct
from kafkaproof.traces.evidence import assignments as assigned
from kafkaproof.traces.evidence.kept_writes import Pieces
from kafkaproof.traces.evidence.state_changes import Change, Changes
from kafkaproof.traces.evidence.writes import Write
from kafkaproof.traces.explain.facts import expectations
from kafkaproof.traces.explain.partitions import controller_changes as controlled
from kafkaproof.traces.explain.partitions import leader_changes as leaders
from kafkaproof.traces.explain.topics.plain_changes import PlainChanges
from kafkaproof.traces.reading.recording import read_recording
from kafkaproof.traces.zookeeper.znodes.contents import state_in
from kafkaproof.traces.zookeeper.znodes.topics import place_of
from tests.traces.replaying import FIVE_LEGACY, REASSIGN, Told, all_of, read, told
from tests.traces.test_long_log import written

RECORDINGS = pytest.mark.parametrize("directory", [FIVE_LEGACY, REASSIGN], ids=lambda directory: directory.name)
MEMBERS = SimpleNamespace(broker_of={7: 1, 8: 2})
STATE = b'{"controller_epoch":1,"leader":%d,"version":1,"leader_epoch":%d,"isr":[%d]}'


def assert_same(found: Told, other: Told) -> None:
    """Two replays tell the same of streams."""
    for name in ("overlapping", "ways", "gaps", "deletions", "reassignments", "made", "kinds", "partitions", "writes"):
        assert getattr(found.streams, name) == getattr(other.streams, name), name
    assert found.facts.as_json() == other.facts.as_json() and found.result.told == other.result.told


def alone(monkeypatch) -> None:
    """From now on nothing is alike."""
    for module in (assigned, controlled, leaders, expectations):
        monkeypatch.setattr(module, "distinct", lambda *columns: (np.arange(len(columns[0])),) * 2)


@RECORDINGS
def test_what_is_alike_has_the_same_explanations(monkeypatch, directory):
    alone(monkeypatch)
    assert_same(all_of(directory), told(read(directory)))


def test_what_is_alike_in_a_long_log_has_the_same_explanations(monkeypatch, tmp_path):
    recording = read_recording(written(tmp_path))
    found = told(recording)
    alone(monkeypatch)
    assert_same(found, told(recording))


@RECORDINGS
def test_what_is_passed_by_would_be_judged_the_same(monkeypatch, directory):
    monkeypatch.setattr(PlainChanges, "pass_by", lambda *arguments: 0)
    assert_same(all_of(directory), told(read(directory)))


def columns_to(most: int) -> st.SearchStrategy:
    return st.lists(st.lists(st.integers(0, most), min_size=6, max_size=6), min_size=1, max_size=4)


@given(columns_to(1 << 40) | columns_to(2))
def test_rows_are_told_apart_by_all_columns(columns):
    first, codes = distinct(*map(np.array, columns))
    rows = list(zip(*columns))
    assert [rows[place] for place in first[codes]] == rows and len(first) == len(set(rows))
    assert all(rows.index(rows[place]) == place for place in first)


WRITES = st.tuples(
    st.sampled_from("ab"),
    st.integers(0, 1),
    st.sampled_from(["create", "set", "set", "delete"]),
    st.integers(7, 9),
    st.booleans(),
    st.none() | st.just(b"{}") | st.builds(lambda *of: STATE % of, *[st.integers(-1, 1 << 70)] * 3),
)


@given(st.lists(WRITES, max_size=20), st.dictionaries(st.sampled_from("ab"), st.just(STATE % (1, 0, 1))))
def test_changes_are_those_of_one_write_after_the_other(rows, nodes):
    paths = {topic: f"/brokers/topics/{topic}/partitions/0/state" for topic in nodes}
    known = {(topic, 0): (5, state_in(data)) for topic, data in nodes.items()}
    writes, expected = [], []
    for zxid, (topic, number, form, session, checked, data) in enumerate(rows, 10):
        path = f"/brokers/topics/{topic}/partitions/{number}/state"
        data, place, broker = None if form == "delete" else data, place_of(path), MEMBERS.broker_of.get(session)
        writes.append(Write(zxid, 2 * zxid, session, broker, form, path, place, data, checked, 0, zxid))
        if form == "delete":
            known.pop((topic, number), None)
            continue
        since, before = known.get((topic, number), (0, None))
        after = state_in(data)
        expected.append(Change(zxid, 2 * zxid, (topic, number), since, before, after, session, broker, checked))
        known[topic, number] = zxid, after
    znodes = {paths[topic]: SimpleNamespace(data=data, mzxid=5) for topic, data in nodes.items()}
    found = Changes(znodes, Pieces([], writes).read(MEMBERS))
    assert list(found) == expected == [found[row] for row in range(len(found))]
    assert [found[row] for topic in "ab" for row in found.of((topic, 0))] == [
        each for topic in "ab" for each in expected if each.partition == (topic, 0)
    ]
