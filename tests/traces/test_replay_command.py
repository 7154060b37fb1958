"""`kafkaproof replay`: exit codes, JSON, expectations, histories, other ids and a chroot."""

import json
from dataclasses import replace

import pytest

from kafkaproof.checker.commands.main import main
from kafkaproof.checker.pictures import render_beside, to_text
from kafkaproof.traces.reading.recording import Recording
from kafkaproof.traces.report.history import history_of
from kafkaproof.traces.zookeeper.snapshot import Snapshot, Znode
from kafkaproof.traces.zookeeper.transactions import CloseSession, CreateSession, Failure, Transaction
from tests.traces.log_writer import write_in
from tests.traces.replaying import BUNDLED, FENCED, LEGACY, first, read, replayed, run_json, whole

BEGINNING = 0xA0


@pytest.fixture
def split_brain(tmp_path):
    """A directory with the first records of 1.1.1-zombie, up to the fifth stale write."""
    write_in(tmp_path, first(LEGACY, BEGINNING))
    return tmp_path


def test_json_of_a_conforming_log(capsys):
    code, found = run_json(capsys, FENCED)
    assert code == 0
    assert (found["format"], found["variant"], found["verdict"]) == (1, "fenced", "conforms")
    assert (found["first_divergence"], found["violations"], found["problems"]) == (None, [], [])
    assert found["records"] == 471 == found["explained"] + sum(found["skipped"].values())
    assert len(found["controllers"]) == 8
    assert found["controllers"][4] == {
        "epoch": 5,
        "broker": 3,
        "zxid": "0xac",
        "session": "0x1000012c9b10005",
        "epoch_zxid": "0xac",
        "ended": {"how": "deleted by an operator", "zxid": "0xf6"},
    }


def test_a_log_without_an_election_asks_for_a_variant_by_its_releases(capsys, tmp_path):
    write_in(tmp_path, first(LEGACY, 0x35))
    assert main(["replay", str(tmp_path)]) == 2
    complaint = " ".join(capsys.readouterr().err.split())
    assert "say --release R or --variant V" in complaint and "legacy (1.1 to 2.0), fenced (2.1 to 3.9)" in complaint


def test_each_range_of_releases_is_told(capsys):
    _, found = run_json(capsys, FENCED)
    assert [(each["first"], each["last"], each["explains"]) for each in found["releases"]] == [
        ("0.9", "1.0", False),
        ("1.1", "2.0", False),
        ("2.1", "2.3", False),
        ("3.4", "3.9", True),
    ]
    assert all(each["excluded"] for each in found["releases"][:3])
    assert main(["replay", str(FENCED)]) == 0
    assert "Kafka 3.4 to 3.9 (fenced): explains the log" in capsys.readouterr().out


def test_where_no_releases_explain_a_log_it_is_held_to_those_that_go_furthest(capsys, tmp_path):
    stranger = replace(read(LEGACY).transactions[0x50], session=1)
    write_in(tmp_path, [*first(LEGACY, 0x50), stranger])
    code, found = run_json(capsys, tmp_path)
    divergences = {each["variant"]: each["first_divergence"] for each in found["releases"]}
    assert (code, found["variant"]) == (1, "legacy")
    assert found["first_divergence"]["zxid"] == divergences["legacy"] == hex(stranger.zxid)
    assert int(divergences["fenced"], 16) < stranger.zxid


def test_a_log_is_held_to_the_release_that_is_named(capsys):
    for release, code in (("3.9.1", 0), ("2.8", 0), ("2.3", 1), ("1.1.1", 1), ("0.10.2", 1)):
        assert run_json(capsys, FENCED, "--release", release)[0] == code, release
    for release in ("1.1", "2.0.1"):
        assert run_json(capsys, LEGACY, "--release", release, "--expect", "C4")[0] == 0
    for release in ("0.9", "2.2", "3.9.1"):
        code, found = run_json(capsys, LEGACY, "--release", release, "--expect", "C4")
        assert (code, found["verdict"], found["releases"]) == (1, "diverges", [])


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (("--release", "4.0"), "--release 4.0: replay has 0.9 to 3.9, such as 2.8 or 2.8.2"),
        (("--release", "2.8", "--variant", "fenced"), "give one of them"),
    ],
)
def test_a_release_that_is_none_is_refused(capsys, options, complaint):
    for directory in (FENCED, "nowhere"):
        assert main(["replay", str(directory), "--json", *options]) == 2
        assert complaint in " ".join(capsys.readouterr().err.split())


