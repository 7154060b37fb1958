"""The `kafkaproof` command: it finds its subcommands among the installed packages, and reports errors in one line."""

from __future__ import annotations

import argparse
import importlib.metadata
import os
import sys
import tempfile
import traceback

from kafkaproof.checker.basics.errors import UserError
from kafkaproof.checker.basics.printable import only_printable
from kafkaproof.checker.commands.parser import BriefParser, CommandParser

GROUP = "kafkaproof.commands"
OK, VIOLATED, WRONG_USE, UNFINISHED = 0, 1, 2, 3


def parser(wanted: str | None = None) -> argparse.ArgumentParser:
    """The parser with every installed subcommand (entry points of the group `kafkaproof.commands`).

    If one of them is `wanted`, only that one is imported.
    """
    top = BriefParser(
        prog="kafkaproof",
        description="Check a model of Kafka's ZooKeeper-mode control plane, draw how it fails, replay logs of real clusters.",
        epilog="COMMAND --help explains each, with examples. "
        "Exit codes: 0 as expected, 1 violated or diverging, 2 wrong use or bad input, 3 not finished.",
    )
    top.add_argument("--version", action="version", version=importlib.metadata.version("kafkaproof"))
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND", parser_class=CommandParser)
    points = {point.name: point for point in importlib.metadata.entry_points(group=GROUP)}
    for name in [wanted] if wanted in points else sorted(points):
        points[name].load()(commands)
    return top


def main(arguments: list[str] | None = None) -> int:
    """Run one command; returns its exit code."""
    with only_printable():
        return _run(sys.argv[1:] if arguments is None else arguments)


def _run(arguments: list[str]) -> int:
    try:
        options = parser(arguments[0] if arguments else None).parse_args(arguments)
        return options.run(options)
    except UserError as error:
        return _say(error, error.code)
    except KeyboardInterrupt:
        kept = "; what is complete is kept, see `kafkaproof runs`" if options.command == "check" else ""
        return _say(f"interrupted{kept}", UNFINISHED)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return OK
    except OSError as error:
        return _say(f"{error.filename or 'input or output'}: {error.strerror or error}")
    except Exception as error:  # noqa: BLE001 - the last line of defence
        with tempfile.NamedTemporaryFile("w", prefix="kafkaproof-", suffix=".txt", delete=False) as file:
            traceback.print_exc(file=file)
        return _say(f"a defect of kafkaproof: {type(error).__name__}: {error}; details are in {file.name}")


def _say(text, code=WRONG_USE):
    print(f"kafkaproof: {text}", file=sys.stderr)
    return code
