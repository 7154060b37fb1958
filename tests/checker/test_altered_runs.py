"""What was damaged, exchanged or added in a run directory is told by every reader, and nothing else is deleted."""

import json
import os
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from kafkaproof.checker.check import run as runs
from kafkaproof.checker.check.run import source_of
from kafkaproof.checker.compile.kernel import Kernel
from kafkaproof.checker.explore.explorer import Limits
from kafkaproof.checker.liveness.graph import graph_of
from kafkaproof.checker.liveness.kernel import look_of
from kafkaproof.checker.liveness.labels import Labels
from kafkaproof.checker.runs.directory import RunDirectory, RunError
from kafkaproof.checker.runs.files import as_bytes, checksum
from kafkaproof.checker.spark.session import ClusterError
from kafkaproof.spec.catalogue import find
from kafkaproof.spec.language.model import always, eventually, eventually_always
from kafkaproof.spec.replication.replication import initial as begin
from tests.checker.arguments import kept, replication, resumed
from tests.checker.models import explored, kernel_of
from tests.checker.test_rundir import write_level
from tests.toys import clock, queue

TOLD = "the run was damaged or altered; begin a new one"


@pytest.fixture
def run(run_directory):
    """Three levels of two partitions."""
    run_directory.create({"system": "toy"})
    for level in range(3):
        write_level(run_directory, level, {0: range(10 * level, 10 * level + 6), 1: [10 * level + 7]})
    return run_directory


def folder(run, level) -> Path:
    """The directory of a level."""
    return Path(run.uri) / f"level-{level:05d}"


def part(run, level, partition=0) -> Path:
    """The file of a part."""
    return next(folder(run, level).glob(f"part-{partition}-*.parquet"))


def rewritten(path, rows=5):
    """A part with its first rows alone, as another would write it."""
    pq.write_table(pq.read_table(path).slice(0, rows), path)


def flipped(path):
    """One bit of a file changed, in the middle of it."""
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


def exchanged(one, other):
    """Two files, each with the name of the other."""
    one.rename(one.with_suffix(".aside"))
    other.rename(one)
    one.with_suffix(".aside").rename(other)


def fifo(path):
    """A file replaced by a pipe that nobody writes to."""
    path.unlink()
    os.mkfifo(path)


def edited(path, **change):
    """A file of JSON with other values."""
    path.write_text(json.dumps(json.loads(path.read_text()) | change))


def with_less(run, level):
    """A level that lost a row, whose manifest says so too, rightly summed up."""
    rewritten(part(run, level))
    manifest = json.loads((folder(run, level) / "level.json").read_text())
    for each in manifest["parts"]:
        file = folder(run, level) / each["file"]
        each |= {"bytes": file.stat().st_size, "sha256": checksum(file.read_bytes())}
        each |= {"states": len(pq.read_table(file))}
    (folder(run, level) / "level.json").write_text(json.dumps(manifest))


def run_sums(run):
    """The checksums of the levels, as the index has them."""
    return json.loads((Path(run.uri) / "levels.json").read_text())["levels"]


