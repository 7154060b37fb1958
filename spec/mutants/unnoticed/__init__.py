"""Single changes of the specification that no property, goal or range notices, each with the reason.

A module for each system holds two tables. `EQUIVALENT` changes nothing that any property could see at any size.
`UNNOTICED` are mistakes all the same, and the sentence says why nothing is asked that notices them. A change is
known by its function and its text, as ``make mutants-random`` prints it; ``-> anything`` stands for all of a statement.
"""

from importlib import import_module
from pkgutil import iter_modules
from typing import Mapping

Reasons = Mapping[tuple[str, str], str]


def systems() -> list[str]:
    """The systems of which something is listed."""
    return sorted(module.name.replace("_", "-") for module in iter_modules(__path__))


def listed(system: str) -> tuple[Reasons, Reasons]:
    """What is equivalent in a system, and what goes unnoticed: reasons by (function, change)."""
    if system not in systems():
        return {}, {}
    module = import_module(f"{__name__}.{system.replace('-', '_')}")
    return module.EQUIVALENT, module.UNNOTICED
