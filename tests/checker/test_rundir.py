"""The levels of a run directory are its truth, and whatever else lies there is ignored."""

import json
from pathlib import Path

import numpy as np
import pytest

from kafkaproof.checker.basics.spent import Spent
from kafkaproof.checker.compile.packing import MARK
from kafkaproof.checker.runs import files
from kafkaproof.checker.runs.directory import RunDirectory, RunError
from kafkaproof.checker.runs.table import STEP_BITS, keys_of


def rows_of(*numbers, parent=0, step=0):
    """One packed state of two words for each number, with its link."""
    rows = np.array([[n, n + 1, parent << STEP_BITS | step] for n in numbers], np.uint64).reshape(-1, 3)
    rows[:, 0] |= MARK
    return rows


def states_in(run, level, *which):
    """The numbers that a complete level holds."""
    return sorted(int(row[1]) - 1 for states in run.states(level, *which) for row in states)


def write_level(run, level, parts):
    """Write and complete a level; `parts` maps partitions to numbers."""
    run.begin_level(level)
    for partition, numbers in parts.items():
        run.write_part(level, partition, rows_of(*numbers), {}, Spent())
    return run.commit_level(level, parts)


@pytest.fixture
def run(run_directory):
    run_directory.create({"system": "toy"})
    return run_directory


def folder(run, level):
    """The local directory of a level."""
    return Path(run.uri) / f"level-{level:05d}"


def test_what_is_written_is_read_back(run):
    level = write_level(run, 0, {0: [1, 2, 3], 1: [], 2: [9]})
    assert run.levels() == [level]
    assert states_in(run, level) == [1, 2, 3, 9]
    assert states_in(run, level, 2, 3) == [9]
    assert [(part["states"], part["bytes"] > 0) for part in level["parts"]] == [(3, True), (0, True), (1, True)]


def test_a_state_is_kept_with_its_key_its_parent_and_its_step(run):
    run.begin_level(0)
    rows = rows_of(4, 5, parent=77, step=12)
    run.write_part(0, None, rows, {}, Spent())
    ((states, keys, parents, steps),) = run.links(run.commit_level(0, [None]))
    assert (states == rows[:, :2]).all() and (keys == keys_of(states)).all()
    assert parents.tolist() == [77, 77] and steps.tolist() == [12, 12]


def test_a_large_part_is_compressed_and_read_back(run, monkeypatch):
    plain = write_level(run, 0, {0: range(10_000)})
    monkeypatch.setattr(files, "LARGE", 10_000)
    packed = write_level(run, 1, {0: range(10_000)})
    assert 2 * packed["parts"][0]["bytes"] < plain["parts"][0]["bytes"]
    assert np.array_equal(*(next(iter(run.states(level))) for level in (plain, packed)))


def test_a_level_of_the_driver_is_divided_among_owners(run):
    level = write_level(run, 0, {None: range(100)})
    shares = [states_in(run, level, partition, 3) for partition in range(3)]
    assert all(shares) and sorted(sum(shares, [])) == list(range(100))


def test_one_attempt_of_each_partition_is_chosen(run):
    run.begin_level(0)
    for _ in range(3):
        run.write_part(0, 0, rows_of(1, 2), {}, Spent())
    run.write_part(0, 1, rows_of(3), {}, Spent())
    level = run.commit_level(0, [0, 1])
    assert sorted(part["partition"] for part in level["parts"]) == [0, 1]
    assert states_in(run, level) == [1, 2, 3]


def test_a_level_that_lacks_a_partition_is_not_completed(run):
    run.begin_level(0)
    run.write_part(0, 0, rows_of(1), {}, Spent())
    with pytest.raises(RunError, match=r"level 0 lacks partitions \[1\]; resume the run"):
        run.commit_level(0, [0, 1])
    assert run.levels() == []


def test_stray_files_and_half_written_parts_are_ignored(run):
    run.begin_level(0)
    run.write_part(0, 0, rows_of(1), {}, Spent())
    (folder(run, 0) / "part-1-dead.parquet").write_bytes(b"half")
    (folder(run, 0) / "part-1-dead.json.17.tmp").write_text('{"partition": 1')
    (folder(run, 0) / ".crc").write_text("")
    level = run.commit_level(0, [0])
    assert states_in(run, level) == [1]


def test_a_part_whose_file_is_gone_does_not_count(run):
    run.begin_level(0)
    run.write_part(0, 0, rows_of(1), {}, Spent())
    next(folder(run, 0).glob("*.parquet")).unlink()
    with pytest.raises(RunError, match="lacks partitions"):
        run.commit_level(0, [0])
    run.write_part(0, 0, rows_of(1), {}, Spent())
    assert states_in(run, run.commit_level(0, [0])) == [1]


def test_a_level_begun_again_is_empty(run):
    run.begin_level(0)
    run.write_part(0, 0, rows_of(1, 2), {}, Spent())
    assert states_in(run, write_level(run, 0, {0: [5]})) == [5]


def test_a_level_that_is_written_and_not_yet_named_is_not_complete(run):
    write_level(run, 0, {0: [0]})
    before = (Path(run.uri) / "levels.json").read_bytes()
    write_level(run, 1, {0: [1]})
    (Path(run.uri) / "levels.json").write_bytes(before)
    assert [level["level"] for level in run.levels()] == [0]
    assert states_in(run, write_level(run, 1, {0: [1]})) == [1]


def test_a_level_that_another_process_has_completed_is_told(run):
    write_level(run, 0, {0: [0]})
    run.begin_level(2)
    run.write_part(2, 0, rows_of(1), {}, Spent())
    with pytest.raises(RunError, match="another process has completed level 2; let one alone go on"):
        run.commit_level(2, [0])


def test_a_directory_holds_one_run(run):
    with pytest.raises(RunError, match="already holds a run; resume it with --resume, or name another"):
        run.create({})


def test_what_is_no_run_is_neither_read_nor_deleted(tmp_path):
    (tmp_path / "precious").write_text("")
    for use in (RunDirectory.run, RunDirectory.delete):
        with pytest.raises(RunError, match="is not a run directory: it has no run.json"):
            use(RunDirectory(str(tmp_path)))
    assert (tmp_path / "precious").exists()


@pytest.mark.parametrize("format", [1, 99, None, "3"])
def test_a_run_of_another_format_is_refused(run, format):
    (Path(run.uri) / "run.json").write_text(json.dumps({"format": format}))
    for use in (RunDirectory.run, RunDirectory.delete):
        with pytest.raises(RunError, match=rf"written by another version \(format {format}, not 3\)"):
            use(run)


def test_an_unknown_scheme_is_told_in_a_line():
    with pytest.raises(RunError, match="cannot open the run directory nowhere://x"):
        RunDirectory("nowhere://x")


def test_a_uri_is_a_place_as_a_path_is(run):
    write_level(run, 0, {0: [1]})
    assert RunDirectory(f"file://{run.uri}").levels() == run.levels()


def test_a_probe_is_seen_once(run):
    run.write_probe("probe-0")
    assert (run.take_probe("probe-0"), run.take_probe("probe-0")) == (True, False)


def test_a_deleted_run_is_gone_and_size_counts_all_files(run):
    before = run.size()
    write_level(run, 0, {0: range(1000)})
    assert run.size() > before + 1000 * 16
    run.delete()
    assert not run.exists()
