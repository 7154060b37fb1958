"""A partition's table is a cache: what is not exactly the levels before is built again from them."""

import numpy as np
import pytest

from kafkaproof.checker.basics.spent import Spent
from kafkaproof.checker.runs.directory import RunDirectory
from kafkaproof.checker.runs.seen import Seen
from kafkaproof.checker.runs.table import RUNNING
from kafkaproof.checker.spark import partition
from kafkaproof.checker.spark.blocks import END, LostLevel, whole
from kafkaproof.checker.spark.cluster import LevelTask
from kafkaproof.checker.spark.partition import TABLES, remove_orphans, seen_before, table_directory, take_new
from tests.checker.models import explored, kernel_of
from tests.toys import queue

KERNEL = kernel_of(queue())
PARTITIONS = 2


@pytest.fixture
def run(run_directory, tmp_path, monkeypatch):
    """An explored run, with tables in a directory of the test's own."""
    explored(run_directory, KERNEL)
    (tmp_path / "tables").mkdir()
    for directory in ("table_directory", "older_directory"):
        monkeypatch.setattr(partition, directory, lambda run: tmp_path / "tables")
    return run_directory


def owned(run, upto):
    """States of the levels before `upto` that partition 0 owns."""
    return sum(len(states) for level in run.levels()[:upto] for states in run.states(level, 0, PARTITIONS))


def seen_at(run, level):
    """What partition 0 has seen, for a task of `level`."""
    return seen_before(run, KERNEL.compiled, level, 0, PARTITIONS, None)


def left_behind(tmp_path):
    """What an earlier task has left of partition 0."""
    (tmp_path / "tables" / "partition-0").mkdir(exist_ok=True)
    return Seen(KERNEL.compiled.words, tmp_path / "tables" / "partition-0" / "table")


def test_a_new_executor_builds_the_table_of_the_levels_before(run):
    for level in (1, 2, 4):
        with seen_at(run, level) as seen:
            assert seen.table.states == owned(run, level)
    assert owned(run, 4) > owned(run, 2)


def test_a_table_at_the_level_before_is_trusted(run, tmp_path):
    left_behind(tmp_path).table.level = 2
    with seen_at(run, 3) as seen:
        assert seen.table.states == 0


def test_a_table_that_lacks_levels_is_given_those_alone(run, tmp_path):
    left_behind(tmp_path).table.level = 1
    with seen_at(run, 4) as seen:
        assert seen.level == 3 and seen.table.states == owned(run, 4) - owned(run, 2) > 0


@pytest.mark.parametrize("left", [RUNNING, 3, 4])
def test_what_a_killed_task_left_behind_is_not_trusted(run, tmp_path, left):
    kept = left_behind(tmp_path).table
    kept.insert(np.arange(1000, dtype=np.uint64)[:, None] + np.uint64(1 << 63))
    kept.level = left
    with seen_at(run, 3) as seen:
        assert seen.table.states == owned(run, 3)


def test_a_retried_task_finds_the_same_new_states(run):
    (blocks,) = (
        [
            np.hstack(
                [
                    np.concatenate(list(run.states(run.levels()[2], 0, PARTITIONS))),
                    np.zeros((owned(run, 3) - owned(run, 2), 1), np.uint64),
                ]
            ).tobytes()
        ],
    )
    found = []
    for _ in range(2):
        with seen_at(run, 2) as seen:
            found.append(take_new(seen, 2, blocks, KERNEL.compiled.words, Spent()).tolist())
    assert found[0] == found[1] and len(found[0]) == owned(run, 3) - owned(run, 2) > 0


def test_tables_of_owners_that_are_gone_are_removed(tmp_path):
    gone, alive, other = tmp_path / f"{TABLES}4194305-x", tmp_path / f"{TABLES}1-x", tmp_path / "precious"
    for directory in (gone, alive, other):
        directory.mkdir()
    remove_orphans(tmp_path)
    assert (gone.exists(), alive.exists(), other.exists()) == (False, True, True)


def test_two_runs_never_share_a_table_even_when_their_directories_have_one_name(tmp_path):
    places = [table_directory(RunDirectory(str(tmp_path / parent / "run"))) for parent in "ab"]
    try:
        assert places[0] != places[1]
    finally:
        for place in places:
            if place.exists():
                place.rmdir()


def test_a_task_that_does_not_get_all_blocks_fails_and_leaves_nothing_that_is_trusted(run, tmp_path):
    task = LevelTask(run.uri, KERNEL.compiled, PARTITIONS, None, None)
    blocks = [(0, block) for block in (np.ones((1, KERNEL.compiled.words + 1), np.uint64).tobytes(), END)]
    begun = len(list((tmp_path / "run").rglob("part-*")))
    with pytest.raises(LostLevel, match="did not arrive"):
        list(task.advance(3, 0, blocks[:1]))
    assert left_behind(tmp_path).level == RUNNING
    assert len(list((tmp_path / "run").rglob("part-*"))) == begun
    assert [*whole(blocks)] == [block for _, block in blocks]
