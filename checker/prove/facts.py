"""Facts: what is to hold in every state, by families: declared ranges, sequences, lemmas, properties."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Callable

import z3

from checker.prove.relation import Relation, universals
from checker.prove.variables import EVERY
from spec.language.domains import Array, Bound, Id, Number, Record, Sequence, values
from spec.language.layout import length


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
    source: object = None

    @cached_property
    def starred_facts(self) -> list[tuple[tuple[z3.ExprRef, ...], z3.BoolRef]]:
        """Those of its facts that are over indices, joined where the indices are the same; false indices allow all."""
        together = {}
        for fact in self.facts:
            if fact.over:
                together.setdefault(fact.over, []).append(fact.formula)
        return [(over, z3.Implies(z3.And(*(i >= 0 for i in over)), z3.And(*parts))) for over, parts in together.items()]

    @cached_property
    def plain(self) -> z3.BoolRef:
        """All its facts that are not over indices."""
        return z3.And(*(fact.formula for fact in self.facts if not fact.over))


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
    term, over = variables.terms[place.path], ()
    if place.starred:
        index = z3.Int(f"index of {place.expression}")
        term, over = term[index], (index,)
    if low is not None:
        yield Fact(term >= low, over)
    if high is not None:
        yield Fact(term <= high, over)


def sequences_of(relation: Relation) -> list[Family]:
    """That the free slots of each sequence hold zeros, the law of `sequences`."""
    found: dict[str, list[Fact]] = {}
    for path in _sequences(relation.variables, relation.model.state, ()):
        name = ".".join(p for p in path if isinstance(p, str))
        found.setdefault(name, []).extend(_free_slots(relation.variables, path))
    return [Family(f"free slots of {name}", "sequence", tuple(facts)) for name, facts in found.items()]


def _sequences(variables, domain, path):
    if isinstance(domain, Sequence) and EVERY not in path:
        yield path
    elif isinstance(domain, Record):
        for name, field in domain.fields.items():
            yield from _sequences(variables, field.domain, (*path, name))
    elif isinstance(domain, Array) and not variables.is_endless(domain):
        for i in range(length(domain, variables.scope)):
            yield from _sequences(variables, domain.of, (*path, i))


def _free_slots(variables, path):
    filled = variables.terms[*path, "length"]
    for place in variables.places:
        if place.path[: len(path) + 1] == (*path, "slots") and not place.spare:
            at, term = place.path[len(path) + 1], variables.terms[place.path]
            if at != EVERY:
                yield Fact(z3.Implies(filled <= at, term == 0))
            else:
                index = z3.Int(f"index of {place.expression}")
                yield Fact(z3.Implies(filled <= index, term[index] == 0), (index,))


def property_family(relation: Relation, name: str) -> Family:
    """A property that is to hold always, each of its conjuncts a fact."""
    return Family(name, "property", tuple(Fact(part, over) for over, part in universals(relation.always[name])))


def lemma_family(relation: Relation, function: Callable, kind: str = "lemma") -> Family:
    """A lemma ``f(s, ...)`` for all values of its annotated arguments, those without end included."""
    domains = {name: d for name, d in function.__annotations__.items() if name != "return"}
    choices = [_argument(relation, function, name, domain) for name, domain in domains.items()]
    facts = []
    for arguments in product(*choices):
        over = tuple(a for a in arguments if not isinstance(a, int))
        formula = relation.predicate(function, *arguments)
        facts += [Fact(part, (*over, *more)) for more, part in universals(formula)]
    return Family(function.__name__, kind, tuple(facts), function)


def _argument(relation, function, name, domain):
    endless = relation.variables.endless
    any_number = isinstance(domain, Number) and isinstance(domain.high, Bound) and domain.high.name in endless
    if any_number or isinstance(domain, Id) and domain.sort in endless:
        return [z3.Int(f"{function.__name__}.{name}")]
    return values(domain, relation.scope)


def instances(relation: Relation, family: Family, terms: list[z3.ExprRef]) -> list[z3.BoolRef]:
    """The facts of a family, those over indices at each of the terms that may stand for them."""
    found = [family.plain]
    for over, formula in family.starred_facts:
        relation.indices(formula)
        for chosen in product(*([term for term in terms if relation.are_alike(index, term)] for index in over)):
            found.append(z3.substitute(formula, *zip(over, chosen)))
    return found
