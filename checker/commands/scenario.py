"""``kafkaproof scenario``: stories of operations, played step by step, with metrics over time."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from rich.table import Table

from kafkaproof import spec
from kafkaproof.checker.basics.errors import UserError, meant
from kafkaproof.checker.basics.terminal import columns
from kafkaproof.checker.commands.main import OK, VIOLATED
from kafkaproof.checker.commands.tables import console, scope_text
from kafkaproof.checker.pictures import metrics_text, render, render_beside, to_svg, to_text
from kafkaproof.checker.pictures.text import ANY_WIDTH, WIDTH
from kafkaproof.checker.scenarios.parse import Part, Scenario, read_scenario
from kafkaproof.checker.scenarios.play import Told, play
from kafkaproof.checker.scenarios.show import history_of_part, part_as_json, where_they_part
from kafkaproof.spec.own import is_own

BUNDLED = Path(spec.__file__).parent / "scenarios"
ENDING = ".scenario"
EXAMPLES = """examples:
  kafkaproof scenario                                   # which there are
  kafkaproof scenario zombie-controller                 # play one
  kafkaproof scenario zombie-controller --output zombie.html
  kafkaproof scenario mine.scenario --variant fenced    # one of your own; docs/scenarios.md says how to write it

exit codes: 0 everything is as the scenario says, 1 something is not, 2 it cannot be read
"""


def add_parser(commands) -> None:
    """Add the subcommand."""
    parser = commands.add_parser(
        "scenario",
        help="play a story of operations, with metrics over time",
        epilog=EXAMPLES,
        description="Play a scenario: steps of a model, what they change, and what operators would see meanwhile. "
        "Without a name, list the scenarios that there are.",
    )
    parser.add_argument("name", nargs="?", metavar="NAME|FILE", help="a scenario that comes with kafkaproof, or a file")
    parser.add_argument("--variant", help="only the part of this variant")
    parser.add_argument("--output", metavar="FILE", help="write a page instead, two variants beside each other")
    parser.add_argument("--svg", metavar="FILE", help="write one picture instead, of one variant or two")
    parser.add_argument("--json", action="store_true", help="print as JSON")
    parser.set_defaults(run=run)


def run(options) -> int:
    """List the scenarios, or play one and show it."""
    if options.name is None:
        return _list(options)
    scenario = read_scenario(_path(options.name))
    tellings = [play(scenario, part) for part in _parts(scenario, options.variant)]
    if options.json:
        head = {"name": scenario.name, "title": scenario.title, "story": scenario.story}
        told_parts = [part_as_json(scenario, told) for told in tellings]
        print(json.dumps({"format": 1, "scenario": head, "parts": told_parts}, indent=2))
    elif options.output or options.svg:
        _write(scenario, tellings, options)
    else:
        _print(scenario, tellings)
    failures = [told.failure for told in tellings if told.failure]
    for failure in failures:
        print(f"kafkaproof: {failure}", file=sys.stderr)
    return VIOLATED if failures else OK


def _path(name):
    path = BUNDLED / f"{name}{ENDING}"
    if path.is_file():
        return path
    if is_own(name):
        raise UserError(f"{name} is a model; write what happens in it into a file, which says: variant {name}")
    if not Path(name).is_file():
        known = [path.stem for path in sorted(BUNDLED.glob(f"*{ENDING}"))]
        raise UserError(f"no scenario and no file {name!r}; there are {', '.join(known)}{meant(name, known)}")
    return Path(name)


def is_scenario(name: str) -> bool:
    """Whether a name is that of a scenario that comes with kafkaproof, or of a file with one."""
    return (BUNDLED / f"{name}{ENDING}").is_file() or (name.endswith(ENDING) and Path(name).is_file())


def part_called(name: str, variant: str | None) -> tuple[Scenario, Part]:
    """A scenario and its part of a variant, by default the first. Raises UserError where it has none."""
    scenario = read_scenario(_path(name))
    return scenario, _parts(scenario, variant)[0]


def _parts(scenario, variant):
    parts = [part for part in scenario.parts if variant in (None, part.variant)]
    if not parts:
        raise UserError(
            f"{scenario.path} has no part of variant {variant!r}; it has "
            + ", ".join(part.variant for part in scenario.parts)
        )
    return parts


def bundled() -> list[Scenario]:
    """The scenarios that come with kafkaproof, by name."""
    return [read_scenario(path) for path in sorted(BUNDLED.glob(f"*{ENDING}"))]


def _list(options):
    scenarios = bundled()
    if options.json:
        print(json.dumps({"format": 1, "scenarios": [_entry(scenario) for scenario in scenarios]}, indent=2))
        return OK
    table = Table(header_style="bold")
    table.add_column("scenario", no_wrap=True)
    for column in ("what it shows", "system", "variant: what breaks"):
        table.add_column(column)
    for scenario in scenarios:
        parts = [f"{part['variant']}: {', '.join(part['violates']) or 'nothing'}" for part in _entry(scenario)["parts"]]
        table.add_row(scenario.name, scenario.title, scenario.system, "; ".join(parts))
    console().print(table)
    return OK


def _entry(scenario):
    parts = [
        {"variant": part.variant, "violates": [line.text for line in part.lines if line.kind == "violates"]}
        for part in scenario.parts
    ]
    told = {name: getattr(scenario, name) for name in ("name", "title", "story", "system")}
    return told | {"parts": parts}


def _write(scenario: Scenario, tellings: list[Told], options) -> None:
    histories = [history_of_part(scenario, told) for told in tellings]
    if len(histories) > 2:
        raise UserError("--output and --svg show at most two variants; choose one with --variant")
    if options.output:
        page = render_beside(*histories) if len(histories) == 2 else render(histories[0])
        Path(options.output).write_text(page, encoding="utf-8")
    if options.svg:
        Path(options.svg).write_text(to_svg(*histories), encoding="utf-8")
    print(f"open {', '.join(filter(None, (options.output, options.svg)))}")


def _print(scenario: Scenario, tellings: list[Told]) -> None:
    for told in tellings:
        history = history_of_part(scenario, told)
        print(to_text(history, columns(WIDTH)))
        print(metrics_text(history, columns(ANY_WIDTH)))
        model = f"{told.trace.model.name} ({scope_text(told.trace.scope)})"
        broken = [prop.name for moment in told.moments for prop in moment.violates]
        verdict = "NOT as it says" if told.failure else "as it says"
        print(f"{model}: {verdict}; {'violates ' + ', '.join(broken) if broken else 'nothing is violated'}\n")
    for told in tellings[1:]:
        if parted := where_they_part(tellings[0], told):
            print(parted)
