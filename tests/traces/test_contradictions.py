"""What neither Kafka nor ZooKeeper can have written diverges where it is; what others wrote so is told."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from kafkaproof.traces.zookeeper.transactions import CloseSession, Create, CreateSession, SetData, Transaction
from tests.traces.log_writer import write_log
from tests.traces.replaying import FIVE_FENCED, FIVE_LEGACY, first, run_json

RECORDS = 0x98
TOOL = 0x77


def log(directory: Path = FIVE_FENCED) -> list[Transaction]:
    """The first records of a real cluster; the digest of the tree is of what was there."""
    return [replace(each, trailer=b"") for each in first(directory, RECORDS)]


def last_of(found: list[Transaction], form: type, ending: str) -> int:
    """The zxid of the last record that ends with such an operation."""
    return [t.zxid for t in found if isinstance(t.operations[-1], form) and t.operations[-1].path.endswith(ending)][-1]


def rewritten(found: list[Transaction], zxid: int, change: Callable[[bytes], bytes]) -> list[Transaction]:
    """The log where the last operation of a record writes something else."""

    def changed(each: Transaction) -> Transaction:
        *others, write = each.operations
        return replace(each, operations=(*others, replace(write, data=change(write.data))))

    return [changed(each) if each.zxid == zxid else each for each in found]


def inserted(found: list[Transaction], *operations) -> list[Transaction]:
    """The log with more records of a session that is no broker's, one after the other, at its end."""
    last = found[-1]
    more = (Transaction(last.zxid + n, TOOL, n, last.time + n, (each,)) for n, each in enumerate(operations, 1))
    return [*found, *more]


def told(capsys, directory: Path, records: list[Transaction]) -> tuple[int, dict]:
    """Exit code and JSON of a replay of records."""
    write_log(directory / "log.1", records)
    return run_json(capsys, directory)


def setting(**fields) -> Callable[[bytes], bytes]:
    return lambda data: json.dumps(json.loads(data) | fields).encode()


STATES = {
    "leader is '2'": setting(leader="2"),
    "leader is 2.0": setting(leader=2.0),
    "leader is true": setting(leader=True),
    "version is true": setting(version=True),
    "has no version": lambda data: data.replace(b'"version":1,', b""),
    "the key 'leader' twice": lambda data: data.replace(b"{", b'{"leader":3,', 1),
    "is no JSON": lambda data: b"{",
    "isr[0] is '2'": setting(isr=["2"]),
    "leader_epoch is -1": setting(leader_epoch=-1),
    "leader is 2147483648": setting(leader=1 << 31),
    "is no UTF-8": lambda data: data + b"\xff",
}


@pytest.mark.parametrize("text", STATES)
@pytest.mark.parametrize("directory", [FIVE_FENCED, FIVE_LEGACY], ids=["fenced", "legacy"])
def test_a_state_that_no_kafka_writes_diverges_where_it_is(capsys, tmp_path, directory, text):
    found = log(directory)
    zxid = last_of(found, SetData, "/state")
    code, report = told(capsys, tmp_path, rewritten(found, zxid, STATES[text]))
    assert (code, report["verdict"], report["first_divergence"]["zxid"]) == (1, "diverges", hex(zxid))
    assert "no Kafka writes this: " in report["first_divergence"]["reason"]
    assert text in report["first_divergence"]["reason"]


@pytest.mark.parametrize(
    "data, text",
    [
        (b"{}", "it has no version"),
        (b"hello", "it is no JSON"),
        (b"", "it is empty"),
        (b'{"version":4}', "it has no host"),
    ],
)
def test_a_registration_that_no_broker_makes_diverges(capsys, tmp_path, data, text):
    zxid = last_of(log(), SetData, "/brokers/ids/1")
    code, report = told(capsys, tmp_path, rewritten(log(), zxid, lambda _: data))
    assert (code, report["first_divergence"]["zxid"]) == (1, hex(zxid))
    assert text in report["first_divergence"]["reason"]


