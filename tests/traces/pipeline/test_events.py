"""The operations of a log as Parquet: every one is there, with what Kafka means by it; and replay in tasks of Spark."""

from collections import Counter
from dataclasses import replace

import pyarrow.dataset as ds
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkaproof.checker.basics.errors import UserError
from kafkaproof.checker.commands.main import main
from kafkaproof.traces.reading.events import SCHEMA, table_of, write_events
from kafkaproof.traces.reading.stored_events import batches_in, transactions_of
from kafkaproof.traces.zookeeper.records import Records
from kafkaproof.traces.zookeeper.transactions import Create, Failure, SetData, Transaction
from tests.traces.replaying import FENCED, FIVE_LEGACY, all_of, read, run_json
from tests.traces.transaction_strategies import TRANSACTIONS

STATE = b'{"controller_epoch":3,"leader":-1,"version":1,"leader_epoch":7,"isr":[2,1]}'


def row(operation) -> dict:
    [found] = table_of(Records.of([Transaction(1, 0xFFFF << 48, 0, 1_000, (operation,))])).to_pylist()
    return {name: value for name, value in found.items() if value is not None}


@pytest.mark.parametrize("chroot", ["", "/kafka", "/a/b"])
def test_a_partition_state_is_typed_below_its_chroot(chroot):
    found = row(SetData(f"{chroot}/brokers/topics/t/partitions/4/state", STATE, 8))
    assert found["session"] == "0xffff000000000000"
    assert [found[name] for name in ("chroot", "kind", "topic", "partition", "version")] == [chroot, "state", "t", 4, 8]
    assert (found["leader"], found["leader_epoch"], found["controller_epoch"], found["isr"]) == (-1, 7, 3, [2, 1])


def test_znodes_of_others_and_strange_contents_have_no_type():
    assert "kind" not in row(SetData("/zookeeper/config", STATE, 8))
    found = row(Create("/brokers/topics/t/partitions/4/state", b"\xff", False, 1))
    assert found["text"] == "\N{REPLACEMENT CHARACTER}" and found["bytes"] == b"\xff" and "leader" not in found
    assert row(Create("/controller", b'{"brokerid":2}', True, 1))["broker"] == 2
    assert row(Create("/brokers/ids/7", None, True, 1))["broker"] == 7
    large = row(SetData("/brokers/topics/t/partitions/99999999999/state", STATE.replace(b"7", b"77777777777"), 8))
    assert {"partition", "leader", "leader_epoch"}.isdisjoint(large) and large["topic"] == "t"
    assert row(Failure(-103)).items() >= {"operation": "error", "error": "badversion"}.items()


@pytest.mark.parametrize(
    "below, known",
    [
        ("ids/g_host-1-a", {"kind": "member"}),
        ("owners/t/4", {"kind": "owner", "topic": "t", "partition": 4}),
        ("offsets/t/4", {"kind": "offset", "topic": "t", "partition": 4}),
    ],
)
def test_a_znode_of_an_old_consumer_says_its_group(below, known):
    found = row(SetData(f"/k/consumers/g/{below}", b"17", 8))
    told = {name: found[name] for name in ("chroot", "kind", "group", "topic", "partition") if name in found}
    assert told == {"chroot": "/k", "group": "g"} | known


@given(st.lists(TRANSACTIONS, max_size=20))
def test_transactions_are_read_back_as_they_were_written(tmp_path_factory, written):
    file = tmp_path_factory.getbasetemp() / "written.parquet"
    write_events(Records.of(written), file)
    found = [each for batch in batches_in(file) for each in transactions_of(batch)]
    assert found == [replace(each, trailer=b"") for each in written]


def test_every_operation_of_a_log_is_written_and_nothing_is_written_over(tmp_path, capsys):
    told = run_json(capsys, FIVE_LEGACY, "--expect", "C4", "--events", tmp_path / "events")[1]
    table = ds.dataset(tmp_path / "events").to_table()
    assert table.schema == SCHEMA
    transactions = read(FIVE_LEGACY).transactions
    assert table["zxid"].to_pylist() == [t.zxid for t in transactions for _ in t.operations]
    states = Counter(zip(table["operation"].to_pylist(), table["kind"].to_pylist()))
    written = all_of(FIVE_LEGACY).streams.partitions
    assert states["create", "state"] + states["setData", "state"] == len(written) > 300
    assert run_json(capsys, FIVE_LEGACY, "--events", tmp_path / "new")[1] == told
    assert main(["replay", str(FIVE_LEGACY), "--events", str(tmp_path / "events")]) == 2
    assert "name a directory that does not exist" in capsys.readouterr().err


def test_replay_in_tasks_of_spark_tells_the_same(kafkaproof, tmp_path):
    alone = kafkaproof("replay", FENCED, "--json")
    inside = kafkaproof("replay", FENCED, "--json", "--master", "local[2]", "--events", tmp_path / "events")
    assert (inside.code, inside.json) == (alone.code, alone.json) and alone.code == 0
    rows = ds.dataset(tmp_path / "events").count_rows()
    assert rows == sum(len(t.operations) for t in read(FENCED).transactions)


def test_a_file_that_cannot_be_written_is_one_line(tmp_path):
    with pytest.raises(UserError, match="gone/a.parquet: cannot be written: .*TMPDIR"):
        write_events(Records.of([]), tmp_path / "gone" / "a.parquet")
