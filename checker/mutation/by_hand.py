"""Mistakes made by hand: every one must be noticed.

``python -m kafkaproof.checker.mutation.by_hand FILE [SYSTEM/VARIANT ...]`` writes the table; of what is not named, the rows
stay as FILE has them.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

from kafkaproof.checker.basics.rows import renew, row
from kafkaproof.checker.check.local import explore_here
from kafkaproof.spec.catalogue import declared, find
from kafkaproof.spec.language.domains import Scope
from kafkaproof.spec.language.model import Model
from kafkaproof.spec.language.mutants.mutant import Mutant

HEADER = """# Mutants: deliberate mistakes, and what notices them

A property that cannot fail says nothing. So for each property there is a *mutant*, a deliberate mistake in the model that
the property must notice. Each row is one of them, explored. `make mutants` writes this page; [another one](mutants-random.md) has
changes that are drawn at random.

- *mistake*: what the changed model does.
- *scope*: the sizes at which it was explored.
- *killed by*: the property that is violated. *its counts*: none is, but the number of states differs, and an independent checker
  found the same number.
- *shortest*: the length of the shortest counterexample, in states.
- *verdict*: *noticed*, or what is wrong.

| system/variant | mistake | scope | killed by | shortest | distinct states | verdict |
| --- | --- | --- | --- | --- | --- | --- |
"""


@dataclass(frozen=True)
class Verdict:
    """What became of a mutant: `length` of the counterexample of the property that kills it, and counts.

    `length` is in states, and for a lasso also tells of its loop; empty where nothing is violated.
    """

    mutant: Mutant
    scope: Scope
    length: str
    distinct: int
    noticed: bool


def judge(model: Model, mutant: Mutant) -> list[Verdict]:
    """Explore a mutant of `model`: at each scope with counts, or at its own until the property breaks."""
    if not mutant.counts:
        explored = explore_here(mutant.mutate(model), mutant.scope, keep_going=False, only=mutant.kills)
        trace = explored.traces.get(mutant.kills)
        return [Verdict(mutant, mutant.scope, trace.extent if trace else "", explored.outcome.distinct, bool(trace))]
    return [_counted(model, mutant, at, row) for at, row in mutant.counts.items()]


def _counted(model, mutant, scope, row):
    explored = explore_here(mutant.mutate(model), scope)
    weak, strong = explored.length("weak_isr"), explored.length("strong_isr")
    outcome = explored.outcome
    noticed = (outcome.distinct, outcome.depth, weak, strong) == row
    return Verdict(mutant, scope, str(weak or strong or ""), outcome.distinct, noticed)


def catalogue() -> list[tuple[Model, Mutant]]:
    """Every mutant with the model that it is a mutant of: `MUTANTS` of each system's `mutants` has them by variant."""
    return [
        (find(system, variant)[0], mutant)
        for system, here in declared("mutants")
        for variant, mutants in here.MUTANTS.items()
        for mutant in mutants
    ]


def main(arguments: list[str]) -> int:
    """Judge the mutants of the variants that are named (of all, without names), and write the table.

    1 when one is not noticed, 2 for wrong use.
    """
    mutants = catalogue()
    known = list(dict.fromkeys(model.name for model, _ in mutants))
    file, names = Path(arguments[0] if arguments else ""), arguments[1:] or known
    if not arguments or {*names} - {*known}:
        print(f"usage: python -m kafkaproof.checker.mutation.by_hand FILE [{' | '.join(known)} ...]", file=sys.stderr)
        return 2
    rows: dict[str, list[str]] = {name: [] for name in names}
    survivors = 0
    for model, mutant in mutants:
        for verdict in judge(model, mutant) if model.name in rows else ():
            survivors += not verdict.noticed
            rows[model.name].append(_row(model, verdict))
            print(rows[model.name][-1], flush=True)
    renew(file, HEADER, rows, known)
    print(f"{sum(map(len, rows.values()))} explorations, {survivors} mistakes not noticed")
    return 1 if survivors else 0


def _row(model, verdict):
    scope = ", ".join(f"{name} {value}" for name, value in verdict.scope.items())
    verdict_text = "noticed" if verdict.noticed else "**NOT NOTICED**"
    killer = verdict.mutant.kills if verdict.length else "its counts"
    return row(model.name, verdict.mutant.text, scope, killer, verdict.length, f"{verdict.distinct:,}", verdict_text)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
