"""Transitions by name: an earlier release has its own function under the name of the present one, which stands for all."""

from collections.abc import Callable


def names_of(*transitions: Callable) -> tuple[str, ...]:
    """The names of these transitions, in their order."""
    return tuple(transition.__name__ for transition in transitions)
