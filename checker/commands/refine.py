"""``kafkaproof refine``: whether every behaviour of a system is a behaviour of its abstract model."""

from __future__ import annotations

import json
import time

from rich.markup import escape
from rich.table import Table

from kafkaproof.checker.basics.errors import UserError
from kafkaproof.checker.basics.words import counted
from kafkaproof.checker.commands.main import OK, UNFINISHED, VIOLATED
from kafkaproof.checker.commands.models import add_model_options, the_one
from kafkaproof.checker.commands.tables import console, scope_text
from kafkaproof.checker.explore.progress import Progress
from kafkaproof.checker.refine.search import refine
from kafkaproof.spec.catalogue import find, refinements

REFINES, DIVERGES, INCOMPLETE = "refines", "diverges", "incomplete"
COLOURS = {REFINES: "green", DIVERGES: "red", INCOMPLETE: "cyan"}
CODES = {REFINES: OK, DIVERGES: VIOLATED, INCOMPLETE: UNFINISHED}
DESCRIPTION = """Check that an abstract model can follow every behaviour of a detailed system, with its messages and crashes.
If it cannot, the shortest behaviour that it cannot follow is shown: nothing in the abstract model matches its last step.
The abstract model was given some steps for this, which are listed; --without leaves one out, to see what it is for.
`refine replica` compares the data plane with KIP-320, `refine group` the offsets log with the contract that groups
rely on, and `refine electing` elections in steps with elections in one step."""
EXAMPLES = """examples:
  kafkaproof refine replica
  kafkaproof refine replica --brokers 3 --epochs 1 --faults 0
  kafkaproof refine replica --scope quick --without follower_fetch_nothing
  kafkaproof refine electing
  kafkaproof refine group --brokers 2 --epochs 1 --records 1 --faults 0
  kafkaproof refine replica --variant late-answer --epochs 3 --json > late.json; kafkaproof show late.json
"""


def add_parser(commands) -> None:
    """Add the subcommand."""
    parser = commands.add_parser(
        "refine",
        help="check that an abstract model can follow every behaviour of a system",
        epilog=EXAMPLES,
        description=DESCRIPTION,
    )
    systems = ", ".join(f"{r.name} ({r.system} by {_name(r.abstract)})" for r in refinements())
    add_model_options(parser, help=f"one of: {systems}; without --variant, the newest")
    parser.add_argument(
        "--without", action="append", default=[], metavar="STEP", help="leave out this added step (repeatable)"
    )
    parser.add_argument("--max-states", type=int, metavar="N", help="stop after the level that reaches N states")
    parser.add_argument("--json", action="store_true", help="print the result as JSON")
    parser.set_defaults(run=run)


def run(options) -> int:
    """Check the refinement that the options name; returns the exit code."""
    refinement = next((r for r in refinements() if r.name == options.system), None)
    if refinement is None:
        known = ", ".join(r.name for r in refinements())
        raise UserError(f"{options.system} has no abstract model; those that have one are {known}")
    options.system = refinement.system
    options.variant = options.variant or refinement.variant or find(options.system)[-1].variant
    model, scope = the_one(options)
    model = refinement.noted(model)
    _refuse_unknown(refinement, scope, options.without)
    began, progress = time.monotonic(), Progress(_name(model))
    try:
        found = refine(
            model, scope, refinement, without=tuple(options.without), most=options.max_states, progress=progress
        )
    finally:
        progress.close()
    result = _result(model, scope, refinement, options.without, found)
    result["seconds"] = round(time.monotonic() - began, 2)
    if options.json:
        print(json.dumps({"format": 1, **result}, indent=2))
    else:
        _print(result)
    return CODES[result["verdict"]]


def _name(model):
    return model.name


def _refuse_unknown(refinement, scope, without):
    added = [a.name for a in refinement.added_at(scope)]
    for name in without:
        if name not in added:
            raise UserError(f"--without {name}: no such step is added at this scope; added are {', '.join(added)}")


def _result(model, scope, refinement, without, found):
    """The result in the form of ``refine --json``. If it has a `trace`, `kafkaproof show` can draw it."""
    verdict = DIVERGES if found.diverged else REFINES if found.complete else INCOMPLETE
    result = {
        "system": model.system,
        "variant": model.variant,
        "scope": dict(scope),
        "verdict": verdict,
        "abstract": {
            "system": refinement.abstract.system,
            "variant": refinement.abstract.variant,
            "states": found.abstract_states,
            "lost": found.lost,
            "added": [{"step": a.name, "text": a.transition.words} for a in refinement.added_at(scope, without)],
        },
        "without": list(without),
        "states": found.states,
        "pairs": found.pairs,
        "depth": found.depth,
    }
    if found.diverged:
        result |= {"reason": found.reason, "trace": [str(step) for step, _, _ in found.diverged.steps]}
    return result


def _print(result):
    out, abstract = console(), result["abstract"]
    name, other = f"{result['system']}/{result['variant']}", f"{abstract['system']}/{abstract['variant']}"
    words = {
        REFINES: f"refines {other}, as far as it must agree",
        DIVERGES: f"DIVERGES from {other}",
        INCOMPLETE: f"is followed by {other} so far; raise --max-states",
    }[result["verdict"]]
    colour = COLOURS[result["verdict"]]
    out.print(escape(f"{name} ({scope_text(result['scope'])})") + f" [{colour}]{escape(words)}[/]", soft_wrap=True)
    table = Table(header_style="bold")
    for column in ("abstract states", "states", "pairs", "levels", "seconds"):
        table.add_column(column, justify="right")
    counts = (abstract["states"], result["states"], result["pairs"], result["depth"])
    table.add_row(*(f"{count:,}" for count in counts), str(result["seconds"]))
    out.print(table)
    added = Table(f"added to {other}", "in words", header_style="bold")
    for step in abstract["added"]:
        added.add_row(step["step"], escape(step["text"]))
    if abstract["added"]:
        out.print(added)
    for prop, length in abstract["lost"].items():
        out.print(f"[yellow]with these steps {other} violates {prop}, in {counted(length, 'state')}[/]")
    if "trace" in result:
        out.print("No abstract behaviour follows the last of these steps" if result["trace"] else "From the beginning")
        for step in result["trace"]:
            out.print(f"    {escape(step)}", soft_wrap=True)
        out.print(f"since this cannot hold: {escape(result['reason'])}", soft_wrap=True)