def test_a_registration_that_is_not_ephemeral_is_told(capsys, tmp_path):
    registration = next(o for t in log() for o in t.operations if isinstance(o, SetData) and "/ids/" in o.path)
    found = inserted(log(), CreateSession(6000), Create("/brokers/ids/9", registration.data, False, -1))
    code, report = told(capsys, tmp_path, found)
    assert (code, report["verdict"]) == (0, "conforms")
    assert report["problems"] == [
        f"{tmp_path}: {RECORDS + 2:#x}: session 0x77, which is no broker's, writes "
        "/brokers/ids/9 as no Kafka does: it is not ephemeral"
    ]
    assert report["skipped"]["tools: registrations that no broker made"] == 1


def test_a_broker_writes_no_registration_but_its_own(capsys, tmp_path):
    zxid = last_of(log(), SetData, "/brokers/ids/1")
    write = next(t for t in log() if t.zxid == zxid)
    other = next(t.session for t in log() for o in t.operations if getattr(o, "path", "") == "/brokers/ids/2")
    again = replace(
        write,
        zxid=RECORDS + 1,
        session=other,
        multi=False,
        operations=(SetData("/brokers/ids/1", write.operations[-1].data, 2),),
    )
    code, report = told(capsys, tmp_path, [*log(), again])
    assert (code, report["first_divergence"]["zxid"]) == (1, hex(RECORDS + 1))


def test_a_process_writes_the_versions_of_one_release(capsys, tmp_path):
    def former(data: bytes) -> bytes:
        return json.dumps(
            {key: value for key, value in json.loads(data).items() if key != "topic_id"} | {"version": 2}
        ).encode()

    zxid = last_of(log(), SetData, "/brokers/topics/t0")
    code, report = told(capsys, tmp_path, rewritten(log(), zxid, former))
    assert (code, report["first_divergence"]["zxid"]) == (1, hex(zxid))
    told_why = "a topic of version 2 is of Kafka 2.4 to 2.7, and its session is of 2.8 to 3.3"
    assert told_why in report["first_divergence"]["reason"]


def test_a_broker_of_an_earlier_release_may_be_in_a_cluster(capsys, tmp_path):
    def former(data: bytes) -> bytes:
        content = {key: value for key, value in json.loads(data).items() if key != "features"}
        return json.dumps(content | {"version": 4}).encode()

    zxid = last_of(log(), SetData, "/brokers/ids/1")
    code, _ = told(capsys, tmp_path, rewritten(log(), zxid, former))
    assert code == 0


@pytest.mark.parametrize("data", [b"hello", b'{"version":1,"partitions":[{"topic":"t0","partition":true}]}', b"\xff"])
def test_a_list_that_an_operator_wrote_by_hand_is_told(capsys, tmp_path, data):
    create = Create("/admin/reassign_partitions", data, False, -1)
    code, report = told(capsys, tmp_path, inserted(log(), CreateSession(6000), create))
    assert (code, report["verdict"]) == (0, "conforms") and len(report["problems"]) == 1
    assert (
        "session 0x77, which is no broker's, writes /admin/reassign_partitions as no Kafka does: "
        in report["problems"][0]
    )


def test_a_key_that_no_known_kafka_writes_is_told_once_and_is_no_divergence(capsys, tmp_path):
    found = log()
    for each in [t.zxid for t in found if not t.failed and t.operations[-1].form().endswith("/state")]:
        found = rewritten(found, each, setting(observers=[]))
    code, report = told(capsys, tmp_path, found)
    assert (code, report["verdict"]) == (0, "conforms")
    assert 0 < len(report["problems"]) <= 5 and all("the key 'observers'" in line for line in report["problems"])


@pytest.mark.parametrize("text", STATES)
def test_with_pseudonyms_the_verdict_is_the_same(capsys, tmp_path, text):
    zxid = last_of(log(), SetData, "/state")
    write_log(tmp_path / "log.1", rewritten(log(), zxid, STATES[text]))
    code, report = run_json(capsys, tmp_path, "--redact")
    assert (code, report["first_divergence"]["zxid"]) == (1, hex(zxid))


