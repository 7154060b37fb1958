"""``kafkaproof runs``: the runs that are kept, their sizes, and their deletion."""

from __future__ import annotations

import json
from pathlib import Path

from rich.table import Table

from kafkaproof.checker.basics.errors import UserError
from kafkaproof.checker.commands.main import OK
from kafkaproof.checker.commands.tables import console, explored_text
from kafkaproof.checker.runs.directory import RunDirectory, RunError

DIRECTORY = "runs"


def add_parser(commands) -> None:
    """Add the subcommand."""
    parser = commands.add_parser(
        "runs",
        help="list, size and delete runs",
        description="List the runs that check has kept in a directory, or delete some.",
        epilog="examples:\n  kafkaproof runs\n  kafkaproof runs --delete runs/replication-kip320-20260101-120000-1f2e",
    )
    parser.add_argument("directory", nargs="?", default=DIRECTORY, help="where to look (default %(default)s)")
    parser.add_argument("--delete", action="append", default=[], metavar="RUN", help="delete this run (repeatable)")
    parser.add_argument("--json", action="store_true", help="print as JSON")
    parser.set_defaults(run=run)


def run(options) -> int:
    """Delete the runs that are named, or list all."""
    if options.delete:
        for name in options.delete:
            RunDirectory(name).delete()
            print(f"deleted {name}")
        return OK
    if options.directory != DIRECTORY and not Path(options.directory).is_dir():
        raise UserError(f"there is no directory {options.directory}")
    entries = [_entry(path.parent) for path in sorted(Path(options.directory).glob("**/run.json"))]
    if options.json:
        print(json.dumps({"format": 1, "runs": entries}, indent=2))
        return OK
    if not entries:
        print(f"no runs in {options.directory}")
        return OK
    table = Table(header_style="bold")
    table.add_column("run", no_wrap=True, min_width=max(len(entry["run_dir"]) for entry in entries))
    for name in ("model", "scope", "begun", "state"):
        table.add_column(name)
    table.add_column("distinct", justify="right")
    table.add_column("MiB", justify="right")
    for entry in entries:
        table.add_row(
            entry["run_dir"],
            f"{entry['system']}/{entry['variant']}",
            explored_text(entry),
            entry["created"],
            entry["state"],
            f"{entry['distinct']:,}",
            f"{entry['bytes'] / 2**20:,.1f}",
        )
    console().print(table)
    return OK


def _entry(path):
    directory = RunDirectory(str(path))
    try:
        manifest, result, levels = directory.described(), directory.result(), directory.levels()
    except RunError as error:
        return {
            "run_dir": str(path),
            "system": "?",
            "variant": "?",
            "scope": {},
            "symmetry": None,
            "created": "",
            "distinct": 0,
            "state": str(error),
            "bytes": directory.size(),
        }
    return {
        "run_dir": str(path),
        "system": manifest["system"],
        "variant": manifest["variant"],
        "scope": manifest["scope"],
        "symmetry": manifest["symmetry"],
        "created": manifest["created"],
        "state": _state(manifest, result),
        "distinct": sum(part["states"] for level in levels for part in level["parts"]),
        "bytes": directory.size(),
    }


def _state(manifest, result) -> str:
    verdict = str(result.get("verdict")) if result else "unfinished"
    return f"walks: {verdict}" if manifest.get("walks") else verdict
