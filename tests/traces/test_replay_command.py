"""`kafkaproof replay`: exit codes, JSON, expectations, histories, damaged logs, other ids and a chroot."""

import json
from dataclasses import replace

import pytest

from kafkaproof.checker.commands.main import OK, WRONG_USE, main
from kafkaproof.checker.pictures import render_beside, to_text
from kafkaproof.traces.reading.recording import Recording
from kafkaproof.traces.report.history import history_of
from kafkaproof.traces.zookeeper.snapshot import Snapshot, Znode
from kafkaproof.traces.zookeeper.transactions import CloseSession, CreateSession, Failure, SetData, Transaction
from kafkaproof.traces.zookeeper.tree import Tree
from tests.traces.log_writer import record, write_log, write_snapshot
from tests.traces.replaying import BUNDLED, FENCED, LEGACY, altered, first, read, replayed, run_json, whole
from tests.traces.test_replay_alterations import ALTERATIONS

BEGINNING = 0xA0


def write(directory, transactions) -> None:
    """Write a log with these transactions, as ZooKeeper names it."""
    write_log(directory / f"log.{transactions[0].zxid:x}", transactions)


@pytest.fixture
def split_brain(tmp_path):
    """A directory with the first records of 1.1.1-zombie, up to the fifth stale write."""
    write(tmp_path, first(LEGACY, BEGINNING))
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
    write(tmp_path, first(LEGACY, 0x35))
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
    write(tmp_path, [*first(LEGACY, 0x50), stranger])
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


def test_a_torn_last_record_is_told_and_no_failure(capsys, tmp_path):
    write(tmp_path, first(FENCED, BEGINNING))
    log = tmp_path / "log.1"
    log.write_bytes(log.read_bytes()[:-7])
    code, found = run_json(capsys, tmp_path)
    assert (code, found["verdict"], found["records"]) == (0, "conforms", BEGINNING - 1)
    assert "torn last record" in found["problems"][0]


def test_a_damaged_record_is_bad_input_and_what_was_before_is_kept(capsys, tmp_path):
    transactions = first(FENCED, BEGINNING)
    write(tmp_path, transactions)
    log = tmp_path / "log.1"
    content = bytearray(log.read_bytes())
    content[-len(record(transactions[-1])) - 5] ^= 1
    log.write_bytes(content)
    code, found = run_json(capsys, tmp_path)
    assert (code, found["verdict"], found["records"]) == (2, "bad-input", BEGINNING - 2)
    assert "wrong checksum" in found["problems"][0] and "0x9e" in found["problems"][0]
    assert len(found["controllers"]) == 3 and found["explained"] > 0
    assert main(["replay", str(tmp_path)]) == 2 and capsys.readouterr().out.count("wrong checksum") == 1


def test_duplicated_records_are_told_and_harmless(capsys, tmp_path):
    for folder in ("a", "b"):
        (tmp_path / folder / "version-2").mkdir(parents=True)
        write(tmp_path / folder / "version-2", first(FENCED, BEGINNING))
    code, found = run_json(capsys, tmp_path)
    assert (code, found["records"]) == (0, BEGINNING)
    assert "160 records that occur more than once" in found["problems"][0]


def test_a_gap_that_hides_nothing_leaves_it_undecided(capsys, tmp_path):
    write(tmp_path, [t for t in first(FENCED, BEGINNING) if t.zxid != 0x20])
    code, found = run_json(capsys, tmp_path)
    assert (code, found["verdict"]) == (3, "undecided")
    assert "gap: records 0x20 to 0x20 are missing" in found["problems"][0]


def test_a_record_that_a_missing_one_may_explain_leaves_it_undecided(capsys, tmp_path):
    write(tmp_path, [t for t in first(FENCED, BEGINNING) if t.zxid != 0x5A])
    code, found = run_json(capsys, tmp_path)
    assert (code, found["verdict"], found["first_divergence"]) == (3, "undecided", None)
    assert found["reason"].startswith("0x5b: records 0x5a to 0x5a are missing before it, and nothing else explains it")
    assert not any(each["explains"] for each in found["releases"])
    assert main(["replay", str(tmp_path)]) == 3
    assert "(fenced): undecided" in capsys.readouterr().out


def test_what_no_missing_record_can_explain_diverges(capsys, tmp_path):
    log = [t for t in first(FENCED, BEGINNING) if t.zxid != 0x5A]
    place = next(n for n, t in enumerate(log) if t.zxid > 0x5A and state_set(t))
    wrong = replace(log[place].operations[-1], data=b"no state")
    log[place] = replace(log[place], operations=(*log[place].operations[:-1], wrong))
    write(tmp_path, log)
    code, found = run_json(capsys, tmp_path)
    assert (code, found["verdict"], found["first_divergence"]["zxid"]) == (1, "diverges", hex(log[place].zxid))


def state_set(transaction):
    """Whether a record that succeeded sets a state."""
    write = transaction.operations[-1]
    return not transaction.failed and isinstance(write, SetData) and write.path.endswith("/state")


def test_what_comes_before_a_missing_record_diverges(capsys, tmp_path):
    directory, zxid, caught, change, _ = ALTERATIONS["an epoch that skips"]
    log = altered(first(directory, 0x130), zxid, change).transactions
    write(tmp_path, [t for t in log if t.zxid != caught + 20])
    code, found = run_json(capsys, tmp_path)
    assert (code, found["verdict"], found["first_divergence"]["zxid"]) == (1, "diverges", hex(caught))


