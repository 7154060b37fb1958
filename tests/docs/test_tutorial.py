"""What the chapters for modellers have their readers write and run does what they say."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.chapters import DOCS, commands_in, files_in, text_of

CHAPTERS = ("tutorial.md", "tutorial-commit.md")
VIOLATED = {"lock.py:MODEL --run-dir found", "commit.py:EARLY --run-dir early", "commit.py:STOPS --run-dir stops"}
"""The checks that find a violation."""


def written(directory, *names):
    """Write the files of documents into a directory."""
    for name in names:
        for file, text in files_in(text_of(name)).items():
            (directory / file).write_text(text, encoding="utf-8")


def run_tests(directory):
    """Run pytest in a directory; its output, which says that all has passed."""
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--rootdir", "."]
    done = subprocess.run(command, cwd=directory, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
    return done.stdout


@pytest.mark.parametrize("name", [*CHAPTERS, "own-models.md", "testing.md"])
def test_every_block_of_python_belongs_to_a_file(name):
    text = text_of(name)
    assert text.count("```python") == len(re.findall(r"^```python \w+\.py$", text, re.MULTILINE)) > 0
    imported = re.findall(r"^(?:from|import) (\S+)", "\n".join(files_in(text).values()), re.MULTILINE)
    assert {*imported} <= {"kafkaproof.model", "kafkaproof.testing", "dataclasses", "lock"}


@pytest.mark.parametrize("name", CHAPTERS)
def test_a_chapter_is_as_it_says(name, tmp_path, kafkaproof):
    written(tmp_path, name)
    text, counts = text_of(name), []
    for command, *arguments in commands_in(text):
        asked = " ".join(arguments)
        if command == "check":
            answer = kafkaproof(command, *arguments, "--json", "--master", "local[2]")
            assert answer.code == (asked in VIOLATED), asked
            counts.append(answer.result["distinct"])
            for violation in answer.result["violations"]:
                assert f"in {violation['trace_length']} states" in text or "lasso" in text
            assert answer.result["expected"] in (True, None)
        elif command != "new":
            answer = kafkaproof(command, *arguments)
            assert answer.code == (asked == "commit.py:MODEL" and command == "prove"), asked
    told = {int(number.replace(",", "")) for number in re.findall(r"([\d,]+) states", text)}
    assert told - {5, 6} <= {*counts}, (told, counts)


def test_what_the_chapters_say_of_proofs_pictures_and_counts_is_so(tmp_path, kafkaproof):
    written(tmp_path, *CHAPTERS)
    answer = kafkaproof("check", "commit.py:MODEL", "--json", "--master", "local[2]")
    assert (answer.result["distinct"], answer.result["generated"], answer.result["depth"]) == (288, 1146, 11)
    proofs = {
        name: kafkaproof("prove", name, "--json").json["properties"] for name in ("commit.py:PROVED", "lock.py:CHECKED")
    }
    assert {entry["verdict"] for found in proofs.values() for entry in found} == {"proved"}
    kafkaproof("check", "commit.py:EARLY", "--run-dir", "early", "--json", "--master", "local[2]")
    assert kafkaproof("show", "early", "--svg", "early.svg").code == 0
    assert Path("early.svg").read_text(encoding="utf-8") == (DOCS / "tutorial-commit.svg").read_text(encoding="utf-8")


def test_the_first_chapter_has_a_test_that_passes(tmp_path):
    written(tmp_path, "tutorial.md")
    assert "2 passed" in run_tests(tmp_path)


def test_what_is_told_of_tests_passes_beside_the_first_chapter(tmp_path):
    written(tmp_path, "tutorial.md", "testing.md")
    run_tests(tmp_path)
    (failing := tmp_path / "test_unchecked.py").write_text(
        "from kafkaproof.testing import assert_holds\nfrom lock import MODEL\n\n\ndef test_it():\n    assert_holds(MODEL)\n"
    )
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", failing]
    told = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True).stdout
    assert "AssertionError: lock/unchecked (brokers 2, versions 2) violates no_stale_write in 5 states" in told
    assert "AssertionError: lock/unchecked (brokers 2, versions 2) violates no_stale_write in 5 states" in text_of(
        "testing.md"
    )


def test_a_variant_of_a_system_of_ours_is_checked(tmp_path, kafkaproof):
    written(tmp_path, "own-models.md")
    (file,) = files_in(text_of("own-models.md"))
    size = ["--brokers", "2", "--log", "1", "--records", "1", "--epochs", "1"]
    result = kafkaproof("check", f"{file}:MINE", *size, "--json", "--master", "local[2]").result
    assert (result["system"], result["variant"], result["expected"]) == ("replication", "mine", None)
    assert json.dumps(result)
