"""``kafkaproof completion``: what a shell completes, written once into its folder of completions, so that it answers at once."""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

import shtab

from kafkaproof.checker.commands.main import OK, parser
from kafkaproof.checker.commands.parser import CommandParser
from kafkaproof.checker.commands.scenario import bundled
from kafkaproof.spec.catalogue import SYSTEMS, all_models

SHELLS = ("bash", "zsh", "fish")
EPILOG = """Afterwards, in a new shell, Tab completes commands, options, sizes, systems, variants, scopes, scenarios and files.

  bash   mkdir -p ~/.local/share/bash-completion/completions
         kafkaproof completion bash > ~/.local/share/bash-completion/completions/kafkaproof
  zsh    kafkaproof completion zsh > ~/.zsh/_kafkaproof, where ~/.zsh is in $fpath before compinit
  fish   kafkaproof completion fish > ~/.config/fish/completions/kafkaproof.fish
"""
_ALONE = {"bash": 'compgen -W "%s" -- "$1";', "zsh": "compadd -- %s;", "fish": "(printf '%%s\\n' %s)"}
_FILES_TOO = {
    "bash": _ALONE["bash"] + ' compgen -f -- "$1";',
    "zsh": _ALONE["zsh"] + " _files;",
    "fish": "(printf '%%s\\n' %s; __fish_complete_path (commandline -ct))",
}
"""What offers words, and what offers files with them."""
_FILES = "FILE", "DIR", "RUN", "OUT"
"""So the names of arguments begin that are files or directories, though they are read as text."""


def add_parser(commands) -> None:
    """Add the subcommand."""
    command = commands.add_parser(
        "completion",
        help="print what makes Tab complete in bash, zsh or fish",
        description="Print the completions of kafkaproof for a shell. Print them again after an update.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    command.add_argument("shell", metavar="SHELL", choices=SHELLS, help=f"one of {', '.join(SHELLS)}")
    command.set_defaults(run=run)


def run(options) -> int:
    """Print the completions."""
    print(shtab.complete(_completed(parser()), shell=options.shell))
    return OK


def _completed(top: argparse.ArgumentParser) -> argparse.ArgumentParser:
    """The parser with what completes each argument, and with the options for the sizes of all systems."""
    (commands,) = (action for action in top._actions if isinstance(action, argparse._SubParsersAction))
    for command in commands.choices.values():
        if isinstance(command, CommandParser) and command.learn:
            command.learn(command, SYSTEMS)
        for action in command._actions:
            if not action.choices and (completed := _completes(action)):
                action.complete = completed  # type: ignore[attr-defined]
    return top


def _completes(action: argparse.Action) -> dict | None:
    """What shtab is told of an argument; None where nothing is known."""
    scenarios = [each.name for each in bundled()]
    if action.dest == "system" and "SCENARIO" in str(action.metavar):
        return _words("systems_or_scenarios", [*SYSTEMS, *scenarios], files=True)
    if action.dest == "system":
        return _words("systems", SYSTEMS, files=True)
    if action.dest == "name":
        return _words("scenarios", scenarios, files=True)
    if action.dest == "scope":
        return _words("scopes", list(dict.fromkeys(name for model in all_models() for name in model.scopes)))
    if action.dest == "variant":
        return _variants()
    return shtab.FILE if action.type is Path or str(action.metavar).startswith(_FILES) else None


def _words(name: str, words: Sequence[str], files: bool = False) -> dict:
    """These words, and files with them."""
    bash, zsh, fish = (_FILES_TOO if files else _ALONE).values()
    function, listed = f"_kafkaproof_{name}{'_or_file' if files else ''}", " ".join(words)
    return {
        "bash": function,
        "zsh": function,
        "fish": fish % listed,
        "preamble": {"bash": f"{function}() {{ {bash % listed} }}", "zsh": f"{function}() {{ {zsh % listed} }}"},
    }


def _variants() -> dict:
    """The variants of the system that the line names; of a command without a system, all."""
    of: dict[str, list[str]] = defaultdict(list)
    for model in all_models():
        of[model.system].append(model.variant)
    every = list(dict.fromkeys(variant for variants in of.values() for variant in variants))
    return {
        "bash": "_kafkaproof_variants",
        "zsh": "_kafkaproof_variants",
        "fish": _ALONE["fish"] % " ".join(every),
        "preamble": {
            "bash": _by_system("COMP_WORDS", _ALONE["bash"], of, every),
            "zsh": _by_system("words", _ALONE["zsh"], of, every),
        },
    }


def _by_system(line: str, command: str, of: dict[str, list[str]], every: list[str]) -> str:
    """A function of bash or zsh that offers what belongs to the first system in the words of the line."""
    cases = "\n".join(f"{system}) {command % ' '.join(words)} return;;" for system, words in of.items())
    loop = f'for word in "${{{line}[@]}}"; do case "$word" in\n{cases}\nesac; done'
    return f"_kafkaproof_variants() {{\nlocal word\n{loop}\n{command % ' '.join(every)}\n}}"
