"""Refinement: what must agree between the states of two systems for one to behave like the other."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace

from kafkaproof.spec.language.domains import Scope
from kafkaproof.spec.language.model import Model, Transition


@dataclass(frozen=True)
class Added:
    """A step that the abstract model lacks, and needs at scopes of at least the sizes `least`."""

    transition: Transition
    least: Mapping[str, int] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The name of the step's function."""
        return self.transition.function.__name__


def as_it_is(model: Model) -> Model:
    """The model itself."""
    return model


@dataclass(frozen=True)
class Refinement:
    """How the variants of `system` behave like `abstract`, a model, with the steps `added` to it.

    `equal` maps fields (``zk.isr``) of a concrete state to those of an abstract one that must have the same values.
    `agrees(s, a)` must hold besides, before and after each concrete step. `passes(s, a)`, which it implies, must hold
    of the abstract states in between. `sizes` gives the sizes of `abstract` at a scope of `system`. `noted` adds to a
    variant what `agrees` must know of its history. `name` is that of the system or slice that relies on the refinement, and
    `variant` the one that is followed unless another is asked for (the newest, where it is empty).
    """

    system: str
    abstract: Model
    added: tuple[Added, ...]
    equal: Mapping[str, str]
    passes: Callable
    agrees: Callable
    sizes: Callable[[Scope], Scope] = dict
    noted: Callable[[Model], Model] = as_it_is
    name: str = ""
    variant: str = ""

    def __post_init__(self):
        object.__setattr__(self, "name", self.name or self.system)

    def added_at(self, scope: Scope, without: Iterable[str] = ()) -> tuple[Added, ...]:
        """The steps that are added at a scope, except those called `without`."""
        return tuple(
            a for a in self.added if a.name not in without and all(scope[name] >= n for name, n in a.least.items())
        )

    def model_at(self, scope: Scope, without: Iterable[str] = ()) -> Model:
        """The abstract model with these steps."""
        steps = tuple(a.transition for a in self.added_at(scope, without))
        return replace(self.abstract, transitions=self.abstract.transitions + steps, expected={})

    def abstract_scope(self, scope: Scope) -> Scope:
        """The sizes of the abstract model at a scope; sizes of the same name must be equal."""
        sizes = self.sizes(scope)
        return {name: sizes[name] for name in self.abstract.scope}
