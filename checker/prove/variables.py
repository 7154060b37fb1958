"""A state as z3 variables: one for each leaf, or an array where an unbounded bound or sort gives the size."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

import z3

from kafkaproof.checker.prove.formulas import elements_read
from kafkaproof.checker.prove.parts import applications, key, parts
from kafkaproof.checker.prove.terms import Numbers, as_set, is_known
from kafkaproof.spec.language.domains import NOBODY, Array, Bound, Id, Number, Record, Scalar, Scope, SetOf, values
from kafkaproof.spec.language.layout import length, slots
from kafkaproof.spec.language.model import Model

EVERY = "*"


class EndNeeded(Exception):
    """An unbounded array is looped over, or inside another; `bound` is the name of its size, which needs an end.

    `place` has the construct that needs the end, with file and line; it is empty for a declaration.
    """

    def __init__(self, bound: str, place: str = ""):
        super().__init__(bound)
        self.bound, self.place = bound, place


@dataclass(frozen=True)
class Place:
    """One leaf: `path` has `EVERY` for the index of an unbounded array; `spare` leaves hold 0."""

    path: tuple
    domain: Scalar
    spare: str | None

    @property
    def expression(self) -> str:
        """The leaf as Python text: ``replicas[1].hw``, ``requests.slots[*].leader``."""
        parts = [f".{p}" if isinstance(p, str) and p != EVERY else f"[{p}]" for p in self.path]
        return "".join(parts).removeprefix(".")

    @property
    def starred(self) -> bool:
        """Whether it is an unbounded array."""
        return EVERY in self.path


class Variables:
    """The variables of a model at a scope, where the bounds and sorts named in `endless` are unbounded.

    `array_bounds` are the unbounded ones that size an array. Sorts are all bounded or all unbounded (`any_size`); in
    the latter case a set is an array of truths. `over_ids` are the paths of leaves with one element for each id of such
    a sort. `terms` are the leaves of a state, `later` those of the state after it; `paths` gives the leaf of either.
    `arguments` are the symbols for arguments of actions, with their domains.
    """

    def __init__(self, model: Model, scope: Scope, endless: frozenset[str] = frozenset(), bits: int | None = None):
        self.model, self.scope, self.endless, self.numbers = model, scope, endless, Numbers(bits)
        self.sorts = sorts_of(model)
        self.any_size = bool(self.sorts & endless)
        self.set_size = None if self.any_size else max((scope[name] for name in self.sorts), default=1)
        self.array_bounds: set[str] = set()
        self.arguments: dict[int, tuple[z3.ExprRef, Scalar]] = {}
        self.over_ids: set[tuple] = set()
        self.places = list(self._places(model.state, (), None))
        self.terms = {p.path: self._variable(p, "") for p in self.places if not p.spare}
        self.later = {p.path: self._variable(p, "'") for p in self.places if not p.spare}
        self.domains = {p.path: p.domain for p in self.places}
        self.paths = {key(term): path for terms in (self.terms, self.later) for path, term in terms.items()}

    def domain_of(self, part: int) -> Scalar | None:
        """The domain of the leaf or the argument with this key; None for any other term."""
        path = self.paths.get(part)
        return self.arguments.get(part, (None, None))[1] if path is None else self.domains[path]

    def declared(self, term: z3.ExprRef) -> tuple[float, float] | None:
        """The declared range of a leaf, of an element of one, or of an argument; None for any other term."""
        domain = self.domain_of(key(term.arg(0) if z3.is_select(term) else term))
        if domain is None or isinstance(domain, SetOf):
            return None
        low, high, _ = self.limits(domain)
        return -inf if low is None else low, inf if high is None else high

    def last(self, array: Array) -> z3.ExprRef:
        """The last index of an unbounded array if it had an end: the bound itself, where the spare slot is."""
        if isinstance(array.size, Bound):
            return self.end(array.size.name) + array.size.plus
        return self.end(array.size) - 1

    def end(self, name: str) -> z3.ExprRef:
        """The symbol for the value of a bound, or for the number of ids of a sort, that is unbounded."""
        return z3.Int(f"end of {name}")

    def ends_of(self, conditions: list) -> list[z3.BoolRef]:
        """The formulas that the leaves and arguments in some conditions are within the ends of their bounds."""
        if not self.endless:
            return []
        terms = [elements_read(condition) for condition in conditions if not is_known(condition)]
        found = [self.end(name) >= (1 if name in self.sorts else 0) for name in sorted(self.endless)]
        found += [
            self.end(of) <= self.end(sort)
            for sort, firsts in self.model.interchangeable.items()
            for of in firsts
            if isinstance(of, str) and {of, sort} <= self.endless
        ]
        used = parts(*terms)
        for term in [*self._symbols(), *applications((z3.Z3_OP_SELECT,), *terms)]:
            domain = self.domain_of(key(term.arg(0) if z3.is_select(term) else term))
            if key(term) in used and not z3.is_array(term):
                match domain:
                    case Number(_, Bound(name, plus)) if name in self.endless:
                        found.append(term <= self.end(name) + plus)
                    case Id(sort) if sort in self.endless:
                        found.append(term < self.end(sort))
        return found

    def _symbols(self):
        return [*self.terms.values(), *self.later.values(), *(term for term, _ in self.arguments.values())]

    def is_endless(self, array: Array) -> bool:
        """Whether an array is unbounded."""
        return size_name(array) in self.endless

    def is_of_sort(self, array: Array) -> bool:
        """Whether an array has an element for each id of an unbounded sort."""
        return isinstance(array.size, str) and array.size in self.endless

    def width(self, domain: SetOf) -> int | None:
        """The number of ids of a set's sort, 1 where there is none, as z3 has no shorter vector; None if unbounded."""
        return None if self.any_size else max(1, self.scope[domain.sort])

    def slots(self, array: Array) -> int:
        """Number of elements of a bounded array, its spare slot included."""
        return slots(array, self.scope)

    def _places(self, domain, path, spare):
        if isinstance(domain, Record):
            for name, field in domain.fields.items():
                yield from self._places(field.domain, (*path, name), spare)
        elif isinstance(domain, Array) and self.is_endless(domain):
            if EVERY in path:
                raise EndNeeded(size_name(domain))
            self.array_bounds.add(size_name(domain))
            elements = list(self._places(domain.of, (*path, EVERY), spare))
            self.over_ids |= {place.path for place in elements if self.is_of_sort(domain)}
            yield from elements
        elif isinstance(domain, Array):
            for i in range(self.slots(domain)):
                is_spare = isinstance(domain.size, Bound) and i >= length(domain, self.scope)
                beyond = size_name(domain) if is_spare else spare
                yield from self._places(domain.of, (*path, i), beyond)
        else:
            yield Place(path, domain, spare)

    def _variable(self, place, mark):
        name = place.expression + mark
        if not place.starred:
            return z3.Const(name, self.sort(place.domain))
        return z3.Array(name, z3.IntSort(), self.sort(place.domain))

    def sort(self, domain: Scalar) -> z3.SortRef:
        """The z3 sort of a scalar domain."""
        if not isinstance(domain, SetOf):
            return self.numbers.sort
        return z3.ArraySort(z3.IntSort(), z3.BoolSort()) if self.any_size else z3.BitVecSort(self.width(domain))

    def constant(self, domain: Scalar, value: int) -> z3.ExprRef:
        """A value of a scalar domain as a term."""
        return as_set(value, self.width(domain)) if isinstance(domain, SetOf) else self.numbers.constant(value)

    def store(self) -> dict[tuple, object]:
        """A state of variables; spare slots hold 0."""
        return self.filled(self.terms)

    def filled(self, terms: dict[tuple, object]) -> dict[tuple, object]:
        """A state of these leaves; spare slots hold 0."""
        return {p.path: self._zero(p) if p.spare else terms[p.path] for p in self.places}

    def zeros(self) -> dict[tuple, object]:
        """A state of zeros."""
        return {p.path: self._zero(p) for p in self.places}

    def _zero(self, place):
        return z3.K(z3.IntSort(), self.constant(place.domain, 0)) if place.starred else 0

    def limits(self, domain: Scalar) -> tuple[int | None, int | None, str | None]:
        """The least and the greatest value of a number, and the bound that cuts it; each None if there is none."""
        if isinstance(domain, SetOf):
            return None, None, None
        bound = None
        if isinstance(domain, Number) and isinstance(domain.high, Bound):
            bound = domain.high.name
            if bound in self.endless:
                return domain.low, None, bound
        if isinstance(domain, Id) and domain.sort in self.endless:
            return NOBODY if domain.nobody else 0, None, None
        allowed = values(domain, self.scope)
        return allowed[0], allowed[-1], bound


def size_name(array: Array) -> str:
    """The name of the sort or bound that sizes an array."""
    return array.size.name if isinstance(array.size, Bound) else array.size


def bounds_of(model: Model) -> frozenset[str]:
    """The names of the bounds in a model's state and in the arguments of its transitions, without sorts."""
    return frozenset(part.name for part in _parts_of(model) if isinstance(part, Bound)) - sorts_of(model)


def sorts_of(model: Model) -> frozenset[str]:
    """The names of the sorts whose ids a model's state and the arguments of its transitions hold."""
    return frozenset(part.sort for part in _parts_of(model) if isinstance(part, (Id, SetOf)))


def _parts_of(model):
    yield from _parts(model.state)
    for transition in model.transitions:
        for domain in transition.arguments.values():
            yield from _parts(domain)


def _parts(domain):
    """A domain and its parts."""
    yield domain
    match domain:
        case Record():
            for field in domain.fields.values():
                yield from _parts(field.domain)
        case Array(of, size):
            yield from _parts(of)
            yield size
        case Number(_, high):
            yield high
