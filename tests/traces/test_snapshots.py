"""Snapshots are held to the log: a fuzzy one agrees, and one that ZooKeeper cannot have written diverges."""

from dataclasses import replace
from functools import cache
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafkaproof.traces.integrity.later_snapshots import Snapshots
from kafkaproof.traces.reading.recording import read_recording
from kafkaproof.traces.reading.sweep import sweep
from kafkaproof.traces.zookeeper.snapshot import Znode
from kafkaproof.traces.zookeeper.tree import Tree
from tests.traces.log_writer import write_log, write_snapshot
from tests.traces.replaying import FENCED, FIVE_LEGACY, read, run_json

RECORDS = 0x120


@cache
def moments(directory: Path = FENCED) -> list[tuple[dict[str, Znode], dict[int, int]]]:
    """The znodes and sessions behind each of the first records, by zxid."""
    tree, found = Tree(), [({}, {})]
    for transaction in read(directory).transactions[:RECORDS]:
        tree.apply(transaction)
        found.append((dict(tree.nodes), dict(tree.sessions)))
    return found


@pytest.fixture(scope="module")
def logs(tmp_path_factory):
    """A directory with the first records of a recording, without snapshots."""

    def directory(source: Path) -> Path:
        place = tmp_path_factory.mktemp(source.name)
        write_log(place / "log.1", [replace(t, trailer=b"") for t in read(source).transactions[:RECORDS]])
        return place

    return cache(directory)


def hold(directory: Path, zxid: int, nodes: dict[str, Znode], sessions: dict[int, int]) -> list:
    """The contradictions when there is one snapshot of these znodes."""
    for old in directory.glob("snapshot.*"):
        old.unlink()
    write_snapshot(directory, SimpleNamespace(zxid=zxid, nodes=nodes, sessions=sessions))
    recording = read_recording(directory)
    found = Snapshots(recording)
    sweep(recording, "", found)
    assert found.problems == []
    return found.contradictions


def fuzzy(draw, zxid: int, source: Path) -> dict[str, Znode]:
    """The znodes as a snapshot may hold them that begins behind a record: each as it was at a moment from then on."""
    last = min(zxid + draw(st.integers(0, 30)), RECORDS)
    known = moments(source)
    paths = sorted(set().union(*(known[moment][0] for moment in range(zxid, last + 1))) - {"/"})
    places = draw(st.lists(st.integers(zxid, last), min_size=len(paths), max_size=len(paths)))
    found = {path: known[place][0].get(path) for path, place in zip(paths, places)}
    return {"/": known[zxid][0]["/"]} | {path: node for path, node in found.items() if node}


@settings(max_examples=30)
@given(st.data(), st.integers(2, RECORDS - 1), st.sampled_from([FENCED, FIVE_LEGACY]))
def test_no_snapshot_that_may_be_taken_while_records_are_written_contradicts_them(logs, data, zxid, source):
    assert hold(logs(source), zxid, fuzzy(data.draw, zxid, source), moments(source)[zxid][1]) == []


CHANGES = {
    "holds something else": lambda node: node._replace(data=b"x"),
    "is at version": lambda node: node._replace(version=node.version + 1),
    "is created by record": lambda node: node._replace(czxid=node.czxid - 1),
}


@settings(max_examples=30)
@given(
    st.data(), st.integers(0x40, RECORDS - 1), st.sampled_from(sorted(CHANGES)), st.sampled_from([FENCED, FIVE_LEGACY])
)
def test_a_znode_that_was_not_written_meanwhile_is_as_the_log_leaves_it(logs, data, zxid, text, source):
    nodes = dict(fuzzy(data.draw, zxid, source))
    settled = sorted(path for path, node in nodes.items() if 0 < node.mzxid <= zxid and path != "/")
    path = data.draw(st.sampled_from(settled))
    nodes[path] = CHANGES[text](nodes[path])
    found = hold(logs(source), zxid, nodes, moments(source)[zxid][1])
    assert [each.zxid for each in found] == [zxid]
    assert f"{path} {text}" in found[0].text


