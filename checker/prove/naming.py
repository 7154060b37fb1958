"""Symmetry breaking: in a symmetric model, only behaviours that name ids in order are searched.

Of two interchangeable ids, a step names the second only if the first was named before: in an earlier step, or earlier
among its own arguments. Every behaviour can be renamed to such a one, which violates the same properties. A set of ids
as an argument counts as naming all of them.
"""

from __future__ import annotations

from dataclasses import dataclass

from kafkaproof.checker.model.execution import Execution
from kafkaproof.checker.prove.relation import Action, Relation
from kafkaproof.checker.prove.terms import Term
from kafkaproof.spec.language.domains import Id, SetOf
from kafkaproof.spec.language.renaming import Symmetry

Name = tuple[str, int]


@dataclass(frozen=True)
class Naming:
    """For each id that must be named before another, the numbers of the actions that name it, and of those that need
    it.
    """

    named: dict[Name, list[int]]
    needed: dict[Name, list[int]]


def naming_of(relation: Relation) -> Naming:
    """The order in which the steps of a symmetric model name ids that are alike in the initial states."""
    symmetry = Symmetry(relation.model, relation.scope, relation.model.interchangeable)
    follows = _follows(relation, symmetry)
    named, needed = {name: [] for name in follows.values()}, {name: [] for name in follows.values()}
    for i, action in enumerate(relation.actions):
        ids = _ids(action, symmetry)
        for name in named:
            if ids is None or name in ids:
                named[name].append(i)
        known = ids or []
        for place, name in enumerate(known):
            if name in follows and follows[name] not in known[:place]:
                needed[follows[name]].append(i)
    return Naming(named, needed)


def _follows(relation: Relation, symmetry: Symmetry) -> dict[Name, Name]:
    """For each id the one before it, if both are interchangeable and alike in the initial states."""
    execution = Execution(relation.model, relation.scope)
    initial = {execution.key(state) for state in execution.initial_states()}
    found = {}
    for sort, blocks in symmetry.blocks.items():
        for block in blocks:
            for former, latter in zip(block, block[1:]):
                images = {name: list(range(sum(map(len, all_)))) for name, all_ in symmetry.blocks.items()}
                images[sort][former], images[sort][latter] = latter, former
                renaming = symmetry.renaming({name: tuple(to) for name, to in images.items()})
                if {renaming.values(values) for values in initial} == initial:
                    found[sort, latter] = sort, former
    return found


def _ids(action: Action, symmetry: Symmetry) -> list[tuple[str, Term]] | None:
    """The interchangeable ids among an action's arguments, in order; None if a set of them is."""
    found: list[tuple[str, Term]] = []
    for domain, value in zip(action.transition.declared.values(), action.arguments):
        if isinstance(domain, (Id, SetOf)) and (sort := symmetry.sort_of(domain.sort)):
            if isinstance(domain, SetOf):
                return None
            found.append((sort, value))
    return found
