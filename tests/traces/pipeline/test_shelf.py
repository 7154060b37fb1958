"""A log whose writes do not fit into memory, and columns instead of records, tell the same."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkaproof.traces.basics.columns import ByZxid, Rows
from kafkaproof.traces.evidence import kept_writes as shelf
from kafkaproof.traces.evidence.writes import writes_of
from kafkaproof.traces.reading.cluster import Members
from tests.traces.replaying import BUNDLED, FENCED, FIVE_LEGACY, read, run_json

DIRECTORIES = [directory.parent for directory in sorted(BUNDLED.glob("[123]*/version-2"))]


@pytest.mark.parametrize("directory", DIRECTORIES, ids=lambda directory: directory.name)
def test_writes_that_are_put_away_are_explained_in_the_same_way(capsys, monkeypatch, directory: Path):
    whole = run_json(capsys, directory, "--expect", "C4")
    monkeypatch.setattr(shelf, "MOST", 50)
    assert run_json(capsys, directory, "--expect", "C4") == whole


@pytest.mark.parametrize("most", [1, 7, 1_000_000])
def test_writes_are_read_in_their_order_and_each_once(monkeypatch, most):
    monkeypatch.setattr(shelf, "MOST", most)
    recording = read(FIVE_LEGACY)
    members, kept, written = Members(recording, ""), shelf.Shelf(), []
    for transaction in recording.transactions:
        for write in () if transaction.failed else writes_of(transaction, members, ""):
            written.append(write._replace(number=len(written)))
            kept.add(str(len(written) % 3), written[-1])
            kept.add("all", written[-1])
    for names, expected in ((["all"], written), (["0", "1", "2", "all"], written), (["1", "none"], written[::3])):
        found = kept.pieces(names).read(members)
        assert list(found) == expected and found[-1] == expected[-1] and found[3:5] == expected[3:5]
    assert (kept.kept is None) == (most > len(written))


def test_a_log_in_tasks_of_spark_with_writes_put_away(kafkaproof, capsys, monkeypatch):
    alone = kafkaproof("replay", FENCED, "--json")
    monkeypatch.setattr(shelf, "MOST", 50)
    assert run_json(capsys, FENCED, "--master", "local[2]") == (alone.code, alone.json)


@given(st.lists(st.tuples(st.integers(0, 50), st.sampled_from("abc"))))
def test_what_is_known_by_zxid_is_what_a_dictionary_knows(pairs):
    found = ByZxid.of(pairs)
    assert dict(found) == dict(found.items()) == dict(pairs) and list(found) == sorted(dict(pairs))
    assert [found.get(zxid) for zxid in range(52)] == [dict(pairs).get(zxid) for zxid in range(52)]
    assert found.counts().total() == len(found) == len(dict(pairs))


@given(st.lists(st.tuples(st.integers(-(2**63), 2**63 - 1), st.text(max_size=2))), st.integers(-5, 5))
def test_rows_are_a_list_of_tuples(rows, place):
    found = Rows("qr")
    for row in rows:
        found.append(*row)
    assert list(found) == rows and found[:place] == rows[:place] and len(found) == len(rows)
    if -len(rows) <= place < len(rows):
        assert found[place] == rows[place]


@given(st.lists(st.tuples(st.booleans(), st.lists(st.tuples(st.integers(-(2**63), 2**63 - 1), st.integers(0, 9))))))
def test_rows_that_come_by_columns_are_those_that_came_one_by_one(pieces):
    found, expected, grown, others = Rows("qr"), [], [], list("9876543210")
    for grows, piece in pieces:
        numbers, codes = [number for number, _ in piece], [code for _, code in piece]
        grown += map(str, range(len(grown), max(codes, default=0) + 1))
        values = grown if grows else others
        found.extend(np.array(numbers, np.int64), (np.array(codes, np.int32), values))
        found.append(1, "8")
        expected += [*((number, values[code]) for number, code in piece), (1, "8")]
    assert list(found) == expected and set(found.columns[1].different) == {value for _, value in expected}