def diverges(capsys, directory: Path, zxid: int, text: str) -> None:
    """A replay diverges at a record, and tells why."""
    code, report = run_json(capsys, directory)
    assert (code, report["verdict"], report["first_divergence"]["zxid"]) == (1, "diverges", hex(zxid))
    assert text in report["first_divergence"]["reason"]


def test_records_out_of_order_diverge(capsys, tmp_path):
    found = log()
    found[0x40], found[0x41] = found[0x41], found[0x40]
    write_log(tmp_path / "log.1", found)
    diverges(capsys, tmp_path, 0x41, "log.1: this record is behind 0x42, and ZooKeeper writes records in the order")


def test_the_last_two_records_out_of_order_diverge(capsys, tmp_path):
    found = log()
    found[-1], found[-2] = found[-2], found[-1]
    write_log(tmp_path / "log.1", found)
    diverges(capsys, tmp_path, found[-1].zxid, "this record is behind")


def test_records_out_of_order_at_the_border_of_two_files_diverge(capsys, tmp_path):
    found = log()
    write_log(tmp_path / "log.1", found[:0x40])
    write_log(tmp_path / "log.42", [found[0x41], found[0x40], *found[0x42:]])
    diverges(capsys, tmp_path, 0x41, "log.42: this record is behind 0x42")


def test_records_that_come_again_are_no_divergence(capsys, tmp_path):
    code, report = told(capsys, tmp_path, [*log()[:0x50], *log()[0x40:]])
    assert code == 0 and "16 records that occur more than once" in report["problems"][0]


def test_a_log_with_another_s_name_diverges(capsys, tmp_path):
    write_log(tmp_path / "log.1", log()[:0x40])
    write_log(tmp_path / "log.50", log()[0x40:])
    diverges(capsys, tmp_path, 0x41, "log.50: its first record is 0x41, and ZooKeeper names a file after its first")


def test_logs_that_have_changed_names_diverge(capsys, tmp_path):
    write_log(tmp_path / "log.41", log()[:0x40])
    write_log(tmp_path / "log.1", log()[0x40:])
    diverges(capsys, tmp_path, 1, "log.41: its first record is 0x1,")


def test_a_file_that_begins_inside_another_of_its_server_diverges(capsys, tmp_path):
    write_log(tmp_path / "log.1", [*log()[:0x40], log()[0x50]])
    write_log(tmp_path / "log.41", log()[0x40:])
    diverges(capsys, tmp_path, 0x41, "log.41: this record comes before the last one of log.1, 0x51")


def test_files_of_other_servers_may_begin_anywhere(capsys, tmp_path):
    for server, begin in (("a", 0), ("b", 0x20)):
        (tmp_path / server / "version-2").mkdir(parents=True)
        write_log(tmp_path / server / "version-2" / f"log.{begin + 1:x}", log()[begin:])
    assert run_json(capsys, tmp_path)[0] == 0


@pytest.mark.parametrize(
    "after, cxid, sooner", [(5_999, 0, True), (0, 0, True), (-3_000, 0, True), (6_000, 0, False), (100, 7, False)]
)
def test_a_session_that_expires_sooner_than_its_timeout_is_told(capsys, tmp_path, after, cxid, sooner):
    found = inserted(log(), CreateSession(6_000), CloseSession(()))
    found[-1] = replace(found[-1], time=found[-2].time + after, cxid=cxid)
    code, report = told(capsys, tmp_path, found)
    assert code == 0 and len(report["problems"]) == sooner
    assert (
        not sooner
        or f"session 0x77 expires {after:,} ms after its last record, sooner than its timeout of 6,000 ms"
        in report["problems"][0]
    )


def test_a_session_that_goes_on_writing_states_is_alive(capsys, tmp_path):
    found = log()
    write = next(t for t in found if t.zxid == last_of(found, SetData, "/state"))
    found = [t for t in found if t.zxid <= write.zxid]
    found.append(
        replace(write, zxid=write.zxid + 1, time=write.time + 10, cxid=0, multi=False, operations=(CloseSession(None),))
    )
    _, report = told(capsys, tmp_path, found)
    assert f"session {write.session:#x} expires 10 ms after its last record" in report["problems"][-1]
