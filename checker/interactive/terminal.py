"""Exploring in a terminal, or through a pipe: a line in, what is there out."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TextIO

from kafkaproof.checker.basics.errors import UserError
from kafkaproof.checker.basics.words import counted
from kafkaproof.checker.interactive.session import Session
from kafkaproof.checker.interactive.written import command_of, live_command, page_of, scenario_text, trace_text
from kafkaproof.checker.runs.counterexample import Trace
from kafkaproof.spec.language.model import FAULT

HELP = """\
N or STEP       take a step: its number in the list, or its text
back [N]        step back, once or N times          start        back to the initial state
why TRANSITION  why it is not possible here         impossible   what is not possible here
state [TEXT]    the state, or fields with TEXT      find TEXT    what has TEXT in its name or words
properties      the status of each property         metrics      what operators would see
path            the steps so far                    save FILE    FILE.scenario, FILE.json (a trace) or FILE.html
command         the command that opens this place   quit         end
live FILE.json  save the path, and give the command that drives running brokers along it"""
_SHOWN = 8
"""So many of the states that are possible are listed."""
WRITERS: dict[str, Callable[[Session, Trace], str]] = {
    ".scenario": scenario_text,
    ".json": trace_text,
    ".html": page_of,
}


class Terminal:
    """Reads commands and prints answers, from a trace on."""

    def __init__(self, session: Session, begin: Trace, source: TextIO):
        self._session, self._source = session, source
        self._initial = session.initial_of(begin)
        self._steps = [str(step) for step, _, _ in begin.steps]
        self._asks = source.isatty()

    def run(self) -> None:
        """Read commands to the end of the source, or to `quit`."""
        self._look()
        if opened := self._session.opened:
            print(*opened.told, *_choices(opened.labels), sep="\n")
        self._show_place()
        while (line := self._line()) is not None:
            word, _, rest = line.strip().partition(" ")
            if word in ("quit", "exit"):
                return
            try:
                self._do(word, rest.strip(), line.strip())
            except UserError as error:
                print(f"{error}")

    def _line(self) -> str | None:
        if self._asks:
            print("> ", end="", flush=True)
        return self._source.readline() or None

    def _look(self) -> None:
        self._trace = self._session.trace(self._initial, self._steps)
        self._seen = self._session.look(self._trace)
        possible = (step for group in self._seen["possible"] for step in group["steps"])
        self._possible = sorted(possible, key=lambda step: step["kind"] == FAULT)

    def _do(self, word, rest, line) -> None:
        answers = {
            "help": lambda: print(HELP),
            "why": lambda: self._why(rest),
            "impossible": lambda: self._list(self._seen["impossible"], rest),
            "state": lambda: self._show_state(rest),
            "find": lambda: self._find(rest),
            "properties": lambda: self._show_properties(rest),
            "metrics": lambda: [print(f"  {m['name']} {m['value']}") for m in self._seen["metrics"]],
            "path": lambda: [print(f"{n:>4}  {step}") for n, step in enumerate(self._steps, start=1)],
            "save": lambda: self._save(rest),
            "live": lambda: self._live(rest),
            "command": lambda: print(command_of(self._session, self._trace)),
        }
        if not word:
            return
        if word in answers:
            answers[word]()
        elif word in ("back", "start"):
            self._back(len(self._steps) if word == "start" else self._number(rest or "1"))
        else:
            self._take(line)

    def _live(self, name) -> None:
        command = live_command(self._session, name)
        if Path(name).suffix != ".json":
            raise UserError("live FILE.json: name the file that the path is saved to")
        self._save(name)
        print(command)

    def _why(self, name) -> None:
        for guard in self._session.why(self._trace.last, name) or [f"every step of {name} is possible here"]:
            print(f"  {guard}")

    def _number(self, text) -> int:
        if not text.isdigit():
            raise UserError(f"{text!r} is not a number; `help` lists the commands")
        return int(text)

    def _back(self, count) -> None:
        self._go(self._steps[: max(0, len(self._steps) - count)])

    def _take(self, line) -> None:
        if not line.isdigit() and "(" not in line:
            raise UserError(f"no command {line.partition(' ')[0]!r}; `help` lists them")
        if line.isdigit() and not 1 <= int(line) <= len(self._possible):
            raise UserError(f"no step {line}; {len(self._possible)} are possible here")
        self._go([*self._steps, self._possible[int(line) - 1]["text"] if line.isdigit() else line])

    def _go(self, steps) -> None:
        former, self._steps = self._steps, steps
        try:
            self._look()
        except UserError:
            self._steps = former
            raise
        self._show_place()

    def _show_place(self) -> None:
        """The last step with what it has changed and broken, and the steps that are possible."""
        path = self._seen["path"]
        print(
            f"\nafter {counted(path, 'step')}: {path[-1]['text']}"
            if path
            else f"\n{self._session.model.name}, {'where it opens' if self._session.opened else 'in its initial state'}"
        )
        for field in (each for group in self._seen["state"] for each in group["fields"] if each["was"] is not None):
            print(f"    {field['field']}: {field['was']} -> {field['value']}")
        for name in path[-1]["breaks"] if path else ():
            print(f"  ** violates {name} **")
        for number, step in enumerate(self._possible, start=1):
            told = "".join(f"  ** violates {name} **" for name in step["breaks"])
            print(f"{number:>4}  {step['text']}{told}")
        if not self._possible:
            print("  no step is possible here")
        if beyond := self._seen["beyond"]:
            bounds = ", ".join(dict.fromkeys(step["beyond"] for step in beyond))
            print(f"      {counted(beyond, 'step')} beyond the bounds ({bounds})")

    def _show_state(self, text) -> None:
        for group in self._seen["state"]:
            for field in (each for each in group["fields"] if text in each["field"]):
                print(f"  {field['field']}: {field['value']}")

    def _list(self, transitions, text) -> None:
        for each in transitions:
            if text in each["transition"] or text in each["words"]:
                print(f"  {each['transition']}  {each['words']}")

    def _find(self, text) -> None:
        for number, step in enumerate(self._possible, start=1):
            if text in step["text"] or text in step["words"]:
                print(f"{number:>4}  {step['text']}  {step['words']}")
        self._show_state(text)
        self._show_properties(text)
        self._list(self._seen["impossible"], text)

    def _show_properties(self, text) -> None:
        for prop in self._seen["properties"]:
            if text in prop["name"] or text in prop["text"]:
                print(f"  {prop['name']} ({prop['kind']}): {prop['status']}")

    def _save(self, name) -> None:
        writer = WRITERS.get(Path(name).suffix)
        if writer is None:
            raise UserError(f"{name!r} ends in none of {', '.join(WRITERS)}")
        try:
            Path(name).write_text(writer(self._session, self._trace), encoding="utf-8")
        except OSError as error:
            raise UserError(f"{name}: {error.strerror}") from error
        print(f"wrote {name}")


def _choices(labels: Sequence[str]) -> list[str]:
    """The states that may be the one, by the numbers with which they are opened."""
    if not labels:
        return []
    more = [f"  and {len(labels) - _SHOWN} more"] if len(labels) > _SHOWN else []
    head = f"{len(labels)} states are possible; --initial N opens another than the first:"
    return [head, *(f"  {number}: {label}" for number, label in enumerate(labels[:_SHOWN])), *more]


def explore_text(session: Session, begin: Trace) -> None:
    """Explore in this terminal, or by what comes through the pipe."""
    Terminal(session, begin, sys.stdin).run()