def test_a_running_cluster_s_recording_has_no_release(capsys):
    assert main(["replay", str(BUNDLED / "run-fenced-failover"), "--release", "3.9"]) == 2
    assert "--release: for the log of a ZooKeeper only" in " ".join(capsys.readouterr().err.split())


def test_a_violation_is_a_failure_unless_it_is_expected(capsys, split_brain):
    code, found = run_json(capsys, split_brain)
    assert (code, found["verdict"]) == (1, "conforms")
    (violation,) = found["violations"]
    assert (violation["property"], violation["zxid"], violation["count"]) == ("C4", "0x9b", 5)
    assert "later election" in violation["text"] and violation["leader_changes"] == 0
    assert run_json(capsys, split_brain, "--expect", "C4")[0] == 0
    assert run_json(capsys, split_brain, "--expect", "C2")[0] == 1
    assert run_json(capsys, split_brain, "--expect", "C2", "--expect", "C4")[0] == 0
    assert main(["replay", str(split_brain), "--expect", "C44"]) == 2
    assert "--expect C44: replay evaluates C1, C2, C4" in capsys.readouterr().err


def test_the_wrong_variant_diverges(capsys, split_brain):
    code, found = run_json(capsys, split_brain, "--variant", "fenced")
    assert (code, found["verdict"]) == (1, "diverges")
    assert found["first_divergence"]["zxid"] == "0x36"
    assert "fenced has no such step" in found["first_divergence"]["reason"]


def test_the_report_for_people(capsys, split_brain, monkeypatch):
    monkeypatch.chdir("/")
    assert main(["replay", str(split_brain)]) == 1
    text = capsys.readouterr().out
    assert "conforms to legacy" in text and "violates C4 first at 0x9b: 5 records" in text
    assert "deleted by an operator at 0x60" in text and "still controller" in text


def test_no_election_and_no_cluster_are_told(capsys, tmp_path):
    write_in(tmp_path, first(FENCED, 0x20))
    assert main(["replay", str(tmp_path)]) == 2
    assert "say --release R or --variant V" in capsys.readouterr().err
    write_in(tmp_path, [Transaction(1, 5, 0, 0, (CreateSession(3000),))])
    assert main(["replay", str(tmp_path)]) == 2
    assert "no Kafka cluster in this log" in capsys.readouterr().err


def test_a_log_that_diverges_is_told_with_the_command_that_explores_it(capsys, tmp_path):
    def lie(transaction):
        return replace(transaction, operations=(CloseSession(()),)) if transaction.zxid == 0xA0 else transaction

    write_in(tmp_path, [*map(lie, first(FENCED, 0xC8))])
    assert main(["replay", str(tmp_path)]) == 1
    assert capsys.readouterr().out.endswith(f"and why this was not: kafkaproof explore {tmp_path}\n")


def test_the_history_can_be_shown_beside_another(capsys, split_brain, tmp_path):
    file = tmp_path / "history.json"
    assert main(["replay", str(split_brain), "--history", str(file)]) == 1
    history = json.loads(file.read_text())
    last = history["steps"][-1]
    assert (last["zxid"], last["violates"]) == ("0x9b to 0x9f", ["C4"])
    assert last["text"] == "legacy.clean(b=1) -> OK, 5 times"
    assert last["state"]["controller"] == "broker 3" and last["state"]["controller_epoch"] == 2
    assert last["state"]["broker_1"]["role"] == "controller of epoch 1"
    assert history["lanes"] == ["zookeeper", "operator", "broker 1", "broker 2", "broker 3"]
    assert "C4" in render_beside(history, history) and "0x60" in to_text(history)
    assert main(["show", str(file), "--beside", str(file), "--output", str(tmp_path / "both.html")]) == 0


def test_the_history_of_a_divergence_ends_with_the_record():
    result = replayed(read(LEGACY), "fenced")
    history = history_of(result, "here")
    assert history["property"]["name"] == "conformance" and history["steps"][-1]["zxid"] == "0x36"
    assert len(history["steps"]) <= 60
    assert history_of(whole(FENCED), "here") is None


