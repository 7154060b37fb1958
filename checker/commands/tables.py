"""Tables and sentences that people read."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping

from rich.console import Console, Group
from rich.measure import Measurement
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from kafkaproof.checker.basics.printable import obeyed, printable
from kafkaproof.checker.basics.words import counted
from kafkaproof.checker.check.answers import differing

_INDENT, _ANY = 4, 10_000
"""How far lines of a row are indented, and a width that any table has room in."""
_LEAST_SECONDS = 0.01
"""A run that took less tells nothing of speed, such as one that is resumed at its end."""
FAILURES = {"known": "yellow", "open": "magenta", "new": "red", "unexpected": "bold red"}
"""The kinds of failures, and the colours in which tables show them."""


class _Console(Console):
    """A console that escapes what is not printable: no control codes but its own colours reach the terminal.

    A table that is too wide for the terminal is printed in rows that wrap, so that no name is cut.
    """

    def render(self, renderable, options=None) -> Iterable[Segment]:
        width = (options or self.options).max_width
        if isinstance(renderable, Table):
            measured = Measurement.get(self, self.options.update(width=_ANY), renderable)
            if measured.minimum > width:
                renderable = Group(*_rows(self, renderable, width))
            elif measured.maximum > width:
                _narrow(self, renderable, width - measured.minimum)
        for each in super().render(renderable, options):
            yield each if each.control else Segment(printable(each.text), each.style)

    def on_broken_pipe(self) -> None:
        """Whoever read has gone: `main` ends the command, without the exit code of a violation."""
        raise BrokenPipeError


def _narrow(out: Console, table: Table, room: int) -> None:
    """Give each column of a table the width of its longest word, and of the `room` that is left what it lacks most."""
    columns, options = table.columns, out.options.update(width=_ANY)
    parts = [[out.render_str(str(part)) for part in (column.header, *column.cells)] for column in columns]
    words = [max(Measurement.get(out, options, part).minimum for part in of) for of in parts]
    lines = [max(Measurement.get(out, options, part).maximum for part in of) for of in parts]
    for column, width in zip(columns, _shared(words, lines, room)):
        column.width = width


def _shared(least: list[int], most: list[int], room: int) -> list[int]:
    """Widths from `least` to `most` with `room` shared out among them, evenly as far as they can use it."""
    widths = list(least)
    while room and (lacking := [i for i, width in enumerate(widths) if width < most[i]]):
        for i in lacking[:room]:
            widths[i] += 1
        room -= min(room, len(lacking))
    return widths


def _rows(out: Console, table: Table, width: int) -> Iterator[Text]:
    """The rows of a table, each as its headings and cells; empty cells are left out."""
    if table.title:
        yield out.render_str(str(table.title))
    headings = [str(column.header) for column in table.columns]
    for cells in zip(*(column.cells for column in table.columns)):
        texts = [out.render_str(str(cell).replace("\n", ", ")) for cell in cells]
        parts = [Text(f"{heading} ", "bold") + text for heading, text in zip(headings, texts) if text.plain]
        lines = Text("; ").join(parts).wrap(out, max(width - _INDENT, 1))
        yield Text("\n" + " " * _INDENT).join(line[: len(line.plain.rstrip())] for line in lines)


def console() -> Console:
    """A console on standard output, wide enough for tables when that is not a terminal."""
    found = _Console(highlight=False, file=obeyed(sys.stdout))
    return found if found.is_terminal else _Console(highlight=False, width=160, file=obeyed(sys.stdout))


def scope_text(scope: Mapping[str, int]) -> str:
    """A scope in short: ``brokers 3, log 2``."""
    return ", ".join(f"{name} {value}" for name, value in scope.items())


def explored_text(run: dict) -> str:
    """A run's scope in short, and whether it was explored up to symmetry."""
    return scope_text(run["scope"]) + (", up to symmetry" if run["symmetry"] else "")


def verdict_text(result: dict) -> tuple[str, str]:
    """The verdict in words, with what it leaves open, and its colour."""
    failure, verdict = result["failure"], result["verdict"]
    text = {"known": "known failure", "open": "open failure", "new": "VIOLATED"}.get(failure, verdict)
    text = f"UNEXPECTED: {verdict}" if failure == "unexpected" else text
    left = []
    if verdict == "holds":
        left += [f"too small to show {counted(result['not_shown'], 'known violation')}"] if result["not_shown"] else []
        left += [f"{counted(result['never_enabled'], 'transition')} never taken"] if result["never_enabled"] else []
    unsure = verdict == "incomplete" or result["not_shown"]
    return ", ".join([text, *left]), FAILURES.get(failure, "cyan" if unsure else "green")


