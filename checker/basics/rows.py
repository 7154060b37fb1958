"""Pages that are one table, of which each row begins with the name of a model."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path


def renew(file: Path, header: str, made: dict[str, list[str]], models: Iterable[str]) -> None:
    """Write the rows in `made`, by model, in the place of those that `file` has; of the other `models`, these stay.

    `header` is all that stands before the first row; the rows are in the order of `models`.
    """
    written = file.read_text(encoding="utf-8").removeprefix(header).splitlines() if file.exists() else []
    rows: dict[str, list[str]] = {}
    for line in written:
        rows.setdefault(line.split(" | ")[0].removeprefix("| "), []).append(line)
    lines = [line for model in models for line in (rows | made).get(model, ())]
    file.write_text(header + "\n".join(lines) + "\n", encoding="utf-8")


def row(*cells: object) -> str:
    """A row of a Markdown table."""
    return "| " + " | ".join(map(str, cells)) + " |"
