"""What exploration says of every recorded scope, as ``docs/verdicts.md`` has it.

``python -m kafkaproof.checker.check.recorded FILE [SYSTEM/VARIANT ...]`` explores them, and writes the table to FILE; of
what is not named, the rows stay as FILE has them.
"""

from __future__ import annotations

import sys
from pathlib import Path

from kafkaproof.checker.basics.rows import renew, row
from kafkaproof.checker.check.local import Explored, explore_here
from kafkaproof.checker.explore.explorer import Limits
from kafkaproof.checker.prove.explored import in_brackets
from kafkaproof.spec.catalogue import all_models
from kafkaproof.spec.language.domains import Scope
from kafkaproof.spec.language.model import LIVENESS, Model

MOST = 1_500_000
"""A scope is explored up to the end of the level on which it passes this number of states."""
HEADER = f"""# Verdicts: what exploration says of every recorded scope

Each row is one exploration. Many variants are of earlier releases of Kafka, and are meant to fail. `make verdicts` writes this
page.

- *scope*: its sizes, in the order of `kafkaproof list SYSTEM`.
- *used as*: the names by which `check --scope` knows it.
- *states*: how many there are. *over*: exploration stopped at {MOST:,} states; `make thorough` explores some of these wholly.
- *violated*: the properties that fail, each with the length of its shortest counterexample in states.
- *as declared*: whether this is what the variant declares in its `model.py`; and at a scope with a name, which goals were not
  reached.

| system/variant | scope | used as | states | depth | violated | as declared |
| --- | --- | --- | ---: | ---: | --- | --- |
"""


def differences(model: Model, scope: Scope, explored: Explored) -> str:
    """How a verdict differs from the one that `model` declares at `scope`; "yes" if it does not.

    Where the exploration was stopped, only what it found is compared: other violations may be longer.
    """
    finished = explored.outcome.finished
    found = {name: trace.states for name, trace in explored.traces.items()}
    declared = model.expectation(scope) or {}
    wrong = [
        f"{name} {declared.get(name, 'holds')} is declared"
        for name in sorted({*found, *declared})
        if found.get(name) != declared.get(name) and (finished or name in found)
    ]
    wrong += [f"{goal} is not reached" for goal in unreached(model, scope, explored)]
    return "; ".join(wrong) or "yes"


def unreached(model: Model, scope: Scope, explored: Explored) -> list[str]:
    """The goals that a complete exploration of a scope with a name did not reach."""
    if not explored.outcome.finished or scope not in model.scopes.values():
        return []
    goals = {p.name for p in model.properties_at(scope) if p.kind == "sometimes"}
    return sorted(goals - explored.outcome.reached)


def recorded_row(model: Model, scope: Scope, explored: Explored, verdict: str) -> str:
    """The row of a scope; `verdict` is how it differs from what is declared."""
    outcome = explored.outcome
    names = ", ".join(name for name in model.scopes if model.scopes[name] == scope)
    live = {p.name for p in model.properties if p.kind in LIVENESS}
    violated = sorted((trace.states, name in live, name) for name, trace in explored.traces.items())
    states = f"{'' if outcome.finished else 'over '}{outcome.distinct:,}"
    lengths = ", ".join(f"{name} {length}" for length, _, name in violated) or "nothing"
    return row(model.name, in_brackets(scope), names, states, outcome.depth, lengths, verdict)


def main(arguments: list[str]) -> int:
    """Explore the recorded scopes of the variants that are named (of all, without names), and write the table.

    1 when a verdict is not the declared one, 2 for wrong use.
    """
    models = {model.name: model for model in all_models()}
    names = arguments[1:] or list(models)
    if not arguments or {*names} - {*models}:
        print(f"usage: python -m kafkaproof.checker.check.recorded FILE [{' | '.join(models)} ...]", file=sys.stderr)
        return 2
    wrong = 0
    for name in names:
        rows = []
        for scope in models[name].expected:
            explored = explore_here(models[name], scope, limits=Limits(states=MOST))
            verdict = differences(models[name], scope, explored)
            rows.append(recorded_row(models[name], scope, explored, verdict))
            wrong += verdict != "yes"
            print(rows[-1], flush=True)
        renew(Path(arguments[0]), HEADER, {name: rows}, models)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
