"""Single changes of the specification that no property, goal or range notices, each with the reason.

The module `unnoticed` of each system holds two tables. `EQUIVALENT` changes nothing that any property could see at any size.
`UNNOTICED` are mistakes all the same, and the sentence says why nothing is asked that notices them. A change is
known by its function and its text, as ``make mutants-random`` prints it; ``-> anything`` stands for all of a statement.
"""

from collections.abc import Mapping
from importlib import import_module
from pathlib import Path

SPEC = Path(__file__).parent

Reasons = Mapping[tuple[str, str], str]


def systems() -> list[str]:
    """The systems of which something is listed."""
    return sorted(path.parent.name.replace("_", "-") for path in SPEC.glob("*/unnoticed.py"))


def listed(system: str) -> tuple[Reasons, Reasons]:
    """What is equivalent in a system, and what goes unnoticed: reasons by (function, change)."""
    if system not in systems():
        return {}, {}
    module = import_module(f"kafkaproof.spec.{system.replace('-', '_')}.unnoticed")
    return module.EQUIVALENT, module.UNNOTICED
