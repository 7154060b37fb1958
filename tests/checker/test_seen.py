"""What has been seen is the same, however little of it memory may hold."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from kafkaproof.checker.compile.packing import MARK
from kafkaproof.checker.runs.directory import RunDirectory
from kafkaproof.checker.runs.older import Older
from kafkaproof.checker.runs.seen import Seen
from kafkaproof.checker.runs.table import RUNNING, SMALLEST, WHOLE_WORDS
from tests.checker.models import EVERYTHING, explored, facts, kernel_of

WIDTHS = [1, 2, WHOLE_WORDS, WHOLE_WORDS + 1, WHOLE_WORDS + 4]


def rows_of(count, words, seed=0):
    """Rows of a state and a number beside it, many of them of one state."""
    numbers = np.random.default_rng(seed)
    states = numbers.integers(0, 40, (count // 2 + 1, words)).astype(np.uint64) << np.uint64(40)
    states[:, -1] += np.arange(len(states), dtype=np.uint64)
    states[:, 0] |= np.uint64(MARK)
    return np.hstack([states[numbers.integers(0, len(states), count)], np.arange(count, dtype=np.uint64)[:, None]])


def levels_of(rows, ends):
    """Rows in levels of parts."""
    for level, part in enumerate(np.split(rows, ends)):
        yield level, np.array_split(part, 3)


def as_set(rows):
    return set(map(tuple, rows[:, :-1].tolist()))


@pytest.mark.parametrize("words", WIDTHS)
def test_what_is_new_in_each_level_does_not_depend_on_memory(tmp_path, words):
    rows = rows_of(5 * SMALLEST, words)
    ends = [1, 700, 2 * SMALLEST, 2 * SMALLEST, 4 * SMALLEST]
    seen, small = set(), Seen(words, None, 0, tmp_path / "older")
    for level, parts in levels_of(rows, ends):
        new = small.take(level, parts)
        wanted = {row for part in parts for row in as_set(part)} - seen
        assert as_set(new) == wanted and len(new) == len(wanted) and small.level == level
        seen |= wanted
    assert small.on_disk > 0 and (words > WHOLE_WORDS or small.bytes == Seen(words).bytes)


@pytest.mark.parametrize("words", [2, WHOLE_WORDS + 1])
def test_what_is_in_files_is_found_again(tmp_path, words):
    rows = rows_of(4 * SMALLEST, words)
    path, beside = tmp_path / "table", tmp_path / "older"
    Seen(words, path, 0, beside).take(0, [rows[: 3 * SMALLEST]])
    again = Seen(words, path, 0, beside)
    assert again.level == 0 and again.on_disk > 0
    assert as_set(again.take(1, [rows])) == as_set(rows) - as_set(rows[: 3 * SMALLEST])


def test_levels_that_are_known_are_not_new(tmp_path):
    rows = rows_of(3 * SMALLEST, 2)
    states = np.unique(rows[:, :-1], axis=0)
    seen = Seen(2, None, 0, tmp_path / "older")
    seen.know(4, [states])
    assert seen.level == 4 and seen.on_disk > 0 and len(seen.take(5, [rows])) == 0


def test_a_level_that_was_not_taken_to_its_end_is_not_trusted(tmp_path):
    def torn():
        yield rows_of(3 * SMALLEST, 2)
        raise RuntimeError

    path, beside = tmp_path / "table", tmp_path / "older"
    with pytest.raises(RuntimeError):
        Seen(2, path, 0, beside).take(0, torn())
    assert Seen(2, path, 0, beside).level == RUNNING
    path.unlink()
    assert Seen(2, path, 0, beside).on_disk == 0


@given(
    some.lists(some.lists(some.integers(0, 50), min_size=1, max_size=30), max_size=6),
    some.lists(some.integers(0, 50), unique=True),
)
@settings(max_examples=50)
def test_older_states_are_known_one_by_one(tmp_path_factory, moved, asked):
    older = Older(tmp_path_factory.mktemp("older"), 1, is_new=True)
    for values in moved:
        rows = np.array(values, np.uint64).reshape(-1, 1)
        older.add(rows, np.ones(len(rows), np.uint8))
    there = {value for values in moved for value in values}
    rows = np.array(asked, np.uint64).reshape(-1, 1)
    assert older.without(rows).tolist() == [value not in there for value in asked]


def test_an_exploration_without_memory_finds_the_same(run_directory, tmp_path, spark):
    model, scope = EVERYTHING["replication/kip320"]
    kernel = kernel_of(model, {**scope, "brokers": 3, "log": 2, "records": 2, "epochs": 1})
    found = explored(run_directory, kernel, spark, 2, spread=2_000, memory=0).outcome
    assert (found.distinct, found.generated) == (39_619, 104_488) and found.older > 0
    less = explored(RunDirectory(str(tmp_path / "here")), kernel, memory=0).outcome
    assert facts(less) == facts(found) and less.older > 0
