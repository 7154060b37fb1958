"""One representative of all actions that are renamings of each other, if symmetry is proved.

A permutation of ids turns a state into another (`kafkaproof.spec.language.renaming`). Assume that the renamed state
satisfies every fact that the state does, and that one action's step from the renamed state is the renaming of another
action's step. If the latter keeps the facts, so does the former: rename the state before back, take the other step, and
rename the result. z3 proves both assumptions, for states within the declared ranges before and after, for a few
permutations that generate all others. An action that is no renaming of another represents itself, and may distinguish
ids.
"""

from __future__ import annotations

from collections.abc import Iterator

import z3

from kafkaproof.checker.prove.facts import Family
from kafkaproof.checker.prove.formulas import elements_read
from kafkaproof.checker.prove.relation import Action, Relation
from kafkaproof.checker.prove.steps import States
from kafkaproof.checker.prove.variables import EVERY
from kafkaproof.checker.prove.work import Work
from kafkaproof.spec.language.domains import Id, SetOf
from kafkaproof.spec.language.renaming import Named, Renaming, Symmetry, named_leaf


class Renamed:
    """A permutation of ids, applied to the terms of a state."""

    def __init__(self, relation: Relation, renaming: Renaming):
        self.relation, self.renaming = relation, renaming
        variables = relation.variables
        leaves = [named_leaf(relation.model.state, p) for p in variables.places if p.path in variables.terms]
        self._sources = {renaming.path(named): named for named in leaves}
        self._states = [(terms, self.store(terms)) for terms in (variables.terms, variables.later)]

    def store(self, terms: dict[tuple, z3.ExprRef]) -> dict[tuple, z3.ExprRef]:
        """The leaves of the renamed state, in terms of those of the state."""
        return {path: self._value(named, terms) for path, named in self._sources.items()}

    def _value(self, named: Named, terms):
        """The renamed value of a leaf. Free slots of a sequence name nobody, and stay."""
        domain, path = named.leaf.domain, named.leaf.path
        images = self.renaming.images.get(domain.sort, ()) if isinstance(domain, (Id, SetOf)) else ()
        if all(i == image for i, image in enumerate(images)):
            return terms[path]
        each = z3.Int("each")
        term, *lengths = (terms[p][each] if EVERY in p else terms[p] for p in (path, *(p for p, _ in named.slots)))
        found = _renamed_id(term, images) if isinstance(domain, Id) else _renamed_set(term, images)
        used = [length > (each if slot == EVERY else slot) for length, (_, slot) in zip(lengths, named.slots)]
        found = z3.If(z3.And(*used), found, term) if used else found
        return z3.Lambda([each], found) if EVERY in path else found

    def formula(self, formula: z3.ExprRef) -> z3.ExprRef:
        """The formula in the renamed state; of two states, both are renamed."""
        read = self.relation.reads(formula)
        return elements_read(z3.substitute(formula, *((old[p], new[p]) for old, new in self._states for p in read)))

    def arguments(self, action: Action) -> tuple:
        """The arguments of the renamed step."""
        return self.renaming.arguments(action.transition, action.arguments)

    def same(self, action: Action, image: Action) -> Iterator[z3.BoolRef]:
        """What must hold in every state for the image's step from the renamed state to be the renamed step."""
        yield self.formula(image.guard) == action.guard
        terms, after = self.relation.variables.terms, {**self.relation.variables.terms, **action.after}
        for path, named in self._sources.items():
            if path in image.after or any(p in action.after for p in (named.leaf.path, *(p for p, _ in named.slots))):
                one, other = self.formula(image.after.get(path, terms[path])), self._value(named, after)
                at = z3.Int("each")
                equal = one[at] == other[at] if EVERY in path else one == other
                yield z3.Implies(action.guard, equal)