def test_a_contradiction_is_told_at_the_snapshot_also_where_the_next_record_sets_a_state(logs):
    paths = [(t.zxid, getattr(t.operations[0], "path", "")) for t in read(FIVE_LEGACY).transactions]
    zxid = next(
        zxid
        for (zxid, path), (_, after) in pairwise(paths)
        if path == "/admin/reassign_partitions" and after.endswith("/state")
    )
    nodes = dict(moments(FIVE_LEGACY)[zxid][0])
    nodes["/controller_epoch"] = nodes["/controller_epoch"]._replace(data=b"17")
    assert [each.zxid for each in hold(logs(FIVE_LEGACY), zxid, nodes, moments(FIVE_LEGACY)[zxid][1])] == [zxid]


@settings(max_examples=20)
@given(st.data(), st.integers(0x40, RECORDS - 1))
def test_a_znode_that_is_missing_is_deleted_later(logs, data, zxid):
    nodes = dict(moments()[zxid][0])
    path = data.draw(st.sampled_from(sorted(nodes.keys() - {"/", "/zookeeper", "/zookeeper/quota"})))
    ever_after = all(path in moments()[later][0] for later in range(zxid, RECORDS + 1))
    del nodes[path]
    found = hold(logs(FENCED), zxid, nodes, {})
    assert (len(found) == 1 and f"{path} is missing" in found[0].text) if ever_after else found == []


def test_a_znode_that_never_was_is_told(logs):
    nodes = moments()[0x50][0] | {"/brokers/ids/9": Znode(b"{}", czxid=7, mzxid=7)}
    (found,) = hold(logs(FENCED), 0x50, nodes, {})
    assert found.zxid == 0x50 and "/brokers/ids/9 is there, and by the log it is not" in found.text


def test_what_was_written_meanwhile_is_what_its_record_writes(logs):
    zxid = next(
        z
        for z in range(0x60, RECORDS)
        for path, node in moments()[z + 1][0].items()
        if node.mzxid == z + 1 and path.endswith("/state")
    )
    path, node = next((p, n) for p, n in moments()[zxid + 1][0].items() if n.mzxid == zxid + 1)
    assert hold(logs(FENCED), zxid, moments()[zxid][0] | {path: node}, {}) == []
    for wrong in (node._replace(data=b"x"), node._replace(version=node.version + 1)):
        (found,) = hold(logs(FENCED), zxid, moments()[zxid][0] | {path: wrong}, {})
        assert found.zxid == zxid + 1 and f"{path} is not what this record writes" in found.text


def test_replay_diverges_at_the_record_of_the_snapshot_also_with_pseudonyms(capsys, logs):
    nodes = dict(moments()[0x98][0])
    nodes["/controller_epoch"] = nodes["/controller_epoch"]._replace(data=b"17")
    hold(logs(FENCED), 0x98, nodes, moments()[0x98][1])
    for options in ((), ("--redact",)):
        code, report = run_json(capsys, logs(FENCED), *options)
        assert (code, report["first_divergence"]["zxid"]) == (1, "0x98")
        assert "snapshot.98 and the log contradict each other" in report["first_divergence"]["reason"]


def test_a_snapshot_ahead_of_the_log_leaves_it_undecided(capsys, logs):
    hold(logs(FENCED), RECORDS + 5, *moments()[RECORDS])
    code, report = run_json(capsys, logs(FENCED))
    assert (code, report["verdict"]) == (3, "undecided")
    assert report["problems"] == [
        f"{logs(FENCED)}: a snapshot is ahead of the log, which ends at {RECORDS:#x}: records "
        f"{RECORDS + 1:#x} to {RECORDS + 5:#x} are missing; take them from another server of the ensemble"
    ]


def test_a_snapshot_of_a_new_epoch_without_a_record_is_not_ahead(capsys, logs):
    hold(logs(FENCED), 1 << 32, *moments()[RECORDS])
    assert run_json(capsys, logs(FENCED))[0] == 0


def test_a_damaged_snapshot_is_told(capsys, logs):
    hold(logs(FENCED), 0x50, *moments()[0x50])
    (logs(FENCED) / "snapshot.50").write_bytes(b"ZKSN")
    code, report = run_json(capsys, logs(FENCED))
    assert code == 0 and len(report["problems"]) == 1 and "snapshot.50: byte" in report["problems"][0]