DAMAGE = {
    "rows lost from the last level": lambda run: rewritten(part(run, 2)),
    "rows lost from a level in the middle": lambda run: rewritten(part(run, 1)),
    "a bit": lambda run: flipped(part(run, 1)),
    "a part cut short": lambda run: part(run, 0).write_bytes(part(run, 0).read_bytes()[:-9]),
    "a part that is empty": lambda run: part(run, 0).write_bytes(b""),
    "a part that is gone": lambda run: part(run, 1).unlink(),
    "a pipe": lambda run: fifo(part(run, 1)),
    "parts of two levels": lambda run: exchanged(part(run, 0), part(run, 1)),
    "parts of two partitions": lambda run: exchanged(part(run, 1, 0), part(run, 1, 1)),
    "two levels": lambda run: exchanged(folder(run, 0), folder(run, 1)),
    "manifests of two levels": lambda run: exchanged(folder(run, 0) / "level.json", folder(run, 1) / "level.json"),
    "a manifest that is gone": lambda run: (folder(run, 1) / "level.json").unlink(),
    "a level that is gone": lambda run: shutil.rmtree(folder(run, 0)),
    "a manifest with other parts": lambda run: edited(folder(run, 1) / "level.json", parts=[]),
    "a level and its manifest": lambda run: with_less(run, 1),
    "the last level and its manifest": lambda run: with_less(run, 2),
    "an index that names no levels": lambda run: edited(Path(run.uri) / "levels.json", levels=3),
    "an index cut short": lambda run: edited(Path(run.uri) / "levels.json", levels=run_sums(run)[:1]),
    "an index that names a level twice": lambda run: edited(
        Path(run.uri) / "levels.json", levels=run_sums(run) + run_sums(run)[-1:]
    ),
    "an index that is gone": lambda run: (Path(run.uri) / "levels.json").unlink(),
    "an index that is no object": lambda run: (Path(run.uri) / "levels.json").write_text("[" * 100_000),
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
def test_a_level_that_is_not_as_it_was_written_is_told(run, damage):
    run.verify()
    damage(run)
    with pytest.raises(RunError, match=TOLD):
        run.verify()


@pytest.mark.parametrize("damage", [rewritten, flipped], ids=["rows lost", "a bit"])
def test_every_reader_of_states_tells_it(run, damage):
    levels = run.levels()
    damage(part(run, 1))
    for reader in (run.states, run.links):
        with pytest.raises(RunError, match=TOLD):
            list(reader(levels[1]))
    assert len(list(run.states(levels[0]))) == 2


def forged(run, level, change):
    """A manifest with other contents, and an index that fits it: what checksums cannot tell."""
    path, index = folder(run, level) / "level.json", Path(run.uri) / "levels.json"
    manifest = json.loads(path.read_text())
    change(manifest["parts"])
    path.write_bytes(as_bytes(manifest))
    sums = json.loads(index.read_text())
    sums["levels"][level] = checksum(path.read_bytes())
    index.write_text(json.dumps(sums))


@pytest.mark.parametrize("name", ["../level-00000/{}", "{}/../{}", "/etc/passwd", "../../{}", "part-0-x.parquet", ""])
def test_even_a_forged_manifest_names_no_file_outside_its_level(run, name, tmp_path):
    here = part(run, 2).name
    shutil.copy(part(run, 2), tmp_path / here)
    forged(run, 2, lambda parts: parts[0].update(file=name.format(here, here)))
    with pytest.raises(RunError, match="which is not a part; " + TOLD):
        run.verify()


def test_a_part_that_is_named_twice_is_told(run):
    forged(run, 2, lambda parts: parts.append(parts[0]))
    with pytest.raises(RunError, match="level-00002/level.json names a part twice"):
        run.levels()


@pytest.mark.parametrize("parts", [3, [3], [{}], [{"file": 3}], None])
def test_a_forged_manifest_that_names_no_files_is_told(run, parts):
    path = folder(run, 2) / "level.json"
    path.write_bytes(as_bytes(json.loads(path.read_text()) | {"parts": parts}))
    edited(Path(run.uri) / "levels.json", levels=run_sums(run)[:2] + [checksum(path.read_bytes())])
    with pytest.raises(RunError, match=TOLD):
        run.verify()


def test_a_forged_level_does_not_fit_the_one_behind_it(run):
    forged(run, 1, lambda parts: parts.pop())
    with pytest.raises(RunError, match="level-00002 does not follow the level before; " + TOLD):
        run.levels()


def test_the_levels_of_another_run_do_not_fit(run, tmp_path):
    other = RunDirectory(str(tmp_path / "other"))
    other.create({"system": "other"})
    write_level(other, 0, {0: [1]})
    shutil.rmtree(folder(run, 0))
    shutil.copytree(folder(other, 0), folder(run, 0))
    edited(Path(run.uri) / "levels.json", levels=run_sums(other))
    with pytest.raises(RunError, match="level-00000 does not follow the level before"):
        run.levels()


def test_a_level_that_is_a_link_is_not_emptied(run, tmp_path):
    (tmp_path / "precious").mkdir()
    (tmp_path / "precious" / "file").write_text("")
    (Path(run.uri) / "level-00003").symlink_to(tmp_path / "precious")
    (Path(run.uri) / "liveness").symlink_to(tmp_path / "precious")
    for use in (lambda: run.begin_level(3), lambda: run.delete_columns("liveness"), run.delete):
        with pytest.raises(RunError, match="link|is not of a run"):
            use()
    assert (tmp_path / "precious" / "file").exists()


@pytest.mark.parametrize("name", ["notes.txt", "level-00001/notes.txt", "level-00001/part-1.parquet", "src/run.json"])
def test_a_directory_that_holds_something_else_is_not_deleted(run, name):
    precious = Path(run.uri) / name
    precious.parent.mkdir(exist_ok=True)
    precious.write_text("")
    with pytest.raises(
        RunError, match="which does not belong to a run; a directory is deleted when all in it is a run's"
    ):
        run.delete()
    assert precious.exists() and run.exists()
    precious.unlink()
    if precious.parent.name == "src":
        precious.parent.rmdir()
    run.delete()
    assert not Path(run.uri).exists()


def test_a_link_to_a_run_is_not_followed_to_delete_it(run, tmp_path):
    (tmp_path / "link").symlink_to(run.uri)
    for name in (f"{tmp_path}/link", f"{tmp_path}/link/", f"file://{tmp_path}/link"):
        with pytest.raises(RunError, match="is a link to"):
            RunDirectory(name).delete()
    run.verify()


def test_one_process_alone_goes_on_with_a_run(kafkaproof, tmp_path):
    kafkaproof(*replication("kip320", 2, 1, 1, 1), "--max-depth", "3", *kept("run"))
    with RunDirectory(str(tmp_path / "run")).held():
        for command in (resumed("run"), ("runs", "--delete", "run")):
            assert "another process is using" in kafkaproof(*command).complaint
    assert kafkaproof(*resumed("run")).code == 0
    assert kafkaproof("runs", "--delete", "run").code == 0 and not (tmp_path / "run").exists()


def test_a_level_that_another_process_has_completed_is_not_emptied(run):
    with pytest.raises(RunError, match="another process has completed level 2; let one alone go on"):
        run.begin_level(2)
    run.verify()


def test_two_fields_in_a_file_do_not_make_a_run(tmp_path):
    (tmp_path / "run.json").write_text('{"format": 3, "system": "toy"}')
    with pytest.raises(RunError, match="lacks the file levels.json"):
        RunDirectory(str(tmp_path)).delete()
    assert (tmp_path / "run.json").exists()


def test_a_directory_that_is_in_use_for_something_else_takes_no_run(tmp_path):
    (tmp_path / "level-00000").mkdir()
    (tmp_path / "level-00000" / "precious").write_text("")
    with pytest.raises(RunError, match="holds level-00000/precious, which does not belong to a run; name a directory"):
        RunDirectory(str(tmp_path)).create({})


def test_a_loop_of_links_is_not_followed_to_measure_a_run(run):
    size = run.size()
    (Path(run.uri) / "loop").symlink_to(run.uri)
    assert size <= run.size() < 2 * size


def test_an_outcome_that_was_changed_or_is_of_other_levels_is_told(run, tmp_path):
    run.write_result({"verdict": "violated"})
    assert run.result() == {"verdict": "violated"}
    whole = Path(run.uri) / "result.json"
    kept_result = whole.read_bytes()
    edited(whole, verdict="holds")
    with pytest.raises(RunError, match="result.json is not as it was written; resume the run"):
        run.result()
    whole.write_bytes(kept_result)
    write_level(run, 3, {0: [1]})
    assert run.result() is None, "more levels have come, as after a kill"
    index = Path(run.uri) / "levels.json"
    edited(index, levels=run_sums(run)[:1])
    with pytest.raises(RunError, match="result.json is of other levels than there are"):
        run.result()


@pytest.mark.parametrize("change", [{"scope": {}}, {"properties": ["other"]}, {"deadlock": True}, {"system": "toys"}])
def test_what_is_explored_cannot_be_changed(run, change):
    edited(Path(run.uri) / "run.json", **change)
    for use in (run.run, run.delete):
        with pytest.raises(RunError, match="run.json is not as it was written"):
            use()


DESCRIPTION = {
    "system": "toy",
    "variant": "v",
    "model": None,
    "scope": {"things": 1},
    "properties": ["p"],
    "keep_going": False,
    "deadlock": False,
    "symmetry": None,
    "partitions": 1,
    "source": "",
    "created": "today",
}


@pytest.mark.parametrize("name", DESCRIPTION)
def test_what_a_run_says_of_itself_is_whole_or_told(tmp_path, name, kafkaproof):
    whole, other = RunDirectory(str(tmp_path / "whole")), RunDirectory(str(tmp_path / "other"))
    whole.create(DESCRIPTION)
    assert whole.described().items() >= DESCRIPTION.items()
    wrong = {"scope": {"things": "1"}, "properties": [1], "partitions": 0}
    other.create(DESCRIPTION | {name: wrong.get(name, 0.5)})
    told = f"its run.json does not say {name}; begin a new run"
    with pytest.raises(RunError, match=told):
        other.described()
    assert told in kafkaproof("runs", ".", "--json").json["runs"][0]["state"]


@pytest.mark.parametrize("levels", [None, [], {}, {"run": "", "levels": 3}])
def test_an_outcome_that_is_of_no_levels_is_told(run, levels):
    forged_result = {"verdict": "holds", "levels": levels}
    sealed = forged_result | {"sha256": checksum(as_bytes(forged_result))}
    (Path(run.uri) / "result.json").write_bytes(as_bytes(sealed))
    with pytest.raises(RunError, match="result.json is not as it was written"):
        run.result()


def test_liveness_does_not_read_what_was_altered(run_directory):
    kernel = kernel_of(queue())
    explored(run_directory, kernel)
    look = look_of(kernel, Labels(kernel.model, kernel.scope, ()))
    assert len(graph_of(run_directory, look).states)
    flipped(part(run_directory, 2, "all"))
    with pytest.raises(RunError, match=TOLD):
        graph_of(run_directory, look)


@pytest.mark.parametrize("level", [1, 3], ids=["in the middle", "the last one"])
def test_tasks_of_spark_do_not_go_on_from_what_was_altered(run_directory, spark, level):
    """Here nobody has read all levels first, as `check --resume` does."""
    kernel = kernel_of(queue())
    explored(run_directory, kernel, limits=Limits(depth=4))
    rewritten(part(run_directory, level, "all"), rows=0)
    with pytest.raises(ClusterError, match=f"level-0000{level}/part-all-.*{TOLD}"):
        explored(run_directory, kernel, spark, 2)


def test_columns_beside_the_levels_are_checked_too(run):
    run.write_columns("liveness/known-0", {"x": np.arange(100_000)})
    assert (run.read_columns("liveness/known-0")["x"] == np.arange(100_000)).all()
    flipped(Path(run.uri) / "liveness" / "known-0.parquet")
    with pytest.raises(RunError, match="cannot read the run directory"):
        run.read_columns("liveness/known-0")


def at_zero(s):
    """Zero."""
    s.time = 0


def test_a_run_is_of_its_initial_states_and_of_its_properties_with_their_kinds():
    model = clock()
    goal, step = model.properties
    models = [model, replace(model, initial=at_zero)] + [
        replace(model, properties=properties)
        for properties in (
            (goal,),
            (step,),
            (always(goal.predicate), step),
            (always(goal.predicate, "other"), step),
            (replace(goal, name="other"), step),
            (goal, replace(step, of=("tick", "tock"))),
            (goal, step, eventually(goal.predicate, given=(), name="at_last")),
            (goal, step, eventually_always(goal.predicate, given=(), name="at_last")),
        )
    ]
    assert len({source_of(Kernel(each, each.scope, each.properties)) for each in models}) == len(models)
    assert source_of(kernel_of(model)) == source_of(kernel_of(clock()))


def begun_with_a_record(s):
    """One record has been numbered already."""
    begin(s)
    s.next_record = 1


def test_a_run_whose_initial_states_have_changed_since_is_not_resumed(kafkaproof, monkeypatch):
    kafkaproof(*replication("kip320", 2, 1, 1, 1), *kept("run"))
    [model] = find("replication", "kip320")
    monkeypatch.setattr(runs, "found_again", lambda named: replace(model, initial=begun_with_a_record))
    assert "was made by another version of replication/kip320; begin a new run" in kafkaproof(*resumed("run")).complaint


def test_the_command_tells_it_in_a_line(kafkaproof, tmp_path):
    """The last level of a run that was stopped loses rows; what was not lost would give a smaller graph that holds."""
    assert kafkaproof(*replication("kip320", 2, 1, 1, 1), "--max-depth", "6", *kept("run")).code == 3
    rewritten(next((tmp_path / "run" / "level-00005").glob("*.parquet")))
    assert TOLD in kafkaproof(*resumed("run")).complaint
    assert kafkaproof("runs", ".").code == 0 and kafkaproof("runs", "--delete", "run").code == 0


def test_a_file_system_without_links_or_paths_of_this_machine_is_as_good():
    run = RunDirectory("mock:///bucket/run")
    run.create({"system": "toy"})
    for level in range(3):
        write_level(run, level, {0: [level], 1: []})
    run.verify()
    run.write_result({"verdict": "holds"})
    assert run.result() and run.size() > 0 and len(run.levels()) == 3
    run.delete()
    assert not run.exists()
