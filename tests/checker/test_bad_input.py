"""Wrong use and bad input are told in one clear line, never by a traceback."""

import json
import re
import subprocess
import sys

import pytest

from kafkaproof.checker.model.selection import properties_of
from kafkaproof.checker.runs.files import checksum
from kafkaproof.spec.catalogue import find
from tests.checker.arguments import kept, replication, resumed

KIP320 = "check replication --variant kip320"
SMALL = ("kip320", 2, 1, 1, 1)


@pytest.mark.parametrize(
    ("command", "complaint"),
    [
        ("check nosuch", "no system 'nosuch'; there are "),
        ("list nosuch", "no system 'nosuch'; there are "),
        ("check replication --variant kip9", "replication has no variant 'kip9'; there are truncate-to-hw, "),
        ("check --variant kip320", "--variant V needs a system: kafkaproof check SYSTEM --variant V"),
        (f"{KIP320} --property nosuch", "replication has no property 'nosuch'; it has weak_isr, "),
        (f"{KIP320} --brokers 8", "brokers goes from 1 to 7, not 8"),
        (f"{KIP320} --brokers 0", "brokers goes from 1 to 7, not 0"),
        (f"{KIP320} --epochs -1", "epochs goes from 0 to 8, not -1"),
        (f"{KIP320} --scope nosuch", "replication has no scope 'nosuch'; it has standard, quick, deep"),
        (f"{KIP320} --faults 1", "replication has no bound 'faults'; it has brokers, log, records, epochs"),
        ("check partition --brokers 2 --replicas 3", "partition: 3 replicas need as many brokers"),
        (f"{KIP320} --property none.py:holds", "no file none.py"),
        (f"{KIP320} --master nosuch", "unknown Spark master 'nosuch'; try local[*]"),
        (f"{KIP320} --master spark://127.0.0.1:1", "cannot reach the Spark master spark://127.0.0.1:1: "),
        ("check --resume nowhere", "nowhere is not a run directory: there is no such directory"),
        ("runs --delete nowhere", "nowhere is not a run directory: there is no such directory"),
        ("runs nowhere", "there is no directory nowhere"),
        ("explore electon", "no system, scenario, file or directory 'electon'; systems are "),
        ("explore .", ". is no run, no recording, and no directory of ZooKeeper's logs"),
        ("show nowhere", "no file or directory 'nowhere'; name a run (`kafkaproof runs` lists them)"),
    ],
)
def test_wrong_use_is_refused_before_anything_is_started(kafkaproof, tmp_path, command, complaint):
    assert complaint in kafkaproof(*command.split()).complaint
    assert list(tmp_path.iterdir()) == []


def test_who_reads_no_further_does_not_make_it_a_violation():
    command = "from kafkaproof.checker.commands.main import main; exit(main(['list', 'election']))"
    piped = f'{sys.executable} -c "{command}" | head -1; exit ${{PIPESTATUS[0]}}'
    done = subprocess.run(["bash", "-c", piped], capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stderr, done.stdout.count("\n")) == (0, "", 1)


@pytest.mark.parametrize(
    ("command", "meant"),
    [
        ("chek election", "did you mean check?; see kafkaproof --help"),
        (
            "check election --varant x",
            "unrecognized arguments: --varant x; did you mean --variant?; see kafkaproof check",
        ),
        ("check election --brokrs=3", "did you mean --brokers?"),
        ("replay logs --jsn", "did you mean --json?"),
        ("replay logs --fail-on uncleen", "did you mean unclean?"),
        ("completion bsh", "did you mean bash?"),
        ("check election --brokers many", "argument --brokers: 'many' is not a whole number; see"),
    ],
)
def test_what_was_meant_by_a_name_that_is_nearly_one(kafkaproof, capsys, command, meant):
    with pytest.raises(SystemExit):
        kafkaproof(*command.split())
    assert meant in capsys.readouterr().err


