"""Facts that are to hold in every state, in families: declared ranges, sequences, lemmas, properties."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product

import z3

from kafkaproof.checker.prove.formulas import universals
from kafkaproof.checker.prove.parts import GATHERED, applications, key
from kafkaproof.checker.prove.relation import Relation
from kafkaproof.checker.prove.terms import every
from kafkaproof.checker.prove.variables import EVERY
from kafkaproof.spec.language.accepted import require_predicate
from kafkaproof.spec.language.domains import Array, Bound, Id, Number, Record, Sequence, values
from kafkaproof.spec.language.kinds import Part, kind_of
from kafkaproof.spec.language.layout import length
from kafkaproof.spec.language.model import Transition


@dataclass(frozen=True)
class Fact:
    """A formula over the variables of a state, for all values from 0 of the index constants `over`."""

    formula: z3.BoolRef
    over: tuple[z3.ExprRef, ...] = ()


@dataclass(frozen=True)
class Family:
    """Facts that stand and fall together; `kind` is range, sequence, lemma, candidate or property."""

    name: str
    kind: str
    facts: tuple[Fact, ...]
    source: Callable | None = None
    _at: dict[tuple, tuple] = field(default_factory=dict, compare=False, repr=False)

    @property
    def is_declared(self) -> bool:
        """Whether it comes from the declaration of the state: a range, or free slots."""
        return self.kind in ("range", "sequence")

    @property
    def gathers(self) -> bool:
        """Whether it is asked for any value of a count: where that fails, it may hold for the value that is counted."""
        constants = applications((z3.Z3_OP_UNINTERPRETED,), *(fact.formula for fact in self.facts))
        return any(each.decl().name().startswith(f"{GATHERED}!") for each in constants)

    @cached_property
    def starred_facts(self) -> list[tuple[tuple[z3.ExprRef, ...], z3.BoolRef]]:
        """Its facts over indices, joined where the indices are the same; they say nothing of negative indices."""
        together = {}
        for fact in self.facts:
            if fact.over:
                together.setdefault(fact.over, []).append(fact.formula)
        return [(over, z3.Implies(every([i >= 0 for i in over]), every(parts))) for over, parts in together.items()]

    @cached_property
    def plain(self) -> z3.BoolRef:
        """The conjunction of its facts that are not over indices."""
        return every([fact.formula for fact in self.facts if not fact.over])

    def at(self, over: tuple[z3.ExprRef, ...], formula: z3.BoolRef, chosen: tuple[z3.ExprRef, ...]) -> z3.BoolRef:
        """A formula over indices, instantiated at some terms; cached for all questions."""
        place = key(formula), *map(key, chosen)
        if place not in self._at:
            self._at[place] = z3.substitute(formula, *zip(over, chosen)), chosen
        return self._at[place][0]


def ranges_of(relation: Relation) -> list[Family]:
    """The declared range of every leaf, one family for each field."""
    found: dict[str, list[Fact]] = {}
    for place in relation.variables.places:
        if not place.spare:
            low, high, _ = relation.variables.limits(place.domain)
            name = ".".join(p for p in place.path if isinstance(p, str) and p != EVERY)
            found.setdefault(name, []).extend(_within(relation.variables, place, low, high))
    return [Family(f"range of {name}", "range", tuple(facts)) for name, facts in found.items() if facts]


def _within(variables, place, low, high):
    term = variables.terms[place.path]
    over: tuple[z3.ExprRef, ...] = ()
    if place.starred:
        index = any_index(place.path in variables.over_ids, 1)
        term, over = term[index], (index,)
    if low is not None:
        yield Fact(term >= low, over)
    if high is not None:
        yield Fact(term <= high, over)


def sequences_of(relation: Relation) -> list[Family]:
    """The facts that the free slots of each sequence hold zeros."""
    found: dict[str, list[Fact]] = {}
    for path in _sequences(relation.variables, relation.model.state, ()):
        name = ".".join(p for p in path if isinstance(p, str))
        found.setdefault(name, []).extend(_free_slots(relation.variables, path))
    return [Family(f"free slots of {name}", "sequence", tuple(facts)) for name, facts in found.items()]


def _sequences(variables, domain, path):
    if isinstance(domain, Sequence):
        yield path
    elif isinstance(domain, Record):
        for name, field in domain.fields.items():
            yield from _sequences(variables, field.domain, (*path, name))
    elif isinstance(domain, Array):
        for i in [EVERY] if variables.is_endless(domain) else range(length(domain, variables.scope)):
            yield from _sequences(variables, domain.of, (*path, i))


def _free_slots(variables, path):
    for place in variables.places:
        if place.path[: len(path) + 1] == (*path, "slots") and not place.spare:
            filled, at, term = variables.terms[*path, "length"], place.path[len(path) + 1], variables.terms[place.path]
            index = any_index(EVERY in path and place.path in variables.over_ids, 1)
            if EVERY in path:
                filled = filled[index]
            if place.starred:
                term = term[index]
            free = filled <= (index if at == EVERY else at)
            yield Fact(z3.Implies(free, term == variables.constant(place.domain, 0)), (index,) if place.starred else ())


def any_index(is_id: bool, ordinal: int) -> z3.ExprRef:
    """The constant for the first, second ... arbitrary index of a fact. All facts share them: whether one of several
    facts may fail does not depend on it, and fewer indices occur in the question.
    """
    return z3.Int(f"any {'id' if is_id else 'number'} {ordinal}")


def property_family(relation: Relation, name: str) -> Family:
    """The family of a property of every state; each of its conjuncts is a fact."""
    return Family(name, "property", tuple(_facts(relation, relation.always[name], ())))


def lemma_family(relation: Relation, function: Callable, kind: str = "lemma") -> Family:
    """The family of a lemma ``f(s, ...)``, for all values of its annotated arguments, unbounded ones included."""
    facts, domains = [], Transition(function).declared.values()
    require_predicate(function, (Part(relation.model.state, "s"), *map(kind_of, domains)))
    for arguments in product(*_choices(relation, function)):
        over = tuple(a for a in arguments if not isinstance(a, int))
        facts += _facts(relation, relation.predicate(function, *arguments), over)
    return Family(function.__name__, kind, tuple(facts), function)


def _choices(relation, function):
    """The values of each argument of a lemma; for an unbounded one, an arbitrary index."""
    count, endless = Counter(), relation.variables.endless
    for domain in (d for name, d in function.__annotations__.items() if name != "return"):
        is_id = isinstance(domain, Id)
        any_number = isinstance(domain, Number) and isinstance(domain.high, Bound) and domain.high.name in endless
        if any_number or is_id and domain.sort in endless:
            count[is_id] += 1
            yield [any_index(is_id, count[is_id])]
        else:
            yield values(domain, relation.scope)


def _facts(relation, formula, over):
    """The facts of a formula for all `over`; its quantifiers add more indices."""
    for more, part in universals(formula):
        relation.indices(part)
        count, shared = Counter(map(relation.is_id, over)), []
        for index in more:
            is_id = relation.is_id(index)
            count[is_id] += 1
            shared.append(any_index(is_id, count[is_id]))
        yield Fact(z3.substitute(part, *zip(more, shared)), (*over, *shared))


def instances(relation: Relation, family: Family, terms: list[z3.ExprRef]) -> list[z3.BoolRef]:
    """The facts of a family; those over indices are instantiated at each of the fitting terms."""
    found = [family.plain]
    for over, formula in family.starred_facts:
        relation.indices(formula)
        for chosen in product(*([term for term in terms if relation.are_alike(index, term)] for index in over)):
            found.append(family.at(over, formula, chosen))
    return found
