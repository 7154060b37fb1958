"""Every recording of a real cluster reads as two independent decoders read it, and replays without contradiction."""

import gzip
import json
import re
from collections import Counter
from pathlib import Path

from kafkaproof.traces.reading.recording import read_recording
from kafkaproof.traces.zookeeper.log import read_log
from kafkaproof.traces.zookeeper.snapshot import Snapshot, read_snapshot
from kafkaproof.traces.zookeeper.transactions import (
    ERROR_NAMES,
    Check,
    CloseSession,
    Create,
    CreateSession,
    Delete,
    Failure,
    Operation,
    SetData,
    Transaction,
)
from kafkaproof.traces.zookeeper.tree import Tree
from tests.traces.log_writer import write_log


def json_lines(path: Path) -> list[dict]:
    with gzip.open(path, "rt") as lines:
        return [json.loads(line) for line in lines]


def value(data: bytes | None):
    """Return a znode's data as the recordings' JSON files show it: decoded JSON, text, None if there is none."""
    if data is None:
        return None
    try:
        return json.loads(data)
    except ValueError:
        return data.decode()


def shown(operation: Operation) -> dict:
    """Return an operation as an object of txnlog.jsonl."""
    match operation:
        case CreateSession(timeout):
            return {"type": "createSession", "timeout": timeout}
        case CloseSession(None):
            return {"type": "closeSession"}
        case CloseSession(paths):
            return {"type": "closeSession", "paths": list(paths)}
        case Create():
            return {
                "type": "create",
                "path": operation.path,
                "data": value(operation.data),
                "ephemeral": operation.ephemeral,
                "parentCVersion": operation.parent_cversion,
            }
        case Delete(path):
            return {"type": "delete", "path": path}
        case SetData(path, data, version):
            return {"type": "setData", "path": path, "data": value(data), "version": version}
        case Check(path, version):
            return {"type": "check", "path": path, "version": version}
        case Failure(code):
            return {"type": "error", "err": ERROR_NAMES[code]}


def shown_transaction(transaction: Transaction) -> dict:
    operations = [shown(operation) for operation in transaction.operations]
    header = {
        "sid": hex(transaction.session),
        "cxid": transaction.cxid,
        "zxid": hex(transaction.zxid),
        "t": transaction.time,
    }
    return header | ({"type": "multi", "ops": operations} if transaction.multi else operations[0])


def test_transactions_equal_those_of_an_independent_reader(recording_directory):
    log = read_log(recording_directory / "zookeeper" / "version-2" / "log.1")
    assert log.problems == ()
    assert [shown_transaction(transaction) for transaction in log.transactions] == json_lines(
        recording_directory / "txnlog.jsonl.gz"
    )


def test_transactions_equal_those_of_zookeeper_s_own_toolkit(recording_directory):
    text = gzip.decompress((recording_directory / "txnlog.txt.gz").read_bytes()).decode(errors="replace")
    toolkit = re.findall(r"UTC session 0x(\w+) cxid 0x(\w+) zxid 0x(\w+) (\w+)", text)
    ours = [
        (
            f"{transaction.session:x}",
            f"{transaction.cxid & 0xFFFFFFFF:x}",
            f"{transaction.zxid:x}",
            shown_transaction(transaction)["type"],
        )
        for transaction in read_recording(recording_directory).transactions
    ]
    assert ours == toolkit


def test_log_is_written_again_byte_for_byte(recording_directory, tmp_path):
    original = recording_directory / "zookeeper" / "version-2" / "log.1"
    log = read_log(original)
    write_log(tmp_path / "log.1", log.transactions, log.dbid)
    assert (tmp_path / "log.1").read_bytes() == original.read_bytes()


def replayed(directory: Path) -> Tree:
    recording = read_recording(directory)
    assert recording.problems == []
    tree = Tree(recording.start)
    assert [text for transaction in recording.transactions for text in tree.apply(transaction)] == []
    return tree


def as_a_client_sees(tree: Tree) -> dict:
    """Return a tree as tree-final.json shows it; a client's cversion counts deletions of children too."""
    return {
        path: {
            "data": value(node.data or None),
            "czxid": hex(node.czxid),
            "mzxid": hex(node.mzxid),
            "pzxid": hex(node.pzxid),
            "version": node.version,
            "cversion": 2 * node.cversion - len(tree.children.get(path, ())),
        }
        for path, node in tree.nodes.items()
        if not path.startswith("/zookeeper")
    }


def test_replayed_tree_is_the_one_that_was_read_from_zookeeper(recording_directory):
    final = json.loads(gzip.decompress((recording_directory / "tree-final.json.gz").read_bytes()))
    tree = as_a_client_sees(replayed(recording_directory))
    owners = {path: node.pop("ephemeralOwner", None) for path, node in final.items()}
    assert tree == final
    assert not any(owners.values())


def final_snapshot(directory: Path) -> Snapshot | None:
    files = [file for file in (directory / "zookeeper" / "version-2").glob("snapshot.*") if file.name != "snapshot.0"]
    return read_snapshot(files[0]) if files else None


def test_replayed_tree_is_the_final_snapshot(recording_directory):
    tree, final = replayed(recording_directory), final_snapshot(recording_directory)
    if final is None:
        assert recording_directory.parent.name == "1.1.1", "only the recordings of 1.1.1 have no final snapshot"
        return
    assert final.zxid == final.last_processed_zxid == tree.zxid
    assert (tree.nodes, tree.sessions) == (final.nodes, final.sessions)


def test_forms_of_multis_are_those_that_the_recording_tells_of(recording_directory):
    forms = Counter(transaction.form() for transaction in read_recording(recording_directory).transactions)
    told = re.search(r"Form: `(.*)` x(\d+)", (recording_directory / "README.md").read_text())
    if told and told[1].startswith("multi"):
        assert forms[told[1]] == int(told[2])