def table_of_runs(what: str, *numbers: str) -> Table:
    """A table whose rows begin with system, variant, `what` and verdict, before some numbers."""
    table = Table(header_style="bold")
    for name in ("system", "variant", what, "verdict"):
        table.add_column(name)
    for name in numbers:
        table.add_column(name, justify="right")
    return table


def print_check_table(results: list[dict]) -> None:
    """Print a row for each run, and below the table what to look at next."""
    table = table_of_runs("scope", "distinct", "depth", "states/s", "counterexample")
    for result in results:
        words, colour = verdict_text(result)
        rate = f"{result['distinct'] / result['seconds']:,.0f}" if result["seconds"] >= _LEAST_SECONDS else ""
        length = _counterexample(result["violations"][0]) if result["violated"] else ""
        distinct = f"{result['distinct']:,}" + ("" if result["complete"] else " so far")
        table.add_row(
            result["system"],
            result["variant"],
            explored_text(result),
            f"[{colour}]{words}[/]",
            distinct,
            str(result["depth"]),
            rate,
            length,
        )
    out = console()
    out.print(table)
    _print_liveness(out, results)
    _print_notes(out, results)


def _counterexample(violation):
    """Property and length in short: ``one_token in 17 states``, ``answered may never hold, after 5 steps (3 steps repeat)``."""
    if "loop" not in violation:
        return f"{violation['property']} in {violation['trace_length']} states"
    return f"{violation['property']} may never hold, {lasso_text(violation)}"


def lasso_text(violation: dict) -> str:
    """When what was awaited may no longer come, and what goes on for ever: ``after 5 steps (3 steps repeat)``."""
    first, steps = violation["loop"], violation["trace"]
    repeated = counted(steps[first:], "step")
    rest = f"{repeated} repeat{'s' if len(steps) - first == 1 else ''}" if steps[first:] else "nothing more happens"
    return f"after {counted(steps[:first], 'step')} ({rest})"


def _print_liveness(out, results):
    """Print a row for each liveness property."""
    fails = any("loop" in violation for result in results for violation in result["violations"])
    numbers = ("waiting states", "with a step cut by a bound", "that never reach the goal")
    table = table_of_runs("eventually", *numbers, *(["counterexample"] if fails else []))
    for result in results:
        lassos = {v["property"]: lasso_text(v) for v in result["violations"] if "loop" in v}
        elsewhere = {entry["property"] for entry in result["not_shown"]}
        for entry in result["liveness"]:
            name = entry["property"]
            known = ["" if entry.get(n) is None else f"{entry[n]:,}" for n in ("waiting", "cut", "beyond")]
            text = _liveness_text(entry) + (", violated at other scopes" if name in elsewhere else "")
            last = [lassos.get(name, "")] if fails else []
            table.add_row(result["system"], result["variant"], name, text, *known, *last)
    if table.row_count:
        out.print(table)


def _liveness_text(entry):
    if entry["verdict"] == "holds":
        return "[green]holds within the bounds[/]" if entry["cut"] else "[green]holds[/]"
    if entry["verdict"] == "violated":
        return "[red]violated[/]"
    why = ": not all states are known" if entry["verdict"] == "not decided" else ""
    return f"[cyan]{entry['verdict']}{why}[/]"


def _print_notes(out, results):
    for result in results:
        name = f"{result['system']}/{result['variant']}"
        if result["stopped_by"]:
            out.print(
                f"{name} stopped at --{result['stopped_by']}; go on with: "
                f"kafkaproof check --resume {result['run_dir']}",
                soft_wrap=True,
            )
        if result["unreached"]:
            out.print(f"[red]{name} never reached at this scope: {', '.join(result['unreached'])}[/]")
        if result["not_shown"]:
            out.print(f"{name} is violated at other scopes: {_known(result)}", soft_wrap=True)
        if result["never_enabled"]:
            out.print(f"{name} never took: {', '.join(result['never_enabled'])}", soft_wrap=True)
        idle = dict.fromkeys(text for entry in result["liveness"] for text in entry.get("idle", ()))
        if idle:
            out.print(
                f"{name} assumes something about steps that are never possible: {'; '.join(idle)}", soft_wrap=True
            )
        if result["violated"]:
            out.print(f"{name}: see it with: kafkaproof show {result['run_dir']}", soft_wrap=True)


