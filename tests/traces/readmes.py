"""What the README of a recording tells, and its records as an independent program decoded them."""

import gzip
import json
from pathlib import Path


def records(directory: Path) -> list[dict]:
    """The records as JSON objects, the operations of a multi under `ops`."""
    with gzip.open(directory / "txnlog.jsonl.gz", "rt") as lines:
        return [json.loads(line) for line in lines]


def section(directory: Path, head: str) -> str:
    """A section of the README, from behind its head to the next; empty where there is none."""
    return (directory / "README.md").read_text().partition(f"## {head}")[2].partition("\n## ")[0]


def rows(directory: Path, head: str) -> list[list[str]]:
    """The cells of the tables in a section, without their heads."""
    lines = [line for line in section(directory, head).splitlines() if line.startswith("|")]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    heads = {place for place, row in enumerate(cells) if set(row[0]) == {"-"}}
    return [row for place, row in enumerate(cells) if place not in heads and place + 1 not in heads]
