"""The tree contradicts what ZooKeeper cannot have done, and replays over a snapshot taken while it changed."""

import random
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafkaproof.traces.reading.recording import read_recording
from kafkaproof.traces.zookeeper.snapshot import Snapshot, Znode
from kafkaproof.traces.zookeeper.transactions import (
    Check,
    CloseSession,
    Create,
    CreateSession,
    Delete,
    Failure,
    Reconfig,
    SetAcl,
    SetData,
    Transaction,
)
from kafkaproof.traces.zookeeper.tree import Tree, parent_path

SESSION = 0x8100000000000001
OTHER = 0x100000000000002


def replay(*steps, session: int = SESSION) -> tuple[Tree, list[str]]:
    """Apply one transaction for each step, an operation or a tuple of them (a multi), from zxid 1."""
    tree, texts = Tree(), []
    for zxid, step in enumerate(steps, 1):
        operations = step if isinstance(step, tuple) else (step,)
        transaction = Transaction(zxid, session, zxid, 1000 + zxid, operations, isinstance(step, tuple))
        texts += tree.apply(transaction)
    return tree, texts


OPEN = CreateSession(3000)
A = Create("/a", b"0", False, 1)
E = Create("/e", b"0", True, 1)


def test_create_set_and_delete():
    tree, texts = replay(A, Create("/a/b", None, False, 1), SetData("/a", b"1", 1), SetAcl("/a", 1), Delete("/a/b"))
    node = tree.nodes["/a"]
    assert texts == [] and tree.zxid == 5 and tree.children["/"] == {"/a", "/zookeeper"} and "/a" not in tree.children
    assert (node.data, node.version, node.cversion, node.aversion) == (b"1", 1, 1, 1)
    assert (node.czxid, node.mzxid, node.pzxid, node.ctime, node.mtime) == (1, 3, 5, 1001, 1003)


@pytest.mark.parametrize(
    "steps, text",
    [
        ((A, SetData("/a", b"", 2)), "setData /a to version 2, but it is at version 0"),
        ((SetData("/a", b"", 1),), "setData /a, but it does not exist"),
        (((A, SetData("/a", b"", 0)),), "setData /a to version 0, but it is at version 0"),
        ((A, Create("/a", b"", False, 2)), "create /a, but it exists since 0x1"),
        ((A, Create("/b", b"", False, 3)), "create /b with parent cversion 3, but it is 1"),
        ((Create("/a/b", b"", False, 1),), "create /a/b, but its parent does not exist"),
        ((E,), "create ephemeral /e, but the session is not open"),
        ((OPEN, E, Create("/e/f", b"", False, 1)), "create /e/f, but its parent is ephemeral"),
        ((Delete("/a"),), "delete /a, but it does not exist"),
        ((A, Create("/a/b", b"", False, 1), Delete("/a")), "delete /a, but it has children"),
        (((Check("/a", 1),),), "check /a succeeded, but it does not exist"),
        ((A, (Check("/a", 2),)), "check /a succeeded at version 1, but it is at version 0"),
        ((SetAcl("/a", 1),), "setACL /a, but it does not exist"),
        ((A, SetAcl("/a", 2)), "setACL /a to version 2, but it is at version 0"),
        ((OPEN, E, CloseSession(())), "closeSession lists [], but the session's ephemerals are ['/e']"),
        ((OPEN, OPEN), "createSession, but it is open"),
        ((CreateSession(0),), "createSession with a timeout of 0 ms"),
        ((Failure(5),), "error 5, and codes of errors are negative"),
        ((OPEN, CloseSession(("/e",))), "closeSession lists ['/e'], but the session's ephemerals are []"),
    ],
)
def test_contradictions(steps, text):
    tree, texts = replay(*steps)
    assert texts == [f"zxid {len(steps):#x}, session {SESSION:#x}: {text}"]


