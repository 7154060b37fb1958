"""A model's properties as an assertion, whose failure tells the counterexample."""

from __future__ import annotations

import json
import shlex
import tempfile
from pathlib import Path

from kafkaproof.checker.basics.words import counted
from kafkaproof.checker.check.local import Explored, explore_here
from kafkaproof.checker.explore.explorer import Limits
from kafkaproof.checker.pictures import to_text
from kafkaproof.checker.pictures.histories import history_of
from kafkaproof.spec.language.domains import Scope
from kafkaproof.spec.language.model import Model


def assert_holds(
    model: Model,
    scope: Scope | None = None,
    *,
    only: str = "",
    deadlock: bool = False,
    symmetric: bool = False,
    limits: Limits = Limits(),
) -> Explored:
    """Explore a model at a scope (by default its own), and raise AssertionError unless every property holds.

    The failure has the shortest counterexample as text, and the command that draws it. A goal (*sometimes*) that no state
    reaches is a failure, and so is an exploration that stops at one of the `limits`. The options are those of
    `explore_here`.
    """
    __tracebackhide__ = True
    scope = model.scope if scope is None else scope
    found = explore_here(model, scope, only=only, deadlock=deadlock, symmetric=symmetric, limits=limits)
    told = f"{model.name} ({', '.join(f'{name} {size}' for name, size in scope.items())})"
    if found.traces:
        raise AssertionError(f"{told} {_violations(model, found)}")
    if not found.outcome.finished:
        raise AssertionError(f"{told} is not explored to the end: {found.outcome.distinct:,} states so far")
    asked = [p for p in model.properties_at(scope) if only in ("", p.name)]
    goals = [p.name for p in asked if p.kind == "sometimes" and p.name not in found.outcome.reached]
    goals += [decided.prop.name for decided in found.decided if decided.vacuous]
    if goals:
        raise AssertionError(f"{told} never reaches {', '.join(goals)}, in {found.outcome.distinct:,} states")
    return found


def _violations(model, found):
    """What is violated, the shortest counterexample as text, and the command that draws it."""
    lengths = {name: trace.states for name, trace in found.traces.items()}
    shortest = min(lengths, key=lambda name: lengths[name])
    violated = next((p for p in model.properties if p.name == shortest), None)
    history = history_of(found.traces[shortest], violated)
    file = Path(tempfile.mkdtemp(prefix="kafkaproof-")) / f"{model.system}-{model.variant}-{shortest}.json"
    file.write_text(json.dumps(history), encoding="utf-8")
    names = ", ".join(
        f"{name} in {counted(states, 'state')}" for name, states in sorted(lengths.items(), key=lambda each: each[1])
    )
    return f"violates {names}\n\n{to_text(history)}\ndraw it with: kafkaproof show {shlex.quote(str(file))}"