@pytest.mark.parametrize(
    "command",
    [
        f"{KIP320} --nosuch 1",
        f"{KIP320} --max-disk much",
        f"{KIP320} --max-disk=-1G",
        f"{KIP320} --max-states=-1",
        f"{KIP320} --max-depth=many",
        f"{KIP320} --max-minutes=nan",
        "nosuch",
        "",
    ],
)
def test_unknown_commands_and_options_are_refused(kafkaproof, capsys, command):
    with pytest.raises(SystemExit) as refused:
        kafkaproof(*command.split())
    said = capsys.readouterr().err
    assert refused.value.code == 2 and said.count("\n") == 1 and said.endswith(" --help\n")


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("def other(s):\n    return True\n", "mine.py has no function 'holds'; "),
        ("holds = 3\n", "mine.py has no function 'holds'; "),
        ("import sys\n\nsys.exit(0)\n", "mine.py:3: SystemExit: 0"),
        ("def holds(s:\n", "mine.py:1: SyntaxError: "),
        ("def holds(s):\n    return s.nosuch == 0\n", "there is no field nosuch: s.nosuch, mine.py:2"),
        ("def holds(s, t):\n    return True\n", "it is called with 1 arguments: def holds(s, t):, mine.py:1"),
        ("def holds(s):\n    return all([True for _ in s.replicas])\n", "mine.py:2"),
        ("import nosuch\n", "mine.py:1: ModuleNotFoundError: "),
    ],
)
def test_a_property_that_is_no_property_is_refused(kafkaproof, tmp_path, text, complaint):
    (tmp_path / "mine.py").write_text(text)
    answer = kafkaproof(*replication(*SMALL), "--property", "mine.py:holds", *kept("run"))
    assert complaint in answer.complaint and "defect" not in answer.complaint
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("name", ["spec", "test", "checker"])
def test_a_file_of_ones_own_may_have_any_name(tmp_path, name):
    file = tmp_path / f"{name}.py"
    file.write_text("def is_true(s):\n    return True\n\n\ndef holds(s):\n    return is_true(s)\n")
    model, modules = find("replication", "kip320")[0], dict(sys.modules)
    assert [p.name for p in properties_of(model, model.scope, (f"{file}:holds",))] == ["holds"]
    assert modules.items() <= sys.modules.items()


def test_java_that_is_missing_or_too_old_is_told(kafkaproof, tmp_path, monkeypatch):
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    command = [*replication(*SMALL), "--master", "local[1]"]
    assert "no java under JAVA_HOME" in kafkaproof(*command).complaint
    (tmp_path / "bin").mkdir()
    java = tmp_path / "bin" / "java"
    java.write_text("#!/bin/sh\necho 'openjdk version \"1.8.0_402\"' >&2\n")
    java.chmod(0o755)
    assert "is Java 8; Spark needs Java 17 or later" in kafkaproof(*command).complaint
    monkeypatch.delenv("JAVA_HOME")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert "no java on PATH" in kafkaproof(*command).complaint


def test_a_directory_in_use_is_not_used_again(kafkaproof):
    kafkaproof(*replication(*SMALL), *kept("run"))
    assert "already holds a run; resume it with --resume" in kafkaproof(*replication(*SMALL), *kept("run")).complaint


def test_a_directory_that_cannot_be_made_is_told(kafkaproof, tmp_path):
    (tmp_path / "file").write_text("")
    assert "cannot create the run directory" in kafkaproof(*replication(*SMALL), *kept("file/run")).complaint


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"source": "other"}, "was made by another version of replication/kip320"),
        ({"format": 99}, "was written by another version (format 99, not 3)"),
        ({"variant": "kip9"}, "cannot be resumed: replication has no variant 'kip9'"),
        ({"properties": ["nosuch"]}, "cannot be resumed: replication has no property 'nosuch'"),
    ],
)
def test_a_run_of_another_model_or_version_is_not_resumed(kafkaproof, tmp_path, change, complaint):
    kafkaproof(*replication(*SMALL), "--max-depth", "3", *kept("run"))
    run, levels = tmp_path / "run" / "run.json", tmp_path / "run" / "levels.json"
    run.write_text(json.dumps(json.loads(run.read_text()) | change))
    levels.write_text(json.dumps(json.loads(levels.read_text()) | {"run": checksum(run.read_bytes())}))
    assert complaint in kafkaproof(*resumed("run")).complaint


@pytest.mark.parametrize("broken", ["run.json", "levels.json", "level-00001/level.json"])
def test_a_broken_run_is_not_resumed(kafkaproof, tmp_path, broken):
    kafkaproof(*replication(*SMALL), "--max-depth", "3", *kept("run"))
    (tmp_path / "run" / broken).write_text("{")
    assert re.search(f"{broken} is not (readable|as it was written)", kafkaproof(*resumed("run")).complaint)
    assert kafkaproof("runs", ".").code == 0
