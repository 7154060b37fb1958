"""Steps as text: ``controller.register(b=1, applied=1) -> NODEEXISTS``."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from typing import TypeVar

Value = TypeVar("Value")
_STEP = re.compile(r"([\w.]+)\(([^()]*)\)(?: -> (\w+))?")


@dataclass(frozen=True)
class Step:
    """A transition's name, its arguments, and the answer to its request (None without one)."""

    transition: str
    arguments: dict[str, int] = field(default_factory=dict)
    answer: str | None = None

    @property
    def name(self) -> str:
        """The transition's name without its module."""
        return self.transition.rpartition(".")[2]

    @property
    def bare(self) -> Step:
        """This step without the module of its transition, whose name may have changed since it was recorded."""
        return replace(self, transition=self.name)

    def __str__(self) -> str:
        arguments = ", ".join(f"{name}={value}" for name, value in self.arguments.items())
        answer = f" -> {self.answer}" if self.answer else ""
        return f"{self.transition}({arguments}){answer}"


@cache
def arguments_of(function: Callable) -> tuple[str, ...]:
    """The names of a transition's arguments, but for the state."""
    return function.__code__.co_varnames[1 : function.__code__.co_argcount]


def names(*functions: Callable) -> tuple[str, ...]:
    """The names of these transitions in the text of steps, the same in all variants."""
    return tuple(function.__name__ for function in functions)


def by_name(declared: Mapping[Callable, Value]) -> dict[str, Value]:
    """What is declared about transitions, by their names."""
    return {function.__name__: value for function, value in declared.items()}


def parse_step(text: str) -> Step:
    """The step that `text` names; raises ValueError for other text."""
    found = _STEP.fullmatch(text.strip())
    if not found:
        raise ValueError(f"not a step: {text!r}; a step reads like election.register(b=1) -> OK")
    name, arguments, answer = found.groups()
    pairs = [part.split("=") for part in arguments.split(",") if part.strip()]
    return Step(name, {key.strip(): int(value) for key, value in pairs}, answer)
