"""``kafkaproof check``: explore every state of one model, or of the whole suite, on Spark."""

from __future__ import annotations

import json
import time
import uuid
from contextlib import closing, nullcontext
from datetime import datetime
from pathlib import Path

from kafkaproof.checker.basics.errors import UserError
from kafkaproof.checker.check.ahead import Ahead
from kafkaproof.checker.check.run import FURTHER, begin, perform, require_possible, resumed
from kafkaproof.checker.commands import walks
from kafkaproof.checker.commands.main import OK, UNFINISHED, VIOLATED
from kafkaproof.checker.commands.models import add_model_options, chosen, given_sizes
from kafkaproof.checker.commands.numbers import not_negative
from kafkaproof.checker.commands.place import add_place_options, place_of
from kafkaproof.checker.commands.profile import print_profile
from kafkaproof.checker.commands.summary import Summary
from kafkaproof.checker.commands.tables import (
    print_alone,
    print_asked,
    print_check_table,
    print_compositions,
    print_costs,
    print_coverage,
    print_goals,
)
from kafkaproof.checker.explore.explorer import Limits
from kafkaproof.checker.model.selection import Check
from kafkaproof.checker.profile.profile import profile_of
from kafkaproof.checker.runs.directory import RunDirectory
from kafkaproof.checker.spark.session import Later
from kafkaproof.spec.catalogue import composed_of, found_again

