"""Records that are read all at once are those that are read one by one, and so are the rows that become of them."""

import struct
import zlib
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from kafkaproof.traces.reading.events import table_of
from kafkaproof.traces.reading.survey import survey_of
from kafkaproof.traces.zookeeper.decoding import transaction_in
from kafkaproof.traces.zookeeper.jute import JuteError
from kafkaproof.traces.zookeeper.log import read_log
from kafkaproof.traces.zookeeper.records import Records
from kafkaproof.traces.zookeeper.transactions import Check, LogError, SetData, Transaction
from tests.traces.log_writer import file_header, payload
from tests.traces.transaction_strategies import DIGESTS, HEADER, INTS, TRANSACTIONS

STATE = b'{"controller_epoch":3,"leader":-1,"version":1,"leader_epoch":7,"isr":[2,1]}'
PATHS = st.sampled_from(
    [
        "/brokers/topics/t/partitions/0/state",
        "/a/brokers/topics/\u00fc/partitions/1/state",
        "/brokers/topics/t",
        "/controller_epoch",
        "/a/controller_epoch",
        "/controller",
        "/migration",
        "/x",
        "",
    ]
)
DATA = st.none() | st.sampled_from([STATE, STATE.replace(b"7", b"8"), b"", b"\xff", b"5", b'{"version":2}'])
SETS = st.builds(SetData, PATHS, DATA, INTS)
CHECKS = st.builds(Check, PATHS, INTS)
USUAL = st.builds(Transaction, *HEADER, st.tuples(SETS), st.just(False), DIGESTS) | st.builds(
    Transaction, *HEADER, st.tuples(CHECKS, SETS), st.just(True), DIGESTS
)
ALIKE = st.builds(Transaction, *HEADER, st.lists(CHECKS | SETS, max_size=3).map(tuple), st.just(True), DIGESTS)
LOGS = st.lists(USUAL | ALIKE | TRANSACTIONS, max_size=8)
GUARDED = payload(Transaction(7, 1, 0, 0, (Check("/controller_epoch", 2), SetData("/x", b"data", 1)), True))
ALONE = payload(Transaction(7, 1, 0, 0, (SetData("/x", b"data", 1),)))
START = struct.Struct(">qi").size + len(file_header())


@pytest.fixture(scope="session")
def file(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("usual") / "log.1"


def written(file: Path, payloads: list[bytes]) -> Path:
    records = (struct.pack(">qi", zlib.adler32(body), len(body)) + body + b"B" for body in payloads)
    file.write_bytes(file_header() + b"".join(records))
    return file


def set_after_another(path: str, data: bytes) -> list[Transaction]:
    return [Transaction(7, 1, 0, 0, (SetData(each, data, 1),)) for each in ("/x", path)]


def rows(records: Records) -> dict:
    table = table_of(records)
    return table.drop_columns("time").to_pydict() | {"time": table["time"].cast(pa.int64()).to_pylist()}


@given(LOGS, st.integers(0, 8), st.integers(0, 8))
@example([Transaction(zxid, 1, 0, 0, (SetData("/x", STATE, zxid),)) for zxid in range(3)], 1, 3)
@example(set_after_another("/controller_epoch", STATE), 0, 2)
@example(set_after_another("/migration", b"{}"), 0, 2)
@example(set_after_another("/migration", STATE), 0, 2)
def test_records_and_rows_are_those_of_one_by_one(file, transactions, first, last):
    found = read_log(written(file, list(map(payload, transactions)))).transactions
    assert list(found) == transactions
    assert rows(found) == rows(Records.of(transactions))
    assert survey_of(found) == survey_of(transactions)
    assert len(found.sets) == sum(
        not each.multi
        and type(each.first) is SetData
        and each.first.data is not None
        or each.multi
        and tuple(map(type, each.operations)) == (Check, SetData)
        and each.operations[1].data is not None
        for each in transactions
    )
    assert list(found[first:last]) == transactions[first:last]
    assert rows(found[first:last]) == rows(Records.of(transactions[first:last]))


def read_one_by_one(payloads: list[bytes]) -> tuple[list[Transaction], str | None]:
    found, start = [], START
    for body in payloads:
        try:
            found.append(transaction_in(body))
        except JuteError as error:
            return found, f"log.1: byte {start - 12}: {error} ("
        start += len(body) + 13
    return found, None


@given(st.sampled_from([GUARDED, ALONE]), st.data(), st.booleans())
def test_a_byte_that_is_changed_is_found_as_one_by_one(file, body, data, last):
    place, byte = data.draw(st.integers(0, len(body) - 1)), data.draw(st.sampled_from(range(256)))
    assert_found_as_one_by_one(file, body[:place] + bytes([byte]) + body[place + 1 :], last)


@pytest.mark.parametrize("last", [True, False])
@pytest.mark.parametrize("body", [GUARDED, ALONE], ids=["guarded", "alone"])
def test_a_record_that_is_cut_or_too_long_is_found_as_one_by_one(file, body, last):
    for length in range(1, len(body)):
        assert_found_as_one_by_one(file, body[:length], last)
    assert_found_as_one_by_one(file, body + b"digest", last)


@pytest.mark.parametrize(
    "old, new",
    [
        (b"/x", b"/\xff"),
        (b"/controller_epoch", b"/controller_epo\xff\xff"),
        (b"\0\0\0\4data", b"\xff\xff\xff\xff"),
        (b"\0\0\0\4data", b"\x7f\xff\xff\xffdata"),
        (b"\0\0\0\x02/x", b"\xff\xff\xff\xfe/x"),
    ],
)
def test_what_is_no_path_and_no_length_is_found_as_one_by_one(file, old, new):
    for body in GUARDED, ALONE:
        assert_found_as_one_by_one(file, body.replace(old, new), False)


def assert_found_as_one_by_one(file: Path, body: bytes, last: bool) -> None:
    payloads = [GUARDED, ALONE, body] + [ALONE, GUARDED] * (not last)
    transactions, reason = read_one_by_one(payloads)
    try:
        found, said = read_log(written(file, payloads)).transactions, None
    except LogError as error:
        found, said = error.transactions, str(error)
    assert list(found) == transactions
    assert (said is None) == (reason is None) and (reason or "") in (said or "")


def test_a_recording_has_the_rows_of_one_by_one(recording_directory):
    found = read_log(recording_directory / "zookeeper" / "version-2" / "log.1").transactions
    assert rows(found) == rows(Records.of(found)) and len(found.sets) > 10
    assert survey_of(found) == survey_of(list(found))