def _known(result):
    """The violations that do not show at this scope, grouped by the scopes where they do: ``at log 2: weak_isr,
    strong_isr``.
    """
    scopes = {}
    for entry in result["not_shown"]:
        scopes.setdefault(scope_text(differing(result["scope"], entry["scope"])), []).append(entry["property"])
    return "; ".join(f"at {scope}: {', '.join(names)}" for scope, names in scopes.items())


def print_compositions(results: list[dict], texts: dict[str, str]) -> None:
    """Print which property was checked in which composition, and where it fails; `texts` has the properties in words."""
    table = Table(header_style="bold", title="Which property was checked where", title_justify="left")
    table.add_column("property")
    table.add_column("what it says", ratio=2)
    table.add_column("checked in (distinct states)", ratio=1)
    for name, text in texts.items():
        where = [result for result in results if name in result["properties"]]
        table.add_row(name, text, "; ".join(_place(result, name) for result in where))
    console().print(table)


def _place(result, name):
    place = f"{result['system']}/{result['variant']} ({result['distinct']:,}{'' if result['complete'] else ' so far'})"
    violated = any(violation["property"] == name for violation in result["violations"])
    return f"[red]violated in {place}[/]" if violated else place


def print_asked(result: dict, sizes: Mapping[str, str], goals: set[str]) -> None:
    """Print the verdicts on the properties that were asked, and what each number of the scope means (`sizes`)."""
    violated = [violation["property"] for violation in result["violations"]]
    undecided = [entry["property"] for entry in result["liveness"] if entry["verdict"] not in ("holds", "violated")]
    asked = set(result["properties"]) - goals
    rest = len(asked - {*violated, *undecided})
    holding = f"{rest} {'holds' if rest == 1 else 'hold'} at this scope"
    found = holding if result["complete"] else f"{rest} not violated so far"
    for word, names in (("violated", violated), ("not decided", undecided)):
        found += f"; {word}: {', '.join(names)}" if names else ""
    out = console()
    out.print(f"properties: {len(asked)} asked; {found}", soft_wrap=True)
    if result["not_asked"]:
        left_out = ", ".join(f"{entry['property']} ({entry['why']})" for entry in result["not_asked"])
        out.print(f"not asked: {left_out}", soft_wrap=True)
    out.print("scope:")
    for name, value in result["scope"].items():
        out.print(f"  {name} {value}" + (f": {sizes[name]}" if name in sizes else ""), soft_wrap=True)


def print_goals(result: dict, texts: Mapping[str, str]) -> None:
    """Print the goals that were reached, each with its text (`texts`) and the length of a shortest path to it."""
    table = Table(header_style="bold")
    table.add_column("goal", no_wrap=True)
    table.add_column("what it says")
    table.add_column("shortest path", justify="right")
    for goal in result["reached"]:
        length = counted(range(goal["trace_length"]), "state")
        table.add_row(goal["property"], texts.get(goal["property"], ""), length)
    out = console()
    out.print(table)
    out.print(f"draw a path: kafkaproof show {result['run_dir']} --property GOAL", soft_wrap=True)


def print_alone(result: dict, composed: list[str]) -> None:
    """Print, for a part that was explored alone, how to check the systems composed of it."""
    for system in composed:
        out = console()
        out.print(
            f"this run is about {result['system']} alone; to check it together with the other parts: kafkaproof check {system}",
            soft_wrap=True,
        )


def print_coverage(result: dict) -> None:
    """Print how often each transition was taken."""
    table = Table(header_style="bold")
    table.add_column("transition")
    table.add_column("taken", justify="right")
    for name, count in result["coverage"].items():
        table.add_row(name, f"{count:,}")
    console().print(table)


def print_costs(result: dict) -> None:
    """Print what was cut, and where the states are."""
    out = console()
    cuts = ", ".join(f"{bound} {count:,}" for bound, count in result["cuts"].items() if count)
    out.print(f"generated {result['generated']:,}; steps cut by bounds: {cuts or 'none'}")
    if result["symmetry"]:
        symmetry = result["symmetry"]
        out.print(f"states up to renaming {' and '.join(symmetry['sorts'])}: {symmetry['renamings']:,} permutations")
    older = f"; seen states on disk: {result['older'] / 2**20:,.0f} MiB" if result["older"] else ""
    out.print(
        f"start {result['startup_seconds']:.1f} s, exploration {result['seconds']:.1f} s{older}; run in {result['run_dir']}",
        soft_wrap=True,
    )