SIZES = {"K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}
EXAMPLES = """examples:
  kafkaproof check --brokers 3
  kafkaproof check replication --variant kip101 --log 2 --records 2 --epochs 1
  kafkaproof check cluster --brokers 3
  kafkaproof check replication --variant kip320 --epochs 3 --master spark://host:7077 --run-dir hdfs:///runs/a
  kafkaproof check replication --variant kip320 --property my.py:predicate
  kafkaproof check replication --variant kip320 --brokers 4 --symmetry
  kafkaproof check lock.py:MODEL --brokers 3
  kafkaproof check cluster --variant fenced --scope deep --simulate --minutes 5
  kafkaproof check partition --variant fenced --profile
  kafkaproof check replication --variant kip320 --records 3 --epochs 3 --memory 8G
  kafkaproof check --resume runs/replication-kip320-20260101-120000-1f2e
"""


def add_parser(commands) -> None:
    """Add the subcommand."""
    parser = commands.add_parser(
        "check",
        help="explore every state of a model, or of all of them",
        epilog=EXAMPLES,
        description="Explore every reachable state and verify every property. Without a system, the whole suite.",
    )
    add_model_options(
        parser, nargs="?", help="replication, election ..., or a model of your own, FILE.py:MODEL; default: all"
    )
    parser.add_argument(
        "--property",
        action="append",
        default=[],
        metavar="P",
        dest="properties",
        help="check only this property (repeatable); FILE.py:PREDICATE for one of your own",
    )
    parser.add_argument(
        "--keep-going", action="store_true", help=f"go on to the end after a violation, also beyond {FURTHER:,} states"
    )
    parser.add_argument("--deadlock", action="store_true", help="a state without a step is a violation")
    parser.add_argument(
        "--symmetry",
        action="store_true",
        help="explore one state of each class of states that differ only in the names of interchangeable ids",
    )
    add_place_options(parser)
    parser.add_argument("--run-dir", metavar="DIR", help="where the run is kept (default: a fresh one in runs/)")
    parser.add_argument("--resume", metavar="DIR", help="go on with a run that was killed or stopped at a limit")
    parser.add_argument("--max-states", type=_count, metavar="N", help="stop after the level that reaches N states")
    parser.add_argument("--max-depth", type=_count, metavar="N", help="stop after N levels")
    parser.add_argument("--max-minutes", type=_minutes, metavar="M", help="stop after M minutes")
    parser.add_argument("--max-disk", type=_bytes, metavar="SIZE", help="stop when the run takes SIZE (500M, 20G)")
    parser.add_argument(
        "--memory",
        type=_bytes,
        metavar="SIZE",
        help="what all tables of seen states may take together (8G); with more states, the search goes on from disk",
    )
    parser.add_argument(
        "--recorded", action="store_true", help="exit with 0 where each verdict is the recorded one, failures included"
    )
    parser.add_argument(
        "--witness",
        action="store_true",
        help="of one run, list the goals with the shortest path to each; `show` draws it",
    )
    parser.add_argument(
        "--profile",
        action="store_true",
        help="of one run, tell where its states, time and memory went: by transition, by field, by phase",
    )
    parser.add_argument("--verbose", action="store_true", help="of several runs, print each one, and each property")
    parser.add_argument("--json", action="store_true", help="print the result as JSON")
    walks.add_walk_options(parser)
    parser.set_defaults(run=run)


def _count(text):
    return not_negative(text, int, "a count; write 1000000")


def _minutes(text):
    return not_negative(text, float, "a number of minutes; write 90 or 0.5")


def _bytes(text):
    unit = text[-1:].upper()
    number, factor = (text[:-1], SIZES[unit]) if unit in SIZES else (text, 1)
    return int(not_negative(number, float, "a size; write 500M or 20G") * factor)


def run(options) -> int:
    """Run the checks that the options name; returns the exit code."""
    if options.simulate:
        checks = _planned(options)
        return walks.run(options, checks, lambda check: _place(check, options, len(checks) > 1))
    walks.require_no_walks(options)
    _refuse_changes_to_a_run(options)
    limits = Limits(options.max_states, options.max_depth, options.max_minutes, options.max_disk)
    began = time.monotonic()
    checks = [] if options.resume else _planned(options)
    directory = RunDirectory(options.resume) if options.resume else None
    with directory.held() if directory else nullcontext(), closing(Ahead(checks)) as kernels:
        earlier = resumed(directory) if directory else None
        context = Later(place_of(options))
        try:
            if directory and earlier:
                check, kernel, partitions = earlier
                startup = time.monotonic() - began
                more = context, partitions, limits, options.memory, startup
                results = [_performed(options, check, kernel, directory, *more)]
                _report(results, options)
            else:
                results = _all(checks, kernels, options, context, limits, began)
        finally:
            context.stop()
    return exit_code(results, options.recorded)


def _refuse_changes_to_a_run(options):
    asked = [
        options.system,
        options.variant,
        options.scope,
        options.run_dir,
        options.keep_going,
        options.deadlock,
        options.symmetry,
    ]
    if options.resume and (any(asked) or given_sizes(options) or options.properties):
        raise UserError("--resume continues a run as it began; give only limits, --memory, --json and where Spark runs")


def _planned(options):
    """The checks to do. This comes before Spark starts, and kernels are made, so that wrong use is reported at once."""
    names = tuple(options.properties)
    checks = [
        Check(model, scope, names, options.keep_going, options.deadlock, options.symmetry)
        for model, scope in chosen(options)
    ]
    if options.profile and (len(checks) > 1 or options.simulate):
        raise UserError("--profile is of one search; name a system, a --variant and a --scope, and no --simulate")
    for check in checks:
        require_possible(check)
    return checks


def _all(checks, kernels, options, context, limits, began):
    """Perform all checks and report; returns the results."""
    results = []
    short = len(checks) > 1 and not (options.json or options.verbose)
    summary = Summary([check.model.system for check in checks]) if short else None
    for check, kernel in zip(checks, kernels, strict=True):
        run_directory = RunDirectory(_place(check, options, len(checks) > 1))
        partitions = max(2, context.defaultParallelism)
        begin(check, kernel, run_directory, partitions)
        startup = time.monotonic() - began
        place = f"[{len(results) + 1}/{len(checks)}] " if len(checks) > 1 else ""
        with run_directory.held():
            more = context, partitions, limits, options.memory, startup, place
            results.append(_performed(options, check, kernel, run_directory, *more))
        if summary:
            summary.add(results[-1])
        began = time.monotonic()
    if summary:
        summary.end()
    else:
        _report(results, options)
    return results


def _performed(options, check, kernel, directory, *more):
    """Perform a check; its result, with the profile if that is asked for."""
    result = perform(check, kernel, directory, *more)
    if options.profile:
        result["profile"] = profile_of(directory, kernel, result)
    return result


def _place(check, options, several):
    name = f"{check.model.system}-{check.model.variant}"
    if options.run_dir:
        return f"{options.run_dir.rstrip('/')}/{name}" if several else options.run_dir
    stamp = datetime.now().strftime("%Y%m%d-%H%M%S")
    return str(Path("runs") / f"{name}-{stamp}-{uuid.uuid4().hex[:4]}")


def _report(results, options):
    if options.json:
        print(json.dumps({"format": 1, "runs": results}, indent=2))
        return
    print_check_table(results)
    if len(results) == 1:
        _report_asked(results[0])
        if options.witness:
            _report_goals(results[0])
        if options.profile:
            print_profile(results[0])
        else:
            print_coverage(results[0])
        print_costs(results[0])
    else:
        _report_compositions(results)


def _report_asked(result):
    """Print, for a single named run, its properties, the meaning of its scope, and the systems composed of it."""
    model = found_again(result)
    print_asked(result, model.sizes, {p.name for p in model.properties if p.kind == "sometimes"})
    print_alone(result, composed_of(model.system, model.variant))


def _report_compositions(results):
    """Print, for a composed system, which properties were asked of the parts and which of the whole."""
    models = [found_again(result) for result in results]
    if any(model.parts for model in models):
        texts = {p.name: p.text for model in reversed(models) for p in model.properties if p.kind != "sometimes"}
        print_compositions(results, texts)


def _report_goals(result):
    print_goals(result, {p.name: p.text for p in found_again(result).properties})


def exit_code(results: list[dict], recorded: bool) -> int:
    """3 when a run is incomplete; 1 when a property is violated or a goal is unreached, but with `recorded` only where
    the verdict is not the recorded one, or nothing is recorded.
    """
    if any(result["verdict"] == "incomplete" for result in results):
        return UNFINISHED
    return VIOLATED if any(_is_failure(result, recorded) for result in results) else OK


def _is_failure(result, recorded):
    if result["expected"] is False:
        return True
    failed = result["verdict"] == "violated" or result["unreached"]
    return failed and not (recorded and result["expected"])