CUTS = {
    "in a record": (lambda log: log[: len(log) // 2], OK, "torn last record at byte"),
    "in a record, with zeros": (
        lambda log: log[: len(log) // 2] + bytes(len(log) // 2),
        OK,
        "torn last record at byte",
    ),
    "zeros within": (lambda log: log[:20_000] + bytes(5_000) + log[25_000:], WRONG_USE, "wrong checksum"),
    "bytes left out": (lambda log: log[:20_000] + log[25_000:], WRONG_USE, "wrong checksum"),
}


@pytest.mark.parametrize("cut", CUTS)
def test_a_file_that_is_cut_is_told(capsys, tmp_path, cut):
    change, expected, told = CUTS[cut]
    write(tmp_path, read(FENCED).transactions)
    (tmp_path / "log.1").write_bytes(change((tmp_path / "log.1").read_bytes()))
    code, found = run_json(capsys, tmp_path)
    assert (code, len(found["problems"])) == (expected, 1) and told in found["problems"][0]
    main(["replay", str(tmp_path)])
    text = capsys.readouterr().out
    assert told in text
    assert expected != OK or f"conforms to fenced up to {found['records']:#x}, where it is torn: each" in text


@pytest.fixture
def without_a_file(tmp_path):
    """A directory where the file with records 0x55 to 0x7e is missing, and that of 0xc9 to 0xdb; snapshots are there."""
    tree, log = Tree(), read(FENCED).transactions
    for first_zxid, last in ((1, 0x54), (0x7F, 0xC8), (0xDC, 0x1D7)):
        write_log(tmp_path / f"log.{first_zxid:x}", log[first_zxid - 1 : last])
    for transaction in log:
        tree.apply(transaction)
        if transaction.zxid in (0x7E, 0xE0):
            write_snapshot(tmp_path, tree)
    return tmp_path


def test_replay_goes_on_after_a_missing_file_from_a_snapshot(capsys, without_a_file):
    code, found = run_json(capsys, without_a_file)
    assert (code, found["verdict"], found["reason"]) == (3, "undecided", "records are missing; all others fit")
    assert [part["records"] for part in (*found["earlier"], found)] == [0x54, 0xC8 - 0x7E, 0x1D7 - 0xE0]
    assert found["problems"][-1].endswith("5 records left out, which are not after the oldest snapshot, 0xe0")
    assert [line.split(": ", 1)[1].split(" are missing")[0] for line in found["problems"] if "gap" in line] == [
        "gap: records 0x55 to 0x7e",
        "gap: records 0xc9 to 0xdb",
    ]
    assert main(["replay", str(without_a_file)]) == 3
    text = capsys.readouterr().out
    assert text.count("conforms to fenced") == 1 and text.count("problem: ") == 3


def test_what_diverges_before_a_missing_file_counts(capsys, without_a_file):
    def lie(transaction):
        return replace(transaction, operations=(CloseSession(()),)) if transaction.zxid == 0xA0 else transaction

    write_log(without_a_file / "log.7f", map(lie, read(FENCED).transactions[0x7E:0xC8]))
    code, found = run_json(capsys, without_a_file)
    assert (code, found["verdict"]) == (1, "diverges")
    assert found["first_divergence"] == found["earlier"][1]["first_divergence"] is not None
    history = without_a_file / "h.json"
    assert main(["replay", str(without_a_file), "--history", str(history)]) == 1 and history.exists()


@pytest.mark.parametrize("content, text", [(None, "no log.* file here"), (b"", "empty file")])
def test_nothing_to_read_is_bad_input(capsys, tmp_path, content, text):
    if content is not None:
        (tmp_path / "log.1").write_bytes(content)
    code, found = run_json(capsys, tmp_path)
    assert (code, found["verdict"], found["records"]) == (2, "bad-input", 0)
    assert text in found["problems"][0]
    assert main(["replay", str(tmp_path)]) == 2
    assert text in capsys.readouterr().err


def test_a_log_without_its_beginning_is_undecided(capsys, tmp_path):
    write(tmp_path, first(FENCED, BEGINNING)[0x50:])
    code, found = run_json(capsys, tmp_path)
    assert (code, found["verdict"]) == (3, "undecided")
    assert "no snapshot can be read" in found["problems"][0]


def test_no_election_and_no_cluster_are_told(capsys, tmp_path):
    write(tmp_path, first(FENCED, 0x20))
    assert main(["replay", str(tmp_path)]) == 2
    assert "say --release R or --variant V" in capsys.readouterr().err
    write(tmp_path, [Transaction(1, 5, 0, 0, (CreateSession(3000),))])
    assert main(["replay", str(tmp_path)]) == 2
    assert "no Kafka cluster in this log" in capsys.readouterr().err


def test_a_log_that_diverges_is_told_with_the_command_that_explores_it(capsys, tmp_path):
    def lie(transaction):
        return replace(transaction, operations=(CloseSession(()),)) if transaction.zxid == 0xA0 else transaction

    write(tmp_path, [*map(lie, first(FENCED, 0xC8))])
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
    write(
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
    write(tmp_path, [*known, Transaction(known[-1].zxid + 1, broker.session, 1, known[-1].time, (), multi=True)])
    code, found = run_json(capsys, tmp_path)
    assert (code, found["first_divergence"]["zxid"]) == (1, hex(known[-1].zxid + 1))


def test_a_registration_whose_answer_was_lost_is_asked_for_again(capsys, tmp_path):
    """KafkaZkClient takes NODEEXISTS for success where the znode is of its own session, as that of a controller here."""
    known = first(FENCED, 0x60)
    elected = next(t for t in reversed(known) if t.multi and t.first.path == "/controller")
    write(
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
