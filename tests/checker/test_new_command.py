"""`kafkaproof new` writes a model, its test and a README, and all that these say is so."""

import json
import re
import subprocess
import sys
from importlib.resources import files

import pytest


@pytest.fixture
def written(kafkaproof, tmp_path, monkeypatch):
    """A directory that the command has written, as the working directory."""
    answer = kafkaproof("new", "house/two-keys")
    assert answer.code == 0
    assert answer.out.splitlines() == [
        "wrote house/two-keys/two_keys.py, house/two-keys/test_two_keys.py, house/two-keys/README.md; next:",
        "    cd house/two-keys",
        "    kafkaproof check two_keys.py:MODEL",
        "    python -m pytest",
    ]
    monkeypatch.chdir(tmp_path / "house" / "two-keys")
    return tmp_path / "house" / "two-keys"


def test_its_test_passes(written):
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--rootdir", "."]
    done = subprocess.run(command, cwd=written, capture_output=True, text=True)
    assert done.returncode == 0 and "2 passed" in done.stdout, done.stdout


def test_what_it_writes_is_formatted_as_all_else(written):
    command = [sys.executable, "-m", "ruff", "check", "--isolated", "--select", "E,F,I", "--line-length", "120", "."]
    assert subprocess.run(command, cwd=written, capture_output=True).returncode == 0
    command = [sys.executable, "-m", "ruff", "format", "--isolated", "--check", "--line-length", "120", "."]
    assert subprocess.run(command, cwd=written, capture_output=True).returncode == 0


def test_the_commands_of_its_readme_say_what_they_promise(written, kafkaproof):
    said = re.findall(r"^    kafkaproof (.*?) +#", (written / "README.md").read_text() + "    #", re.MULTILINE)
    assert len(said) == 7 and "    python -m pytest " in (written / "README.md").read_text()
    codes = {}
    for line in said:
        spark = ["--master", "local[2]"] if line.startswith("check") else []
        codes[line] = kafkaproof(*line.split(), *spark).code
    assert [line for line, code in codes.items() if code] == ["check two_keys.py:UNTOLD --run-dir run"]
    assert json.loads((written / "run" / "result.json").read_text())["trace_length"] == 6


@pytest.mark.parametrize(
    ("name", "complaint"),
    [
        ("random", "random is the name of a module that there is"),
        ("replication", "replication is a system of kafkaproof"),
        ("2pc", "'2pc' cannot be the name of a module of Python"),
        ("class", "'class' cannot be the name of a module of Python"),
    ],
)
def test_a_name_that_is_taken_is_refused(kafkaproof, tmp_path, name, complaint):
    assert complaint in kafkaproof("new", name).complaint
    assert not list(tmp_path.iterdir())


def test_nothing_is_overwritten(kafkaproof, tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "README.md").write_text("mine")
    assert "mine/README.md is there already; name another directory" in kafkaproof("new", "mine").complaint
    assert (tmp_path / "mine" / "README.md").read_text() == "mine" and not (tmp_path / "mine" / "mine.py").exists()


def test_it_writes_into_the_working_directory(kafkaproof, tmp_path):
    name = re.sub(r"\W", "_", tmp_path.name)
    assert kafkaproof("new", ".").code == 0 and (tmp_path / f"{name}.py").is_file()


def test_every_template_is_written():
    there = {file.name for file in files("kafkaproof.checker.commands").joinpath("template").iterdir()}
    from kafkaproof.checker.commands.new import WRITTEN

    assert there == WRITTEN.keys()
