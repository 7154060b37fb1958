"""``kafkaproof prove``: properties of every state and step by induction, for any number of epochs."""

from __future__ import annotations

import json
import sys
from contextlib import closing
from pathlib import Path

from rich.markup import escape
from rich.table import Table

from kafkaproof.checker.basics.errors import UserError
from kafkaproof.checker.commands.main import OK, UNFINISHED, VIOLATED
from kafkaproof.checker.commands.models import add_model_options, given_sizes, the_one
from kafkaproof.checker.commands.numbers import not_negative
from kafkaproof.checker.commands.tables import console, scope_text
from kafkaproof.checker.explore.progress import Progress
from kafkaproof.checker.model.selection import properties_of
from kafkaproof.checker.pictures import render, to_svg
from kafkaproof.checker.pictures.show import show
from kafkaproof.checker.prove.cti import INITIAL
from kafkaproof.checker.prove.proof import NOT_DECIDED, NOT_INDUCTIVE, PROVED, prove
from kafkaproof.checker.prove.variables import sorts_of
from kafkaproof.spec.language.model import SAFETY
from kafkaproof.spec.proofs import plan_of

COLOURS = {PROVED: "green", NOT_INDUCTIVE: "red", NOT_DECIDED: "cyan", "violated": "red", "holds": "green"}
UNITS = {"induction": "steps", "bounded": "propagations"}
DESCRIPTION = """Prove properties by induction, with z3: they hold at first, and every action keeps them. A proof is for any
number of epochs, records and faults. It is for as many brokers as --brokers says, or with --any-brokers for any
number. Bounds that a loop runs over, and those that an option sets, keep their sizes.
With --depth, prove nothing, and look for the shortest violation in a scope instead."""
EXAMPLES = """examples:
  kafkaproof prove election --variant fenced --brokers 7
  kafkaproof prove election --variant fenced --any-brokers
  kafkaproof prove election --variant fenced --brokers 3 --no-lemmas --search 1500 --work 3000
  kafkaproof prove replication --variant kip320 --property leader_in_isr
  kafkaproof prove election --variant legacy --property one_token --output one_token.html
  kafkaproof prove consumer --variant orderly --consumers 2 --expiries 0 --splits 0 --losses 0
  kafkaproof prove replication --variant truncate-to-hw --depth 9 --log 1 --records 1 --epochs 1
  kafkaproof prove replication --variant kip101 --depth 12 --symmetry --log 1 --records 1 --epochs 1
"""


def add_parser(commands) -> None:
    """Add the subcommand."""
    parser = commands.add_parser(
        "prove",
        help="prove properties for any number of epochs, by induction",
        epilog=EXAMPLES,
        description=DESCRIPTION,
    )
    add_model_options(parser, help="replication, election ..., or a model of your own, FILE.py:MODEL")
    parser.add_argument(
        "--property",
        action="append",
        default=[],
        metavar="P",
        dest="properties",
        help="prove only this property (repeatable)",
    )
    parser.add_argument(
        "--work",
        type=_millions,
        default=1000.0,
        metavar="MILLIONS",
        help="how much the solver may do in all, in millions of z3's own steps (with --depth, of the SAT solver's "
        "propagations): the same on every machine; what is open then is not decided (default %(default)s: some minutes)",
    )
    parser.add_argument(
        "--search",
        type=_millions,
        default=0.0,
        metavar="MILLIONS",
        help="how much of that to look for missing lemmas (default: none)",
    )
    parser.add_argument(
        "--no-lemmas", action="store_true", help="without the lemmas written by hand: to see what --search finds alone"
    )
    parser.add_argument(
        "--any-brokers",
        action="store_true",
        help="for any number of brokers, in a system none of whose steps counts them",
    )
    parser.add_argument("--depth", type=int, metavar="N", help="bounded model checking, up to N states")
    parser.add_argument(
        "--symmetry",
        action="store_true",
        help="with --depth: alike ids are named in order; a model that tells them apart is refused",
    )
    parser.add_argument("--json", action="store_true", help="print the result as JSON")
    parser.add_argument("--output", metavar="FILE", help="draw the first counterexample as a page")
    parser.add_argument("--svg", metavar="FILE", help="draw it as one picture")
    parser.set_defaults(run=run)


def _millions(text):
    return not_negative(text, float, "a number of millions; write 1000")


def run(options) -> int:
    """Run the proof that the options describe; returns the exit code."""
    model, scope = the_one(options)
    properties = properties_of(model, scope, tuple(options.properties))
    goals = [p.name for p in properties if p.kind not in SAFETY]
    if goals and options.properties:
        raise UserError(
            f"{', '.join(goals)}: a goal (sometimes, eventually) is reached, not proved; explore it with "
            "`kafkaproof check`"
        )
    if options.any_brokers and options.depth is not None:
        raise UserError("--any-brokers proves; --depth needs a number of brokers")
    if options.symmetry and options.depth is None:
        raise UserError("--symmetry needs --depth: a proof is about all ids anyway")
    with closing(Progress(model.name)) as progress:
        asked = _bounded if options.depth is not None else _proved
        result, proof = asked(model, scope, properties, options, progress.note)
    code = _report(result, options)
    if options.output or options.svg:
        _draw(model, scope, result, proof, options)
    return code


def _bounded(model, scope, properties, options, note):
    from kafkaproof.checker.prove.bmc import violations_within

    return violations_within(model, scope, properties, options.depth, options.work, options.symmetry, note), None


