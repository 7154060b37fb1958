"""Replay ends before a migration to KRaft, and before a znode of a format that no known Kafka writes, and says so."""

from dataclasses import replace
from pathlib import Path

import pytest

from kafkaproof.checker.commands.main import main
from kafkaproof.traces.reading.end import end_at
from kafkaproof.traces.reading.survey import survey_of
from kafkaproof.traces.report.page.summary import lines
from kafkaproof.traces.zookeeper.log import read_log
from kafkaproof.traces.zookeeper.transactions import Check, Create, Failure, SetData, Transaction
from kafkaproof.traces.zookeeper.tree import Tree
from tests.traces.log_writer import payload, write_log, write_snapshot
from tests.traces.replaying import FENCED, first, read, run_json
from tests.traces.test_following import Growing, watch
from tests.traces.zookeeper.test_usual_records import written

AT = 0x98
"""A place in the log without a failover under way."""
STATE = "/brokers/topics/t/partitions/0/state"
NEWEST = {
    "/controller": 2,
    "/brokers/ids/1": 5,
    "/brokers/topics/t": 3,
    STATE: 1,
    "/admin/reassign_partitions": 1,
    "/admin/preferred_replica_election": 1,
    "/isr_change_notification/isr_change_0000000007": 1,
    "/log_dir_event_notification/log_dir_event_0000000000": 1,
    "/config/topics/t": 1,
    "/config/brokers/<default>": 1,
    "/config/changes/config_change_0000000000": 2,
    "/cluster/id": 1,
    "/latest_producer_id_block": 1,
    "/feature": 2,
}


def with_record(*operations, at: int = AT, multi: bool = False) -> list[Transaction]:
    """The bundled log of 3.9.1 with another record at a zxid, and what came there and later one zxid later."""
    whole = read(FENCED).transactions
    before, after = whole[: at - 1], whole[at - 1 :]
    made = Transaction(at, 0x77, 1, after[0].time, operations, multi)
    return [*before, made, *(replace(each, zxid=each.zxid + 1) for each in after)]


def migrated() -> list[Transaction]:
    return with_record(Create("/migration", b'{"version":0,"kraft_controller_id":3000}', False, -1))


@pytest.mark.parametrize("path, newest", NEWEST.items())
@pytest.mark.parametrize("root", ["", "/kafka"])
def test_each_kind_of_znode_has_a_newest_format(path, newest, root):
    data = '{"version":%s,"partitions":{}}'
    assert end_at(7, root + path, (data % newest).encode()) is None
    found, end = end_at(7, root + path, (data % (newest + 1)).encode())
    assert (found, end.zxid, end.migrated) == (root, 7, False)
    assert f"{root}{path} at 0x7 is of format {newest + 1}, and {newest} is the newest that is known" in end.text


@pytest.mark.parametrize("data", [None, b"", b"17", b"{", b"[9]", b'{"version":"x"}', b'{"version":null}'])
def test_what_names_no_format_ends_nothing(data):
    assert end_at(7, "/controller", data) is None


@pytest.mark.parametrize("root", ["", "/kafka"])
def test_the_first_record_beyond_ends_a_cluster_also_among_records_in_columns(tmp_path, root):
    usual = b'{"controller_epoch":1,"leader":1,"version":%d,"leader_epoch":0,"isr":[1]}'
    formats = {3: 1, 4: 2, 5: 3}
    written_as = ((zxid, SetData(root + STATE, usual % version, zxid)) for zxid, version in formats.items())
    log = [Transaction(zxid, 5, 0, 0, (Check("/controller_epoch", 2), state), True) for zxid, state in written_as]
    found = read_log(written(tmp_path / "log.3", list(map(payload, log)))).transactions
    assert len(found.sets) == 3
    for survey in survey_of(found), survey_of(log):
        assert [(name, end.zxid) for name, end in survey.ends.items()] == [(root, 4)]


