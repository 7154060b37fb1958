"""Mutants of the simplest kind: a function that does nothing, or always returns the same."""

from collections.abc import Callable

from kafkaproof.spec.language.domains import Scope
from kafkaproof.spec.language.mutants.mutant import Mutant, everywhere
from kafkaproof.spec.language.text import function_from

NOTHING, NO, YES = "pass", "return 0", "return 1"
"""The whole body of a function: it does nothing, or returns 0 (no, or OK), or returns 1 (yes, or an error)."""
TOLD = {NOTHING: "does nothing", NO: "answers with 0", YES: "answers with 1"}


def simple(kills: str, function: Callable, way: str, at: Scope) -> Mutant:
    """The mutant in which a function has this body (`NOTHING`, `NO` or `YES`)."""
    told, parameters = TOLD[way], ", ".join(f"a{n}" for n in range(function.__code__.co_argcount))
    wrong = function_from("simple", f'def simple({parameters}):\n    """It {told}."""\n    {way}\n', {})
    name = f"{function.__name__}-{told.split()[-1]}-{kills}".replace("_", "-")
    text = f"`{function.__name__}` {told}, which `{kills}` notices."
    return Mutant(name, text, kills, everywhere({function: wrong}), at)