def renamed(data: bytes | None) -> bytes | None:
    """The data of a znode of a cluster whose brokers are called 1001 to 1003."""
    if not data or not data.startswith(b"{"):
        return data
    found = json.loads(data)
    for name in ("brokerid", "leader"):
        if found.get(name, -1) > 0:
            found[name] += 1000
    if "isr" in found:
        found["isr"] = [broker + 1000 for broker in found["isr"]]
    return json.dumps(found).encode()


def elsewhere(transaction: Transaction, root: str) -> Transaction:
    """A record of the same cluster with other broker ids, below a chroot."""

    def path_of(path: str) -> str:
        return root + path.replace("/brokers/ids/", "/brokers/ids/100")

    operations = []
    for operation in transaction.operations:
        if isinstance(operation, CloseSession) and operation.paths:
            operation = CloseSession(tuple(path_of(path) for path in operation.paths))
        if hasattr(operation, "path"):
            operation = replace(operation, path=path_of(operation.path))
        if hasattr(operation, "data"):
            operation = replace(operation, data=renamed(operation.data))
        operations.append(operation)
    return replace(transaction, operations=tuple(operations))


@pytest.mark.parametrize("directory", [LEGACY, FENCED], ids=["legacy", "fenced"])
def test_other_broker_ids_and_a_chroot(directory):
    transactions = [elsewhere(t, "/kafka") for t in first(directory, 0xA8)]
    start = Snapshot(0, 0, {}, {"/": Znode(b""), "/kafka": Znode(b"")})
    result = replayed(Recording(directory, start, transactions, []))
    assert result.divergence is None
    assert {controller.broker for controller in result.controllers.all} <= {1001, 1002, 1003}
    assert result.explained == replayed(Recording(directory, None, first(directory, 0xA8), [])).explained


def test_the_bundled_logs_are_those_of_the_recordings(recording_directory):
    for bundled in (LEGACY, FENCED):
        if bundled.name == "-".join(recording_directory.parts[-2:]):
            log = recording_directory / "zookeeper" / "version-2" / "log.1"
            assert (bundled / "version-2" / "log.1").read_bytes() == log.read_bytes()


def test_a_tool_may_send_a_multi_without_operations(capsys, tmp_path):
    """ZooKeeper logs it, as kazoo's ``client.transaction().commit()`` shows."""
    known = first(FENCED, BEGINNING)
    zxid, time = known[-1].zxid, known[-1].time
    write_in(
        tmp_path,
        [
            *known,
            Transaction(zxid + 1, 7, 0, time, (CreateSession(6000),)),
            Transaction(zxid + 2, 7, 1, time, (), multi=True),
        ],
    )
    code, found = run_json(capsys, tmp_path)
    assert (code, found["verdict"], found["records"]) == (0, "conforms", BEGINNING + 2)
    assert (
        found["skipped"]["tools: other znodes"]
        == replayed(Recording(tmp_path, None, known, [])).skipped.get("tools: other znodes", 0) + 1
    )


def test_a_multi_without_operations_of_a_broker_is_none_of_kafkas(capsys, tmp_path):
    known = first(FENCED, BEGINNING)
    broker = next(t for t in reversed(known) if t.multi)
    write_in(tmp_path, [*known, Transaction(known[-1].zxid + 1, broker.session, 1, known[-1].time, (), multi=True)])
    code, found = run_json(capsys, tmp_path)
    assert (code, found["first_divergence"]["zxid"]) == (1, hex(known[-1].zxid + 1))


def test_a_registration_whose_answer_was_lost_is_asked_for_again(capsys, tmp_path):
    """KafkaZkClient takes NODEEXISTS for success where the znode is of its own session, as that of a controller here."""
    known = first(FENCED, 0x60)
    elected = next(t for t in reversed(known) if t.multi and t.first.path == "/controller")
    write_in(
        tmp_path,
        [
            *known,
            Transaction(
                known[-1].zxid + 1, elected.session, 900, known[-1].time, (Failure(-110), Failure(-2)), multi=True
            ),
        ],
    )
    code, found = run_json(capsys, tmp_path)
    assert (code, found["verdict"], found["first_divergence"]) == (0, "conforms", None)
