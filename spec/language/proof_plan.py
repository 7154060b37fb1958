"""How a variant is proved: by which lemmas, and at which sizes."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from kafkaproof.spec.language.domains import Scope


@dataclass(frozen=True)
class ProofPlan:
    """How the properties of a variant are proved by induction.

    `lemmas` are what must be known besides a property, so that no step can break it: predicates of a state, for all values
    of their other arguments. Where a proof needs sizes, it has those of the standard scope, but for `sizes`. docs/proved.md
    has a section more where the bounds `undisturbed` keep the sizes given here, and one for `any_number` of brokers.
    `false_beyond` says of a property when it fails, beyond the recorded scopes that have the sizes of the proof: there is
    nothing to prove.
    """

    lemmas: tuple[Callable, ...]
    sizes: Scope = field(default_factory=dict)
    undisturbed: Scope | None = None
    any_number: bool = False
    false_beyond: Mapping[str, str] = field(default_factory=dict)
