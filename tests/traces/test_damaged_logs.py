"""`kafkaproof replay` of logs that are torn, damaged, incomplete or doubled: what is told, and what is judged all the same."""

from dataclasses import replace

import pytest

from kafkaproof.checker.commands.main import OK, WRONG_USE, main
from kafkaproof.traces.zookeeper.transactions import CloseSession, SetData
from kafkaproof.traces.zookeeper.tree import Tree
from tests.traces.log_writer import record, write_in, write_log, write_snapshot
from tests.traces.replaying import FENCED, altered, first, read, run_json
from tests.traces.test_replay_alterations import ALTERATIONS
from tests.traces.test_replay_command import BEGINNING


def test_a_torn_last_record_is_told_and_no_failure(capsys, tmp_path):
    write_in(tmp_path, first(FENCED, BEGINNING))
    log = tmp_path / "log.1"
    log.write_bytes(log.read_bytes()[:-7])
    code, found = run_json(capsys, tmp_path)
    assert (code, found["verdict"], found["records"]) == (0, "conforms", BEGINNING - 1)
    assert "torn last record" in found["problems"][0]


def test_a_damaged_record_is_bad_input_and_what_was_before_is_kept(capsys, tmp_path):
    transactions = first(FENCED, BEGINNING)
    write_in(tmp_path, transactions)
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
        write_in(tmp_path / folder / "version-2", first(FENCED, BEGINNING))
    code, found = run_json(capsys, tmp_path)
    assert (code, found["records"]) == (0, BEGINNING)
    assert "160 records that occur more than once" in found["problems"][0]


def test_a_gap_that_hides_nothing_leaves_it_undecided(capsys, tmp_path):
    write_in(tmp_path, [t for t in first(FENCED, BEGINNING) if t.zxid != 0x20])
    code, found = run_json(capsys, tmp_path)
    assert (code, found["verdict"]) == (3, "undecided")
    assert "gap: records 0x20 to 0x20 are missing" in found["problems"][0]


def test_a_record_that_a_missing_one_may_explain_leaves_it_undecided(capsys, tmp_path):
    write_in(tmp_path, [t for t in first(FENCED, BEGINNING) if t.zxid != 0x5A])
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
    write_in(tmp_path, log)
    code, found = run_json(capsys, tmp_path)
    assert (code, found["verdict"], found["first_divergence"]["zxid"]) == (1, "diverges", hex(log[place].zxid))


def state_set(transaction):
    """Whether a record that succeeded sets a state."""
    write = transaction.operations[-1]
    return not transaction.failed and isinstance(write, SetData) and write.path.endswith("/state")


def test_what_comes_before_a_missing_record_diverges(capsys, tmp_path):
    directory, zxid, caught, change, _ = ALTERATIONS["an epoch that skips"]
    log = altered(first(directory, 0x130), zxid, change).transactions
    write_in(tmp_path, [t for t in log if t.zxid != caught + 20])
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
    write_in(tmp_path, read(FENCED).transactions)
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
        write_in(tmp_path, log[first_zxid - 1 : last])
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
    write_in(tmp_path, first(FENCED, BEGINNING)[0x50:])
    code, found = run_json(capsys, tmp_path)
    assert (code, found["verdict"]) == (3, "undecided")
    assert "no snapshot can be read" in found["problems"][0]