def _proved(model, scope, properties, options, note):
    lemmas = () if options.no_lemmas else plan_of(model).lemmas
    kept = frozenset(given_sizes(options)) - sorts_of(model)
    proof = prove(model, scope, properties, lemmas, options.work, options.search, options.any_brokers, kept, note)
    return _proof_result(proof), proof


def _draw(model, scope, result, proof, options):
    """Draw the first counterexample as asked, and say where it is."""
    from kafkaproof.checker.prove.picture import histories_of_proof, histories_of_violations

    histories = histories_of_proof(proof) if proof else histories_of_violations(model, scope, result["properties"])
    out, history = sys.stderr if options.json else sys.stdout, next(histories, None)
    if history is None:
        print("nothing fails: there is no counterexample to draw", file=out)
        return
    files = {path: draw for path, draw in ((options.output, render), (options.svg, to_svg)) if path}
    for path, draw in files.items():
        Path(path).write_text(draw(history), encoding="utf-8")
    print(f"{history['title']}; open {', '.join(files)}", file=out)


def _proof_result(proof):
    """A proof in the form of ``prove --json``."""
    model, endless = proof.relation.model, proof.relation.variables.endless
    return {
        "system": model.system,
        "variant": model.variant,
        "mode": "induction",
        "scope": {name: size for name, size in proof.relation.scope.items() if name not in endless},
        "endless": sorted(endless),
        "actions": len(proof.relation.actions),
        "properties": [_entry(v) for v in proof.verdicts],
        "lemmas": [_entry(v) for v in proof.lemmas],
        "found": proof.found,
        "never_enabled": proof.never_enabled,
        "seconds": round(proof.seconds, 2),
        "processor_seconds": round(proof.processor_seconds, 2),
        "relation_seconds": round(proof.relation_seconds, 2),
        "search_seconds": round(proof.search_seconds, 2),
        "induction_seconds": round(proof.induction_seconds, 2),
        "lemmas_seconds": round(proof.lemmas_seconds, 2),
        "work": round(proof.work, 1),
    }


def _entry(verdict):
    return {
        "property": verdict.name,
        "kind": verdict.kind,
        "verdict": verdict.verdict,
        "instances": verdict.instances,
        "lemmas": verdict.lemmas,
        "where": verdict.where or None,
        "counterexample": verdict.cti
        and {
            "step": verdict.cti.step,
            "leaves": [{"leaf": l.text, "before": l.before, "after": l.after} for l in verdict.cti.leaves],
        },
    }


def _report(result, options):
    if options.json:
        print(json.dumps({"format": 1, **result}, indent=2))
    else:
        _print(result)
    verdicts = {entry["verdict"] for entry in result["properties"]}
    never = result.get("never_enabled") and 0 not in given_sizes(options).values()
    if verdicts & {NOT_INDUCTIVE, "violated"} or never:
        return VIOLATED
    return UNFINISHED if NOT_DECIDED in verdicts else OK


def _print(result):
    out = console()
    sizes = [scope_text(result["scope"])] if result["scope"] else []
    sizes += [f"any {name}" for name in result["endless"]]
    out.print(escape(f"{result['system']}, variant {result['variant']}; {', '.join(sizes)}"), soft_wrap=True)
    table = Table(header_style="bold")
    for name in ("property", "verdict", "instances", "lemmas", "where"):
        table.add_column(name, justify="right" if name in ("instances", "lemmas") else "left", overflow="fold")
    for entry in result["properties"]:
        colour = COLOURS[entry["verdict"]]
        table.add_row(
            entry["property"],
            f"[{colour}]{entry['verdict']}[/]",
            str(entry["instances"]),
            str(len(entry["lemmas"])),
            escape(entry["where"] or ""),
        )
    out.print(table)
    for entry in result["properties"] + result["lemmas"]:
        _print_failure(out, entry)
    for text in result["found"].values():
        out.print(escape(text), soft_wrap=True)
    if result["never_enabled"]:
        out.print(f"[red]never enabled where all that is proved holds: {', '.join(result['never_enabled'])}[/]")
    out.print(
        f"{result['actions']} actions, {len(result['lemmas'])} lemmas given, {len(result['found'])} found, "
        f"{result['work']:.0f} million {UNITS[result['mode']]}, {result['seconds']:.1f} s{_division(result)}",
        soft_wrap=True,
    )


def _division(result):
    """How the time of a proof is divided; empty for bounded model checking."""
    if result["mode"] != "induction":
        return ""
    relation, told = result["relation_seconds"], result["lemmas_seconds"]
    proof = result["seconds"] - relation - result["search_seconds"] - told
    parts = {"relation": relation, "proof": proof, "search": result["search_seconds"], "lemmas told": told}
    return ": " + ", ".join(f"{name} {seconds:.1f}" for name, seconds in parts.items() if name != "search" or seconds)


def _print_failure(out, entry):
    if entry["kind"] == "lemma" and entry["verdict"] != PROVED:
        out.print(f"lemma {entry['property']} is {entry['verdict']}: {escape(entry['where'])}", soft_wrap=True)
    if entry.get("trace"):
        out.print(f"{entry['property']} is violated after:", soft_wrap=True)
    for step in entry.get("trace") or ():
        out.print(f"    {escape(step)}", soft_wrap=True)
    found = entry["counterexample"]
    if not found:
        return
    how = f"may fail after {escape(found['step'])}, from a state that may be unreachable"
    out.print(f"\n{entry['property']} {'fails in an initial state' if found['step'] == INITIAL else how}:")
    for leaf in found["leaves"]:
        change = "" if leaf["before"] == leaf["after"] else f" -> {show(leaf['after'])}"
        out.print(f"    {escape(leaf['leaf'])}: {escape(show(leaf['before']) + change)}", soft_wrap=True)
