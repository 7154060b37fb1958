"""Mistakes made by machine: single changes drawn by a seed. ``python -m checker.mutation.by_machine --help``."""

from __future__ import annotations

import argparse
import multiprocessing
import os
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from checker.mutation.changes import Change
from checker.mutation.sample import drawn
from checker.mutation.verdicts import COUNTS, NOTICED, SILENT, STILLBORN, UNREACHED, Verdict, judge, originals
from spec.catalogue import find
from spec.language.model import Model
from spec.mutants.unnoticed import Reasons, listed

SYSTEMS = {
    "replication": "kip320", "async-isr": "maximal-isr", "election": "fenced", "partition": "fenced",
    "topics": "kip455", "requests": "current", "replica": "current", "group": "current", "consumer": "orderly",
    "cluster": "fenced",
}
"""The variant of each system that is changed: the one that stands for Kafka as it was last."""
HEADER = """# Mutants by machine

`make mutants-random` changes one thing in the transitions of each system, or in what they call: it drops a guard, an
assignment, a call, an `else` or one of several conditions, negates a condition, exchanges a comparison, a constant for
another of its kind, a field or an argument for another of its domain, or two arguments. Changes are drawn by a seed;
every transition gets as many. Each is explored at the scope `quick`, and where nothing notices it there, at `standard`,
and at `quick` with one more fault, as far as the model has no more than 500,000 states there, and at the other scopes
that have a name, with no more than 100,000.

*Stillborn*: the rules of the language refuse it. *Noticed*: a property is violated or no longer violated, a goal is no
longer reached, or a value leaves its range. *Counts only*: just the numbers of states, steps or cuts differ.
*Not reached*: no step comes to the changed line at these scopes. *Silent*: nothing differs. *Equivalent*: nothing
could ever tell; the reasons are in `spec/mutants/unnoticed`, as are those for what goes unnoticed. The share is what is
noticed of all that is born, reached and not equivalent.

"""
TABLE = """| system/variant | mutants | stillborn | not reached | equivalent | noticed | counts only | silent | share |
| --- | --- | --- | --- | --- | --- | --- | --- | --- |
"""
EQUIVALENT = "equivalent"


@dataclass(frozen=True)
class Judged:
    """A change of a model, with what became of it and, where it is listed as going unnoticed, the reason."""

    change: Change
    verdict: Verdict
    kind: str
    reason: str


def judged(model: Model, changes: list[Change]):
    """Judge changes, each in a process of its own, since a changed index may reach anything; yields `Judged`."""
    known = originals(model)
    equivalent, unnoticed = listed(model.system)
    for change in changes:
        verdict = _apart(known, change)
        if verdict.kind not in (STILLBORN, NOTICED) and reason_of(change, equivalent):
            yield Judged(change, verdict, EQUIVALENT, reason_of(change, equivalent))
        else:
            yield Judged(change, verdict, verdict.kind, reason_of(change, unnoticed))


def reason_of(change: Change, reasons: Reasons) -> str:
    """The reason that is listed for a change, or for anything in the place of what it changes; empty if there is none."""
    return next((reasons[change.of, text] for text in (change.text, change.to_anything) if (change.of, text) in reasons), "")


def _apart(known, change):
    fork = multiprocessing.get_context("fork")
    receiving, sending = fork.Pipe(duplex=False)
    process = fork.Process(target=lambda: sending.send(judge(known, change)))
    process.start()
    sending.close()
    try:
        verdict = receiving.recv()
    except EOFError:
        verdict = None
    process.join()
    if verdict is None and process.exitcode >= 0:
        raise RuntimeError(f"{change.place}: {change.text}: judging it has failed")
    return verdict or Verdict(NOTICED, "range", known[0].name)


def row(model: Model, found: list[Judged]) -> str:
    """A system's row of the table."""
    kinds = Counter(one.kind for one in found)
    asked = kinds[NOTICED] + kinds[COUNTS] + kinds[SILENT]
    share = f"{100 * kinds[NOTICED] // asked} %" if asked else "-"
    columns = (STILLBORN, UNREACHED, EQUIVALENT, NOTICED, COUNTS, SILENT)
    cells = (f"{model.system}/{model.variant}", len(found), *(kinds[kind] for kind in columns), share)
    return "| " + " | ".join(map(str, cells)) + " |"


def line(one: Judged) -> str:
    """What became of one change, on one line."""
    verdict = one.verdict
    by = f" by {verdict.by}" if verdict.by and verdict.kind != STILLBORN else ""
    told = f"{one.kind}{by}{f' at {verdict.scope}' if verdict.scope else ''}"
    reason = f": {one.reason}" if one.reason else ""
    return f"- {one.change.place}: `{one.change.text}`: {told}{reason}"


def main(arguments: list[str]) -> int:
    """Judge what the seed draws and print it, and with ``--output`` write the page."""
    parser = argparse.ArgumentParser(prog="make mutants-random", description=__doc__.split(":")[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--per", type=int, default=40, help="changes of each system")
    parser.add_argument("--system", choices=SYSTEMS, action="append", help="only this system")
    parser.add_argument("--output", type=Path, help="write the page there")
    given = parser.parse_args(arguments)
    rows, parts = [], []
    with tempfile.TemporaryDirectory() as directory:
        os.environ["XDG_CACHE_HOME"] = directory
        for system in given.system or SYSTEMS:
            model, found = find(system, SYSTEMS[system])[0], []
            parts += [f"\n## {system}/{SYSTEMS[system]}\n"]
            for one in judged(model, drawn(model, given.per, given.seed)):
                found.append(one)
                parts.append(line(one))
                print(parts[-1], flush=True)
            rows.append(row(model, found))
    table = TABLE + "\n".join(rows) + "\n"
    print("\n" + table)
    if given.output:
        made = f"Seed {given.seed}, {given.per} changes of each system.\n\n"
        given.output.write_text(HEADER + made + table + "\n".join(parts) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
