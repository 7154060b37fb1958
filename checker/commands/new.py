"""``kafkaproof new``: a model of one's own to begin with, its test, and how to run both."""

from __future__ import annotations

import keyword
import re
import shlex
import sys
from importlib.resources import files
from pathlib import Path

from kafkaproof.checker.basics.errors import UserError
from kafkaproof.checker.commands.main import OK
from kafkaproof.spec.catalogue import SYSTEMS

WRITTEN = {"model.py.txt": "{}.py", "test_model.py.txt": "test_{}.py", "README.md.txt": "README.md"}
"""The templates, and the files that are made of them."""


def add_parser(commands) -> None:
    """Add the subcommand."""
    parser = commands.add_parser(
        "new",
        help="begin a model of your own",
        description="Write a small model, its test, and a README that says how to run both. Then change them into your own.",
        epilog="examples:\n  kafkaproof new semaphore\n  kafkaproof new ~/models/two-phase-commit",
    )
    parser.add_argument("directory", metavar="DIR", help="where to write; its last part is the name of the model")
    parser.set_defaults(run=run)


def run(options) -> int:
    """Write the files, none of which may be there, and say what to do next."""
    directory = Path(options.directory)
    system = directory.resolve().name
    name = _name(system)
    written = {directory / place.format(name): _text(template, system, name) for template, place in WRITTEN.items()}
    for file in written:
        if file.exists():
            raise UserError(f"{file} is there already; name another directory")
    directory.mkdir(parents=True, exist_ok=True)
    for file, text in written.items():
        file.write_text(text, encoding="utf-8")
    print(f"wrote {', '.join(map(str, written))}; next:")
    print(f"    cd {shlex.quote(str(directory))}")
    print(f"    kafkaproof check {name}.py:MODEL")
    print("    python -m pytest")
    return OK


def _name(system):
    """The name of the module; raises UserError for a directory after which nothing can be called."""
    name = re.sub(r"\W", "_", system)
    if not name.isidentifier() or keyword.iskeyword(name):
        raise UserError(f"{system!r} cannot be the name of a module of Python; name the directory otherwise")
    if name in sys.stdlib_module_names or name in ("kafkaproof", "pytest"):
        raise UserError(f"{name} is the name of a module that there is; name the directory otherwise")
    if system in SYSTEMS:
        raise UserError(f"{system} is a system of kafkaproof; name the directory otherwise")
    return name


def _text(template, system, name):
    text = files("kafkaproof.checker.commands").joinpath("template", template).read_text(encoding="utf-8")
    return text.replace("@SYSTEM@", system).replace("@NAME@", name)
