"""Many recordings replayed at once: one row each, each in a task of Spark where that is asked for."""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

from rich.markup import escape
from rich.table import Table

from kafkaproof.checker.commands.main import OK, UNFINISHED, VIOLATED, WRONG_USE
from kafkaproof.checker.commands.tables import console
from kafkaproof.traces.basics.tasks import shown
from kafkaproof.traces.processes.recorded.reading import is_recording

BETTER_FIRST = (OK, UNFINISHED, WRONG_USE, VIOLATED)
"""Exit codes: of several recordings the worst counts."""
COLOURS = {OK: "green", UNFINISHED: "yellow", WRONG_USE: "bold yellow", VIOLATED: "bold red"}


@dataclass(frozen=True)
class Row:
    """What the replay of one recording found: `steps` of its processes, or records of its log; `first_divergence` in
    words; `violations` by their ids; `error` where it could not be read; `code` as if it were the only one; `incidents`,
    of a log, by their kinds, without warnings; `problems`, of a log, a line each.
    """

    recording: str
    variant: str | None = None
    verdict: str = "bad-input"
    steps: int = 0
    first_divergence: str | None = None
    violations: tuple[str, ...] = ()
    error: str | None = None
    code: int = WRONG_USE
    incidents: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()


def recordings_in(directories: Iterable[Path]) -> list[Path]:
    """The directories, and instead of one that holds recordings of our own clusters all directories in it."""
    found: list[Path] = []
    for directory in directories:
        inner = [each for each in sorted(directory.iterdir()) if each.is_dir()] if directory.is_dir() else []
        holds = not is_recording(directory) and any(map(is_recording, inner))
        found += inner if holds else [directory]
    return found


def replay_all(directories: list[Path], one: Callable[[Path], Row], jobs=None) -> list[Row]:
    """The row of each recording, in order; `jobs` is Spark, None to replay one after the other here."""

    def row(directory: Path) -> Row:
        try:
            return one(directory)
        except Exception as error:  # a recording that is broken in an unforeseen way is a row, and the others go on
            return Row(str(directory), error=str(error) or type(error).__name__)

    progress = shown("recordings")
    if jobs:
        largest_first = sorted(directories, key=_bytes, reverse=True)
        found = dict(zip(largest_first, jobs.each(largest_first, row, progress)))
        return [found[directory] for directory in directories]
    rows = []
    for directory in directories:
        rows.append(row(directory))
        gc.collect()  # the command runs without the collector, which is for one recording
        progress(len(rows), len(directories))
    return rows


def _bytes(directory: Path) -> int:
    return sum(file.stat().st_size for file in directory.glob("**/*") if file.is_file())


def worst(rows: list[Row]) -> int:
    """The exit code of several recordings."""
    return max((row.code for row in rows), key=BETTER_FIRST.index)


def as_json(rows: list[Row]) -> dict:
    """The rows as `replay --json` prints them."""
    return {"format": 1, "recordings": [asdict(row) for row in rows]}


def print_rows(rows: list[Row]) -> None:
    """A table of all recordings, below it what is wrong with each, and how many conform."""
    out = console()
    common = os.path.commonpath([os.path.abspath(Path(row.recording).parent) for row in rows])
    table = Table(header_style="bold")
    for name in ("recording", "variant", "verdict", "steps", "violates", "went wrong"):
        table.add_column(name, justify="right" if name == "steps" else "left")
    for row in rows:
        table.add_row(
            escape(os.path.relpath(row.recording, common)),
            row.variant or "",
            f"[{'yellow' if row.code == OK and row.incidents else COLOURS[row.code]}]{row.verdict}[/]",
            f"{row.steps:,}",
            " ".join(row.violations),
            ", ".join(row.incidents),
        )
    out.print(table)
    for row in rows:
        if told := row.error or row.first_divergence:
            out.print(f"{row.recording}: {told}", soft_wrap=True, markup=False)
        for problem in row.problems:
            out.print(f"[yellow]problem[/]: {escape(problem)}", soft_wrap=True)
    fine = sum(row.code == OK for row in rows)
    out.print(
        f"{fine:,} of {len(rows):,} recordings conform and violate nothing unexpected, "
        f"{sum(row.steps for row in rows):,} steps in all"
    )
