"""Mutants of the simplest kind: a function that does nothing, or that answers always the same."""

from typing import Callable

from spec.language.domains import Scope
from spec.mutants.mutant import Mutant, everywhere


def nothing_of_one(a):
    """It does nothing."""
    pass


def nothing_of_two(a, b):
    """It does nothing."""
    pass


def nothing_of_three(a, b, c):
    """It does nothing."""
    pass


def nothing_of_four(a, b, c, d):
    """It does nothing."""
    pass


def nothing_of_five(a, b, c, d, e):
    """It does nothing."""
    pass


def no_of_one(a):
    """It answers with 0."""
    return 0


def no_of_two(a, b):
    """It answers with 0."""
    return 0


def no_of_three(a, b, c):
    """It answers with 0."""
    return 0


def no_of_four(a, b, c, d):
    """It answers with 0."""
    return 0


def no_of_five(a, b, c, d, e):
    """It answers with 0."""
    return 0


def yes_of_one(a):
    """It answers with 1."""
    return 1


def yes_of_two(a, b):
    """It answers with 1."""
    return 1


def yes_of_three(a, b, c):
    """It answers with 1."""
    return 1


def yes_of_four(a, b, c, d):
    """It answers with 1."""
    return 1


NOTHING = (nothing_of_one, nothing_of_two, nothing_of_three, nothing_of_four, nothing_of_five)
NO = (no_of_one, no_of_two, no_of_three, no_of_four, no_of_five)
YES = (yes_of_one, yes_of_two, yes_of_three, yes_of_four)


def simple(kills: str, function: Callable, ways: tuple, at: Scope) -> Mutant:
    """A function that does nothing (`NOTHING`), or answers always no or OK (`NO`), or yes or an error (`YES`)."""
    told = {id(NOTHING): "does nothing", id(NO): "answers with 0", id(YES): "answers with 1"}[id(ways)]
    wrong = ways[function.__code__.co_argcount - 1]
    name = f"{function.__name__}-{told.split()[-1]}-{kills}".replace("_", "-")
    return Mutant(name, f"`{function.__name__}` {told}, which `{kills}` notices.", kills, everywhere({function: wrong}), at)
