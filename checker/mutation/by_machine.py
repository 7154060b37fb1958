"""Machine-made mutants: single changes, drawn from a seed. ``python -m kafkaproof.checker.mutation.by_machine --help``."""

from __future__ import annotations

import argparse
import multiprocessing
import os
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

from kafkaproof.checker.mutation.changes import Change, calls
from kafkaproof.checker.mutation.page import EQUIVALENT, Judged, Page, line
from kafkaproof.checker.mutation.sample import drawn
from kafkaproof.checker.mutation.verdicts import NOTICED, STILLBORN, Original, Verdict, judge, originals
from kafkaproof.spec.catalogue import find
from kafkaproof.spec.language.model import Model
from kafkaproof.spec.unnoticed import Reasons, listed

VARIANTS = (
    "replication/kip320",
    "async-isr/maximal-isr",
    "election/fenced",
    "partition/fenced",
    "partition/creating",
    "partition/deleting",
    "partition/reassigning",
    "partition/altering",
    "partition/expanding",
    "partition/withdrawing",
    "partition/updating",
    "partition/phases-checked",
    "partition/recovering",
    "partition/recreating",
    "partition/electing-fenced",
    "topics/kip455",
    "requests/current",
    "replica/current",
    "group/current",
    "consumer/orderly",
    "offsets/repaired",
    "cluster/fenced",
)
"""The variants that are changed, `SYSTEM/VARIANT`: the latest of each system, and then slices that have more text."""
SLICES = {"topics": "partition", "requests": "partition"}
"""Systems whose rules are those of another, which has rows of its own."""
STEPS_OF = {"partition/electing-fenced": ("election/fenced",)}
"""Slices that take the steps of another system, which has a row of its own: it is asked as a part would be."""


def variants() -> dict[str, tuple[Model, tuple[Model, ...]]]:
    """The models that are changed, by name, each with those before it whose text is not changed once more: the others of
    its system, and of the one that it is a slice of.
    """
    found: dict[str, tuple[Model, tuple[Model, ...]]] = {}
    before: dict[str, tuple[Model, ...]] = {}
    for name in VARIANTS:
        model = find(*name.split("/"))[0]
        own = before.get(model.system, ())
        found[name] = model, own + before.get(SLICES.get(model.system, ""), ())
        before[model.system] = (*own, model)
    return found


def others_asked(name: str) -> tuple[Model, ...]:
    """Who is asked too what a variant does not notice: those whose steps it takes, and those of the same system that are
    changed after it, since some of them run its text with more besides.
    """
    after = VARIANTS[VARIANTS.index(name) + 1 :]
    same = (each for each in after if each.split("/")[0] == name.split("/")[0])
    return tuple(find(*each.split("/"))[0] for each in (*STEPS_OF.get(name, ()), *same))


def judged(model: Model, changes: list[Change], others: tuple[Model, ...] = ()):
    """Judge changes, each in a process of its own, since a changed index may write anywhere; yields `Judged`.

    What the model does not notice is asked of its parts, and of the `others`, as far as they run what is changed.
    """
    asked = (model, *(find(*part)[0] for part in model.parts), *others)
    known: dict[int, list[Original]] = {}
    equivalent, unnoticed = listed(model.system)
    for change in changes:
        verdict = _judged_by_all(asked, change, known)
        if verdict.kind not in (STILLBORN, NOTICED) and reason_of(change, equivalent):
            yield Judged(change, verdict, EQUIVALENT, reason_of(change, equivalent))
        else:
            reason = "" if verdict.kind == NOTICED else reason_of(change, unnoticed)
            yield Judged(change, verdict, verdict.kind, reason)


def reason_of(change: Change, reasons: Reasons) -> str:
    """The listed reason for a change, or for any change of its statement; empty if there is none."""
    return next(
        (reasons[change.of, text] for text in (change.text, change.to_anything) if (change.of, text) in reasons), ""
    )


def _judged_by_all(asked, change, known):
    """The verdict of the first model on a change; if it notices nothing, that of the first other that does.

    `known` keeps the unchanged models, by their place among those `asked`.
    """
    verdict = _apart(_known(0, asked, known), change)
    for place, other in enumerate(asked[1:], 1):
        if verdict.kind in (STILLBORN, NOTICED):
            break
        if calls(other, change.function):
            found = _apart(_known(place, asked, known), change)
            if found.kind == NOTICED:
                verdict = replace(found, scope=f"{found.scope} of {other.name}")
    return verdict


def _known(place, asked, known):
    """The unchanged model at its scopes, explored when it is asked first."""
    if place not in known:
        known[place] = originals(asked[place])
    return known[place]


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
    if verdict is None and (process.exitcode or 0) >= 0:
        raise RuntimeError(f"{change.place}: {change.text}: judging it has failed")
    return verdict or Verdict(NOTICED, "range", known[0].name)


def main(arguments: list[str]) -> int:
    """Judge the changes that a seed draws, and print them; with ``--output``, write them to the page, variant by variant."""
    parser = argparse.ArgumentParser(prog="make mutants-random", description=__doc__.split(":")[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--per", type=int, default=40, help="changes of each variant")
    parser.add_argument("--variant", choices=VARIANTS, action="append", help="only this one", metavar="SYSTEM/VARIANT")
    parser.add_argument("--output", type=Path, help="write the page there; other variants and seeds stay on it")
    given = parser.parse_args(arguments)
    page = Page.read(given.output)
    with tempfile.TemporaryDirectory() as directory:
        os.environ["XDG_CACHE_HOME"] = directory
        for name in given.variant or VARIANTS:
            model, others = variants()[name]
            found: list[Judged] = []
            for one in judged(model, drawn(model, given.per, given.seed, others), others_asked(name)):
                found.append(one)
                print(line(one), flush=True)
            page.put(model, given.seed, found)
            if given.output:
                given.output.write_text(page.text(), encoding="utf-8")
    print("\n" + page.table())
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