@pytest.mark.parametrize("paths", [None, ("/e",)], ids=["before-3.6", "since-3.6"])
def test_close_session_removes_its_ephemerals_only(paths):
    tree, texts = replay(OPEN, E, Create("/p", b"", False, 2))
    tree.apply(Transaction(4, OTHER, 0, 0, (OPEN,)))
    tree.apply(Transaction(5, OTHER, 0, 0, (Create("/f", b"", True, 3),)))
    texts += tree.apply(Transaction(6, SESSION, 0, 0, (CloseSession(paths),)))
    assert texts == []
    assert tree.children["/"] == {"/zookeeper", "/p", "/f"}
    assert tree.sessions == {OTHER: 3000} and tree.ephemerals == {OTHER: {"/f"}}
    assert tree.nodes["/"].pzxid == 6


def test_a_failed_transaction_changes_nothing():
    tree, texts = replay(A, (Create("/b", b"", False, 2), Failure(-110), Failure(-2)), Failure(-101))
    assert texts == [] and "/b" not in tree.nodes and tree.zxid == 3


def test_containers_ttl_nodes_and_reconfig():
    tree, texts = replay(
        Create("/c", b"", False, 1, "container"),
        Create("/t", b"", False, 2, "ttl", (), 5000),
        Create("/c/d", b"", False, 1, "create2"),
        Delete("/c/d"),
        Delete("/c", container=True),
        Create("/t/d", b"", False, 1),
        Create("/zookeeper/config", b"", False, 1),
        Reconfig("/zookeeper/config", b"new", -1),
    )
    assert texts == [] and "/c" not in tree.nodes
    assert tree.nodes["/t"].ephemeral_owner == 0xFF00000000000000 | 5000
    assert tree.nodes["/zookeeper/config"].data == b"new"


def test_a_transaction_that_is_contained_does_nothing():
    tree, _ = replay(A, SetData("/a", b"1", 1))
    nodes = dict(tree.nodes)
    assert tree.apply(Transaction(2, SESSION, 0, 0, (SetData("/a", b"2", 7),))) == ()
    assert tree.nodes == nodes


class Moment:
    """A copy of a tree at one zxid."""

    def __init__(self, tree: Tree):
        self.nodes, self.sessions = dict(tree.nodes), dict(tree.sessions)
        self.children = {path: sorted(children) for path, children in tree.children.items()}


def fuzzy_snapshot(moments: list[Moment], begin: int, end: int, choice: random.Random) -> Snapshot:
    """Return what a server writes that walks the tree from zxid `begin` on while transactions go on to `end`."""
    nodes, now = {}, begin
    waiting = ["/"]
    while waiting:
        now = min(end, now + choice.choice((0, 0, 0, 1, 2, 5)))
        path = waiting.pop()
        if path in moments[now].nodes:
            nodes[path] = moments[now].nodes[path]
            waiting += moments[now].children.get(path, ())[::-1]
    return Snapshot(begin, end, moments[begin].sessions, nodes)


@cache
def history(directory: Path) -> tuple[list[Transaction], list[Moment]]:
    """Return the first 700 transactions of a recording, and the tree before the first and after each."""
    recording = read_recording(directory)
    tree = Tree(recording.start)
    moments = [Moment(tree)]
    for transaction in recording.transactions[:700]:
        tree.apply(transaction)
        moments.append(Moment(tree))
    return recording.transactions[:700], moments


def comparable(nodes: dict[str, Znode], directory: Path) -> dict[str, Znode]:
    """Return the nodes, for 1.1.1 without pzxid: its closeSession does not tell which parents lost a child."""
    if directory.parent.name != "1.1.1":
        return nodes
    return {path: node._replace(pzxid=0) for path, node in nodes.items()}


@settings(max_examples=25)
@given(st.integers(0, 10**6), st.integers(0, 200), st.integers())
def test_replay_over_a_fuzzy_snapshot_ends_in_the_same_tree(recording_directory, begin, length, seed):
    transactions, moments = history(recording_directory)
    begin %= len(moments)
    end = min(len(moments) - 1, begin + length)
    tree = Tree(fuzzy_snapshot(moments, begin, end, random.Random(seed)))
    for transaction in transactions:
        assert tree.apply(transaction) == ()
        if transaction.zxid in (end, len(transactions)):
            moment = moments[transaction.zxid]
            assert (comparable(tree.nodes, recording_directory), tree.sessions) == (
                comparable(moment.nodes, recording_directory),
                moment.sessions,
            )


def test_parent_path():
    assert [parent_path(path) for path in ("/", "/a", "/a/b")] == ["/", "/", "/a"]
