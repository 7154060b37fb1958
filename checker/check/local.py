"""Exploring a model in this process, without Spark: for small models, tests and the tutorial."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass, replace

from kafkaproof.checker.basics.errors import UserError
from kafkaproof.checker.basics.words import counted
from kafkaproof.checker.compile.kernel import Kernel
from kafkaproof.checker.explore.explorer import Explorer, Limits
from kafkaproof.checker.liveness.decide import Decided, decide
from kafkaproof.checker.prove.interchangeable import require_symmetry
from kafkaproof.checker.runs.counterexample import Trace, require_no_fault, trace_of
from kafkaproof.checker.runs.directory import RunDirectory
from kafkaproof.checker.runs.outcome import Outcome
from kafkaproof.spec.language.accepted import require_accepted
from kafkaproof.spec.language.domains import Scope
from kafkaproof.spec.language.model import Model


@dataclass(frozen=True)
class Explored:
    """What an exploration found: a shortest trace for each violated property, and the verdicts on liveness."""

    outcome: Outcome
    traces: dict[str, Trace]
    decided: list[Decided]

    def __repr__(self) -> str:
        violated = ", ".join(
            f"{name} violated in {counted(trace.states, 'state')}" for name, trace in self.traces.items()
        )
        return f"<{self.outcome.distinct:,} states explored; {violated or 'nothing violated'}>"

    def length(self, name: str) -> int | None:
        """States of the shortest counterexample of a property, None where it holds."""
        return self.traces[name].states if name in self.traces else None


def explore_here(
    model: Model,
    scope: Scope,
    *,
    keep_going: bool = True,
    deadlock: bool = False,
    only: str = "",
    symmetric: bool = False,
    limits: Limits = Limits(),
) -> Explored:
    """Explore `model` at `scope` in this process; with `only`, ask just the property of that name.

    With `symmetric`, only one state of each orbit is explored. Where `limits` stop it, liveness is not decided.

    Raises UnitError or RuleError for a model that cannot be compiled; AsymmetryError where symmetry is asked for and
    not proved; UserError where a value or an index leaves its range, or where the scope has no property called `only`.
    """
    require_accepted(replace(model, properties=()), scope)
    properties = tuple(p for p in model.properties_at(scope) if only in ("", p.name))
    if only and not properties:
        raise UserError(f"{model.name} has no property {only} at this scope")
    kernel = Kernel(model, scope, properties, symmetric)
    if symmetric:
        require_symmetry(model, scope, properties)
    with tempfile.TemporaryDirectory() as directory:
        run = RunDirectory(directory)
        run.create({})
        explorer = Explorer(run, kernel, None, 1, keep_going=keep_going, deadlock=deadlock, limits=limits)
        explorer.explore()
        require_no_fault(run, kernel, explorer.outcome)
        traces = {found.name: trace_of(run, kernel, found) for found in explorer.outcome.violations}
        decided = decide(run, kernel) if explorer.outcome.finished else []
    return Explored(explorer.outcome, traces | {d.prop.name: d.lasso for d in decided if d.lasso}, decided)
