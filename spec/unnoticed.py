"""Single changes of the specification that no property, goal or range notices, and transitions that no recorded scope
takes, each with the reason.

The module `unnoticed` of each system holds two tables. `EQUIVALENT` changes nothing that any property could see at any size.
`UNNOTICED` are mistakes all the same, and the sentence says why nothing is asked that notices them. A change is
known by its function and its text, as ``make mutants-random`` prints it; ``-> anything`` stands for all of a statement.
A third table, `NEVER_TAKEN`, is there where a variant has transitions that none of its recorded scopes takes.
"""

from collections.abc import Mapping

from kafkaproof.spec.catalogue import declared

Reasons = Mapping[tuple[str, str], str]


def systems() -> list[str]:
    """The systems of which something is listed."""
    return [system for system, _ in declared("unnoticed")]


def listed(system: str) -> tuple[Reasons, Reasons]:
    """What is equivalent in a system, and what goes unnoticed: reasons by (function, change)."""
    here = dict(declared("unnoticed")).get(system)
    return (here.EQUIVALENT, here.UNNOTICED) if here else ({}, {})


def never_taken(system: str) -> Mapping[str, Mapping[str, str]]:
    """By variant of a system: a transition that no recorded scope takes, and why."""
    return getattr(dict(declared("unnoticed")).get(system), "NEVER_TAKEN", {})