def test_a_migration_that_was_refused_is_none():
    create = Create("/migration", b"{}", False, -1)
    assert survey_of(with_record(create)).ends[""].migrated
    assert survey_of(with_record(create, Failure(-101), multi=True)).ends == {}


def test_a_log_is_replayed_until_its_migration(capsys, tmp_path):
    write_log(tmp_path / "log.1", migrated())
    code, found = run_json(capsys, tmp_path)
    assert (code, found["verdict"], found["records"], found["end"]["zxid"]) == (0, "conforms", AT - 1, hex(AT))
    assert found["problems"] == [f"{tmp_path}: {found['end']['reason']}"]
    assert found["controllers"] == run_json(capsys, beginning(tmp_path / "beginning"))[1]["controllers"]
    page = tmp_path / "report.html"
    assert main(["replay", str(tmp_path), "--html", str(page)]) == 0
    told = capsys.readouterr().out.replace("\n", " ")
    assert f"problem: {tmp_path}: migrated to KRaft: /migration is there at {AT:#x}" in told
    assert f"conforms to fenced until {AT:#x}: each record" in told
    assert f"conforms to fenced until {AT:#x}" in page.read_text()
    assert next(lines(watch(tmp_path).report)).text == found["end"]["reason"]


def beginning(directory: Path) -> Path:
    """A directory with the records before AT alone."""
    directory.mkdir()
    write_log(directory / "log.1", first(FENCED, AT - 1))
    return directory


def test_a_log_of_no_known_kafka_is_followed_until_its_first_strange_record(capsys, tmp_path):
    write_log(tmp_path / "log.1", with_record(SetData("/brokers/ids/1", b'{"version":6,"endpoints":[]}', 2)))
    code, found = run_json(capsys, tmp_path)
    line = f"{tmp_path}: no Kafka up to 3.9 writes this: /brokers/ids/1 at {AT:#x} is of format 6, and 5 is the newest"
    assert (code, found["verdict"], found["records"]) == (2, "bad-input", AT - 1)
    assert found["reason"].startswith(line) and found["problems"] == [found["reason"]]
    assert found["controllers"] == run_json(capsys, beginning(tmp_path / "beginning"))[1]["controllers"]


def test_a_log_that_is_beyond_before_its_first_election_says_why(capsys, tmp_path):
    later = with_record(SetData("/brokers/ids/1", b'{"version":6,"endpoints":[]}', 2), at=0x2A)
    write_log(tmp_path / "log.1", later)
    assert main(["replay", str(tmp_path)]) == 2
    assert "no Kafka up to 3.9 writes this: /brokers/ids/1 at 0x2a is of format 6" in capsys.readouterr().err


@pytest.mark.parametrize(
    "path, data, said",
    [
        ("/migration", b"{}", "migrated to KRaft: /migration is there at"),
        ("/brokers/topics/t", b'{"version":4}', "no Kafka up to 3.9 writes this"),
    ],
)
def test_a_log_that_begins_beyond_is_one_line(capsys, tmp_path, path, data, said):
    tree = Tree(None)
    for transaction in with_record(Create(path, data, False, -1))[:AT]:
        tree.apply(transaction)
    write_snapshot(tmp_path, tree)
    write_log(tmp_path / f"log.{AT + 1:x}", migrated()[AT:])
    assert main(["replay", str(tmp_path)]) == 2
    told = capsys.readouterr()
    assert said in told.err and told.err.count("\n") == 1 and not told.out


def test_a_watch_is_over_at_a_migration(tmp_path):
    log, all_records = Growing(tmp_path), migrated()
    log.append(all_records[:0x60])
    watched = watch(tmp_path)
    log.append(all_records[0x60:])
    said = watched.round()
    assert watched.over and said[-1].endswith("replay ends before it") and f"{AT:#x} migrated to KRaft" in said[-1]
    assert watch(tmp_path).over
