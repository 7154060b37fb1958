"""Two steps that touch nothing of each other may change places: of all such orders of a behaviour, one is asked for.

Two actions are independent when neither changes a leaf that the other reads or changes. Then both orders are possible
or neither, and lead to the same state. Of the behaviours that such exchanges make of each other, kept is the first in
the order of the dictionary, by the numbers of its actions: no step comes after steps that are all independent of it
when one of these has a higher number, for it could have been taken before that one (the normal form of Anisimov and
Knuth; in exploration, sleep sets). The last step stays where it is, so that properties of steps are of the same step.
Exchanges keep the length and the last state, so a shortest violation is kept.

It is sound together with `naming`. Of all behaviours that exchanges and renamings make of a shortest violation, all of
them violations of that length, the first in the order of the dictionary is in this order, and it names ids in order,
too: a step that names an id too early would, with it and the one before it renamed to each other, be an action with
a lower number, and the steps before it, which name neither, would stay. For actions are numbered by transition, then by
arguments from first to last, and a step waits only for an id that is not earlier among its own arguments.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import z3

from kafkaproof.checker.prove.relation import Action, Relation


@dataclass(frozen=True)
class Touched:
    """The leaves that an action reads, in its guard or for what it writes, and those that it may change."""

    reads: frozenset[tuple]
    writes: frozenset[tuple]


def touched(relation: Relation, action: Action) -> Touched:
    """What an action touches."""
    reads = frozenset().union(*map(relation.reads, (action.guard, *action.after.values())))
    return Touched(reads, frozenset(action.after))


def in_order(
    relation: Relation, taken: list[z3.BoolRef], late: list[z3.BoolRef], late_after: list[z3.BoolRef]
) -> Iterator[z3.BoolRef]:
    """That a step which is `taken` is not too `late`, and which actions are too late after it, one truth each.

    An action becomes too late by a step with a higher number, and is so until a step that is not independent of it.
    """
    all_touched = [touched(relation, action) for action in relation.actions]
    reading, writing = _by_leaf(taken, (t.reads for t in all_touched)), _by_leaf(taken, (t.writes for t in all_touched))
    later = z3.BoolVal(False)
    for i, own in reversed(list(enumerate(all_touched))):
        meets = [writing[path] for path in sorted(own.reads | own.writes, key=str) if path in writing]
        meets += [reading[path] for path in sorted(own.writes, key=str) if path in reading]
        yield z3.Not(z3.And(taken[i], late[i]))
        yield z3.Implies(z3.Or(late[i], later), z3.Or(late_after[i], *meets))
        following = z3.Bool(f"later than {i}")
        yield following == z3.Or(later, taken[i])
        later = following


def _by_leaf(taken, all_paths):
    """For each leaf, that the step is one of those that touch it."""
    found = {}
    for truth, paths in zip(taken, all_paths):
        for path in paths:
            found.setdefault(path, []).append(truth)
    return {path: z3.Or(*truths) for path, truths in found.items()}
