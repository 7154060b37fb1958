"""What a mutant is: a model with one deliberate mistake, and the property that must notice it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Callable

from spec.language.domains import Scope
from spec.language.model import Model


@dataclass(frozen=True)
class Mutant:
    """`mutate` gives the model a mistake; exploration at `scope` must then violate the property `kills`."""

    name: str
    text: str
    kills: str
    mutate: Callable[[Model], Model]
    scope: Scope
