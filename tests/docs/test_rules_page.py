"""Every function that docs/rules.md names is defined in a file that its row names."""

import re
from pathlib import Path

import pytest

from kafkaproof.spec.catalogue import all_models

ROOT = Path(__file__).parents[2]
ROWS = [
    row
    for row in (ROOT / "docs" / "rules.md").read_text(encoding="utf-8").splitlines()
    if row.startswith("| ") and "`spec/" in row
]


def defined(path: str) -> set[str]:
    """The names of the functions that a file defines."""
    return set(re.findall(r"^def (\w+)\(", (ROOT / path).read_text(encoding="utf-8"), re.MULTILINE))


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.split("|")[1].strip())
def test_its_functions_are_defined_in_its_files(row):
    _, _, *cells, _ = row.split("|")
    named = re.findall(r"`([\w/.]+)`", " ".join(cells))
    files = [name for name in named if "/" in name]
    assert [name for name in named if name not in files and not any(name in defined(file) for file in files)] == []


def test_every_system_of_kafka_has_a_row():
    there = {model.system.replace("-", "_") for model in all_models()}
    named = {folder for row in ROWS for folder in re.findall(r"`spec/(\w+)/", row)}
    assert there - named == {"replication", "async_isr"}, "of the systems, only the abstract ones have no row"
