"""Controllers in ZooKeeper mode are followed until a quorum rules, or a znode has a format that no known Kafka writes."""

from dataclasses import replace
from pathlib import Path

import pytest

from kafkaproof.checker.commands.main import main
from kafkaproof.traces.reading.end import end_at
from kafkaproof.traces.reading.survey import survey_of
from kafkaproof.traces.report.page.summary import lines
from kafkaproof.traces.zookeeper.log import read_log
from kafkaproof.traces.zookeeper.transactions import Check, Create, CreateSession, Delete, Failure, SetData, Transaction
from kafkaproof.traces.zookeeper.tree import Tree
from kafkaproof.traces.zookeeper.znodes.foreign_writes import declared_at
from tests.traces.log_writer import payload, write_in, write_log, write_snapshot
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


CLAIMED = b'{"version":2,"brokerid":3000,"timestamp":"1","kraftControllerEpoch":4}'
"""What /controller holds when a quorum rules."""


def claim(root: str = "") -> tuple:
    """How a quorum's controller claims the rule."""
    return (
        SetData(f"{root}/controller_epoch", b"9", 9),
        Delete(f"{root}/controller"),
        Create(f"{root}/controller", CLAIMED, False, -1),
    )


def migrated() -> list[Transaction]:
    """The bundled log up to a zxid where a quorum claims the rule."""
    tree = Tree(None)
    for transaction in (before := with_record(*claim(), multi=True)[: AT - 1]):
        tree.apply(transaction)
    raised = tree.nodes["/controller_epoch"]
    epoch = SetData("/controller_epoch", str(int(raised.data) + 1).encode(), raised.version + 1)
    operations = (epoch, *claim()[1:])
    return [*before, Transaction(AT, 0x77, 1, before[-1].time, operations, True)]


def ends(path: str, data: bytes | None):
    """What a znode shows to end."""
    return end_at(7, path, data, declared_at(path, data))


@pytest.mark.parametrize("path, newest", NEWEST.items())
@pytest.mark.parametrize("root", ["", "/kafka"])
def test_each_kind_of_znode_has_a_newest_format(path, newest, root):
    data = '{"version":%s,"partitions":{}}'
    assert ends(root + path, (data % newest).encode()) is None
    found, end = ends(root + path, (data % (newest + 1)).encode())
    assert (found, end.zxid, end.migrated) == (root, 7, False)
    assert f"{root}{path} at 0x7 is of format {newest + 1}, and {newest} is the newest that is known" in end.text


@pytest.mark.parametrize("data", [None, b"", b"17", b"{", b"[9]", b'{"version":"x"}', b'{"version":null}'])
def test_what_names_no_format_ends_nothing(data):
    assert ends("/controller", data) is None


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


def test_a_claim_that_was_refused_ends_nothing():
    assert survey_of(with_record(*claim(), multi=True)).ends[""].migrated
    assert survey_of(with_record(*claim(), Failure(-101), multi=True)).ends == {}


@pytest.mark.parametrize("path, data", [("/migration", b"{}"), ("/controller", CLAIMED.replace(b"4", b"-1"))])
def test_a_quorum_that_does_not_rule_yet_ends_nothing(path, data):
    assert survey_of(with_record(Create(path, data, False, -1))).ends == {}


def test_a_log_is_replayed_until_a_quorum_rules_and_then_on(capsys, tmp_path):
    write_log(tmp_path / "log.1", migrated())
    code, found = run_json(capsys, tmp_path)
    assert (code, found["verdict"], found["records"], found["end"]["zxid"]) == (0, "conforms", AT - 1, hex(AT))
    assert found["problems"] == []
    assert found["controllers"] == run_json(capsys, beginning(tmp_path / "beginning"))[1]["controllers"]
    ruler = found["migration"]["rulers"][-1]
    assert (ruler["since"], ruler["controller"], ruler["kraft_epoch"], ruler["until"]) == (hex(AT), 3000, 4, None)
    assert found["migration"]["records"] == 1
    page = tmp_path / "report.html"
    assert main(["replay", str(tmp_path), "--html", str(page)]) == 0
    told = capsys.readouterr().out.replace("\n", " ")
    assert f"conforms to fenced until {AT:#x}: each record" in told
    assert "controller 3000 of the quorum, KRaft epoch 4" in told and "conforms while a quorum rules: 1 record" in told
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


def test_a_log_that_begins_beyond_is_one_line(capsys, tmp_path):
    log = with_record(Create("/brokers/topics/t", b'{"version":4}', False, -1))
    begin_with(tmp_path, log[:AT], log[AT:])
    assert main(["replay", str(tmp_path)]) == 2
    told = capsys.readouterr()
    assert "no Kafka up to 3.9 writes this" in told.err and told.err.count("\n") == 1 and not told.out


def begin_with(directory: Path, before: list[Transaction], log: list[Transaction]) -> None:
    """Write a log that begins with a snapshot of what was before it."""
    tree = Tree(None)
    for transaction in before:
        tree.apply(transaction)
    write_snapshot(directory, tree)
    write_in(directory, log)


def test_a_log_that_begins_when_a_quorum_rules_is_followed(capsys, tmp_path):
    session = Transaction(AT + 1, 0x78, 1, 5, (CreateSession(9000),))
    foreign = Transaction(AT + 2, 0x78, 2, 5, (SetData("/controller_epoch", b"1", 99),))
    begin_with(tmp_path, migrated(), [session, foreign])
    code, found = run_json(capsys, tmp_path)
    assert (code, found["verdict"], found["first_divergence"]["zxid"]) == (1, "diverges", hex(AT + 2))
    assert "a session that does not rule: controller 3000 of the quorum" in found["first_divergence"]["reason"]


def test_a_watch_is_over_at_a_migration(tmp_path):
    log, all_records = Growing(tmp_path), migrated()
    log.append(all_records[:0x60])
    watched = watch(tmp_path)
    log.append(all_records[0x60:])
    said = watched.round()
    assert watched.over and f"{AT:#x} migrated to KRaft: controller 3000 of a quorum rules" in said[-1]
    assert watch(tmp_path).over
