"""Mutants: a model with one deliberate mistake, and the property that must notice it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from kafkaproof.spec.language.domains import Scope, Size
from kafkaproof.spec.language.model import Model, first_paragraph
from kafkaproof.spec.language.rebind import rebind


@dataclass(frozen=True)
class Mutant:
    """`mutate` gives the model a mistake; exploration at `scope` must then violate the property `kills`.

    `kills` is empty for a mistake that is compared by counts alone. `counts` maps a scope to what independent checkers
    found: distinct states, depth, and the lengths of the shortest
    counterexamples of weak_isr and strong_isr (None if they hold).
    """

    name: str
    text: str
    kills: str
    mutate: Callable[[Model], Model]
    scope: Scope
    counts: Mapping[Size, tuple] = field(default_factory=dict)


def within(name: str, replacements: Mapping[Callable, Callable]) -> Callable[[Model], Model]:
    """A mutation that replaces callees in the transition function called `name` alone."""

    def mutate(model: Model) -> Model:
        if not any(t.function.__name__ == name for t in model.transitions):
            raise KeyError(f"{model.name} has no transition {name}")
        transitions = tuple(
            replace(t, function=rebind(t.function, replacements)) if t.function.__name__ == name else t
            for t in model.transitions
        )
        return replace(model, transitions=transitions)

    return mutate


def everywhere(replacements: Mapping[Callable, Callable]) -> Callable[[Model], Model]:
    """A mutation that replaces callees, or whole transitions, wherever they are used."""
    return lambda model: model.rebound(replacements)


def mutant(name: str, kills: str, replacements: Mapping[Callable, Callable], at: Scope) -> Mutant:
    """A mutant that replaces callees everywhere, described by the docstring of the first replacement."""
    return Mutant(name, first_paragraph(next(iter(replacements.values()))), kills, everywhere(replacements), at)