def representatives(relation: Relation, base: list[Family], others: list[Family], work: Work) -> list[Action]:
    """The first of each class of actions that are renamings of each other; all actions if that is not proved.

    It is proved for states where the base families hold: it is valid only if these are proved too.
    """
    orbits = _Orbits(relation, base, work)
    return orbits.first() if orbits.keep([*base, *others]) else relation.actions


class _Orbits:
    """Questions about renamed states and steps, where the base families hold."""

    def __init__(self, relation: Relation, base: list[Family], work: Work):
        self.relation, self.states = relation, States(relation, base, work)
        symmetry = Symmetry(relation.model, relation.scope, relation.model.interchangeable)
        made_of = () if relation.variables.any_size else generators(symmetry)
        self.renamed = [Renamed(relation, symmetry.renaming(images)) for images in made_of]
        self.steps = [p for p in relation.properties if p.kind == "step"]
        self.within = z3.And(*(relation.moved(f.plain, relation.variables.later) for f in base))

    def _holds(self, condition):
        condition = elements_read(condition)
        return z3.is_true(condition) or self.states.always(condition, []) == z3.unsat

    def keep(self, families: list[Family]) -> bool:
        """Whether renaming preserves these families, and the properties of all steps."""
        facts = [z3.And(f.plain, *(formula for _, formula in f.starred_facts)) for f in families]
        facts += [self._of_step(p, ()) for p in self.steps if not p.of]
        return bool(self.renamed) and all(
            self._holds(z3.Implies(fact, renamed.formula(fact))) for renamed in self.renamed for fact in facts
        )

    def _of_step(self, prop, arguments):
        """The formula that a step property holds, and the base families in the state after."""
        return z3.And(self.within, self.relation.step_formula(prop, arguments))

    def first(self) -> list[Action]:
        """The first of each class of actions that are renamings of each other; all actions if one is not proved to be."""
        named = {action_key(action, action.arguments): action for action in self.relation.actions}
        found, seen = [], set()
        for key, action in named.items():
            if key not in seen:
                found.append(action)
                seen.add(key)
                if not self._follow(action, named, seen):
                    return self.relation.actions
        return found

    def _follow(self, action, named, seen):
        """Note all renamings of an action; returns False if one is not proved to be one."""
        for renamed in self.renamed:
            key = action_key(action, renamed.arguments(action))
            if key not in seen:
                seen.add(key)
                if key not in named or not self._is_renaming(renamed, action, named[key]):
                    return False
                if not self._follow(named[key], named, seen):
                    return False
        return True

    def _is_renaming(self, renamed, action, image):
        asked = [p for p in self.steps if p.of and p.concerns(action.transition)]
        formulas = [[self._of_step(p, a.arguments) for a in (action, image)] for p in asked]
        kept = (z3.Implies(formula, renamed.formula(other)) for formula, other in formulas)
        return all(map(self._holds, [z3.And(*renamed.same(action, image)), *kept]))


def action_key(action: Action, arguments: tuple) -> tuple:
    """The key of an action with these arguments."""
    return action.transition.name, tuple(map(str, arguments))


def generators(symmetry: Symmetry) -> list[dict[str, tuple[int, ...]]]:
    """Permutations that generate all others: for each block of ids, a transposition and a rotation."""
    found = []
    for sort, blocks in symmetry.blocks.items():
        for block in blocks:
            same = {name: list(range(symmetry.scope[name])) for name in symmetry.blocks}
            for moved in {tuple(block[:2]), tuple(block)} if len(block) > 1 else ():
                images = {**same, sort: list(same[sort])}
                for i, image in zip(moved, (*moved[1:], moved[0])):
                    images[sort][i] = image
                found.append({name: tuple(to) for name, to in images.items()})
    return found


def _renamed_id(term, images):
    found = term
    for i, image in enumerate(images):
        found = found if i == image else z3.If(term == i, z3.IntVal(image), found)
    return found


def _renamed_set(term, images):
    sources = [images.index(i) for i in range(len(images))]
    return z3.Concat(*(z3.Extract(i, i, term) for i in reversed(sources)))
