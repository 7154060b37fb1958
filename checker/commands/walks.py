"""``kafkaproof check --simulate``: random walks, for scopes that no search ends."""

from __future__ import annotations

import json
import random
from collections.abc import Callable

from kafkaproof.checker.basics.errors import UserError
from kafkaproof.checker.basics.words import counted
from kafkaproof.checker.check.run import begin, kernel_of, violation_of
from kafkaproof.checker.commands.main import OK, VIOLATED
from kafkaproof.checker.commands.numbers import not_negative
from kafkaproof.checker.commands.parser import CommandParser
from kafkaproof.checker.commands.place import place_of
from kafkaproof.checker.commands.tables import console, scope_text, table_of_runs
from kafkaproof.checker.explore.progress import Progress
from kafkaproof.checker.model.selection import Check
from kafkaproof.checker.runs.directory import RunDirectory
from kafkaproof.checker.spark.session import Later
from kafkaproof.checker.walk.estimate import ERROR
from kafkaproof.checker.walk.shorten import shortened
from kafkaproof.checker.walk.walking import Met, Walks, walk_all

LENGTH, MINUTES = 100, 1.0
SEEDS = 1_000_000
NO_VERDICT = "walks do not visit every state, so this does not show that anything holds"
NOT_OF_WALKS = (
    "symmetry",
    "resume",
    "max_states",
    "max_depth",
    "max_minutes",
    "max_disk",
    "memory",
    "recorded",
    "witness",
)


def add_walk_options(parser: CommandParser) -> None:
    """Add the options of random walks."""
    group = parser.add_argument_group("random walks")
    group.add_argument("--simulate", action="store_true", help="walk at random instead of exploring every state")
    limit = group.add_mutually_exclusive_group()
    limit.add_argument("--walks", type=_count, metavar="N", help="so many walks")
    limit.add_argument("--minutes", type=_minutes, metavar="M", help=f"for M minutes (default {MINUTES:g})")
    group.add_argument(
        "--length", type=_count, default=LENGTH, metavar="N", help="steps of a walk (default %(default)s)"
    )
    group.add_argument("--seed", type=_count, metavar="S", help="draw the walks of this seed again")


def _count(text):
    return not_negative(text, int, "a count; write 10000")


def _minutes(text):
    return not_negative(text, float, "a number of minutes; write 5 or 0.5")


def require_no_walks(options) -> None:
    """Raise UserError where options of walks are given without --simulate."""
    given = next((name for name in ("walks", "minutes", "seed") if getattr(options, name) is not None), None)
    if given:
        raise UserError(f"--{given} is for random walks; add --simulate")


def run(options, checks: list[Check], place: Callable[[Check], str]) -> int:
    """Walk through the models of some checks, each for as long as the options say; returns the exit code.

    `place` is where the run of a check is kept.
    """
    wrong = next((name for name in NOT_OF_WALKS if getattr(options, name)), None)
    if wrong:
        raise UserError(f"--{wrong.replace('_', '-')} is for a search of every state, not for --simulate")
    minutes = MINUTES if options.walks is None and options.minutes is None else options.minutes
    seed = random.randrange(SEEDS) if options.seed is None else options.seed
    walks = Walks(seed, options.length, options.walks, minutes)
    context = Later(place_of(options))
    try:
        results = [_walked(check, walks, context, RunDirectory(place(check))) for check in checks]
    finally:
        context.stop()
    if options.json:
        print(json.dumps({"format": 1, "walks": results}, indent=2))
    else:
        _print(results)
    return VIOLATED if any(result["violations"] for result in results) else OK


def _walked(check: Check, walks: Walks, context, run_directory: RunDirectory) -> dict:
    kernel = kernel_of(check)
    begin(check, kernel, run_directory, 1, {"seed": walks.seed, "length": walks.length})
    progress = Progress(check.model.name)
    with run_directory.held():
        try:
            met = walk_all(
                kernel,
                context,
                walks,
                keep_going=check.keep_going,
                deadlock=check.deadlock,
                progress=lambda met: progress.note(_told(met)),
            )
        finally:
            progress.close()
        result = _result(check, kernel, walks, met, run_directory.uri)
        run_directory.write_result(result)
    return result


def _told(met: Met) -> str:
    rate = met.steps / max(met.seconds, 1e-3)
    return (
        f"{met.walks:,} walks  {met.steps:,} steps  about {met.different.estimate:,} distinct  {rate:,.0f} steps/s"
        f"  {len(met.violated)} violated"
    )


def _result(check, kernel, walks, met, uri) -> dict:
    """The result as one entry of ``check --simulate --json``."""
    ends = {
        kind: sorted(
            (
                violation_of(shortened(kernel, name, path), name) | {"walk_length": 1 + len(path.steps), "batch": batch}
                for name, (batch, path) in found.items()
            ),
            key=lambda end: end["trace_length"],
        )
        for kind, found in (("violations", met.violated), ("reached", met.goals))
    }
    return {
        "system": check.model.system,
        "variant": check.model.variant,
        "model": check.model.origin or None,
        "scope": dict(check.scope),
        "properties": [p.name for p in kernel.state_properties + kernel.step_properties],
        "not_judged": [p.name for p in kernel.liveness],
        "verdict": "violated" if met.violated else "nothing found",
        **ends,
        "unreached": sorted(
            p.name for p in kernel.state_properties if p.kind == "sometimes" and p.name not in met.goals
        ),
        "seed": walks.seed,
        "length": walks.length,
        "walks": met.walks,
        "steps": met.steps,
        "distinct_about": met.different.estimate,
        "coverage": met.taken,
        "never_enabled": sorted(name for name, count in met.taken.items() if count == 0),
        "cuts": met.cuts,
        "seconds": round(met.seconds, 3),
        "run_dir": uri,
    }


def _print(results: list[dict]) -> None:
    table = table_of_runs("scope", "walks", "steps", "distinct, about", "steps/s")
    for result in results:
        colour = "red" if result["violations"] else "cyan"
        table.add_row(
            result["system"],
            result["variant"],
            scope_text(result["scope"]),
            f"[{colour}]{result['verdict']}[/]",
            f"{result['walks']:,}",
            f"{result['steps']:,}",
            f"{result['distinct_about']:,}",
            f"{result['steps'] / max(result['seconds'], 1e-3):,.0f}",
        )
    out = console()
    out.print(table)
    for result in results:
        _print_notes(out, result)


def _print_notes(out, result: dict) -> None:
    name, seed = f"{result['system']}/{result['variant']}", result["seed"]
    for each in result["violations"]:
        states, walked = counted(each["trace_length"], "state"), counted(each["walk_length"], "state")
        out.print(
            f"{name}: [red]{each['property']}[/] is violated in {states}, after a walk of {walked}", soft_wrap=True
        )
    if result["violations"]:
        out.print(f"Draw one with: kafkaproof show {result['run_dir']} --property P", soft_wrap=True)
    else:
        out.print(f"{name}: nothing is violated in these walks; {NO_VERDICT}.", soft_wrap=True)
    never = result["never_enabled"]
    if never:
        out.print(
            f"{name}: {len(never)} of {counted(len(result['coverage']), 'transition')} never enabled: {', '.join(never)}",
            soft_wrap=True,
        )
    if result["not_judged"]:
        out.print(f"{name}: liveness is not judged: {', '.join(result['not_judged'])}", soft_wrap=True)
    again = f"--seed {seed} --walks {result['walks']}"
    if result["length"] != LENGTH:
        again += f" --length {result['length']}"
    out.print(
        f"{name}: the same walks again: --simulate {again} (distinct states are estimated, ± {ERROR})", soft_wrap=True
    )
