"""A table says of every row whether it saw it before, whatever its size, its width and where it lives."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some

from kafkaproof.checker.compile.packing import MARK
from kafkaproof.checker.runs.table import KEY_BITS, RUNNING, SMALLEST, WHOLE_WORDS, Table, keys_of, owners_of

WORD = some.one_of(some.integers(0, 30), some.integers(0, 2**63 - 1))


@some.composite
def batches(draw):
    """Batches of packed states of one width, with many duplicates."""
    words = draw(some.integers(1, WHOLE_WORDS + 2))
    row = some.tuples(*[WORD] * words)
    return words, draw(some.lists(some.lists(row, max_size=40), max_size=5))


def packed(rows, words):
    """Rows as packed states: the top bit of the first word is 1."""
    states = np.array(rows, np.uint64).reshape(-1, words)
    states[:, 0] |= MARK
    return states


def many(n, words, seed=0):
    """Random packed states with duplicates."""
    return packed(np.random.default_rng(seed).integers(0, 1 << 40, (n, words)) % (n // 2), words)


def insert_all(table, parts):
    """Insert, and compare every answer with a set's; returns the set."""
    seen = set()
    for part in parts:
        expected = []
        for i, row in enumerate(map(tuple, part.tolist())):
            if row not in seen:
                seen.add(row)
                expected.append(i)
        assert table.insert(part).tolist() == expected
        assert table.states == len(seen)
    return seen


@given(batches())
def test_a_table_answers_as_a_set_does(drawn):
    words, parts = drawn
    insert_all(Table(words), [packed(part, words) for part in parts])


@pytest.mark.parametrize("words", [1, 2, WHOLE_WORDS, WHOLE_WORDS + 1])
def test_a_table_grows_and_forgets_nothing(words):
    rows, table = many(10 * SMALLEST, words), Table(words)
    insert_all(table, np.array_split(rows, 7))
    assert table.bytes > Table(words).bytes
    assert len(table.insert(rows)) == 0


def test_long_states_take_little_memory():
    halves = np.unique(many(800, 4), axis=0)
    rows = np.array([np.hstack([left, right]) for left in halves for right in halves])
    table = Table(8)
    assert len(table.insert(rows)) == len(rows) > 100_000
    assert table.bytes < 4 * 8 * len(rows)


def test_more_columns_than_words_do_not_matter():
    rows = np.hstack([many(50, 2), np.arange(50, dtype=np.uint64)[:, None]])
    assert len(Table(2).insert(rows)) == len(np.unique(rows[:, :2], axis=0))


@pytest.mark.parametrize("words", [2, WHOLE_WORDS + 1])
def test_a_table_in_a_file_is_found_again(tmp_path, words):
    rows, path = many(3 * SMALLEST, words), tmp_path / "table"
    first = Table(words, path)
    first.insert(rows)
    first.level = 4
    again = Table(words, path)
    assert (again.level, again.states) == (4, first.states)
    assert len(again.insert(rows)) == 0


def test_a_new_table_holds_no_level_and_remembers_that_one_is_running(tmp_path):
    table = Table(1, tmp_path / "table")
    assert table.level == -1
    table.level = RUNNING
    assert Table(1, tmp_path / "table").level == RUNNING


def test_keys_have_44_bits_and_every_partition_owns_its_share():
    rows = many(5000, 2)
    assert keys_of(rows).max() < 1 << KEY_BITS
    shares = np.bincount(owners_of(rows, 5), minlength=5)
    assert len(shares) == 5 and shares.min() > 0
