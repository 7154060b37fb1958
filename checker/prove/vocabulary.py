"""The vocabulary of lemmas: literals made from a state's declaration and the specification's own predicates.

A literal is Python text over ``s`` and two different ids ``a`` and ``b`` of one sort: a flag, a code, a
member of a set, two numbers of one bound compared, a predicate of the specification.
"""

from __future__ import annotations

import linecache
from collections import Counter
from dataclasses import dataclass, replace
from itertools import combinations, product
from types import FunctionType
from typing import Iterator

from checker.execution import Execution
from checker.prove.relation import Relation
from spec.language.domains import NOBODY, Array, Bound, Choice, Flag, Id, Number, Record, SetOf
from spec.language.model import Model
from spec.language.rebind import globals_used
from spec.language.sets import contains
from spec.language.subset import RuleError, writes


@dataclass(frozen=True)
class Term:
    """A leaf as text, its domain, and which of the ids it speaks of."""

    text: str
    domain: object
    ids: frozenset[str]


@dataclass(frozen=True)
class Literal:
    """A condition as text, and what its negation reads like."""

    text: str
    ids: frozenset[str]
    negated: str


def literals(model: Model) -> list[Literal]:
    """All literals of a model, without negations."""
    sort = _sort(model)
    terms = [t for t in _terms(model.state, "s", sort, frozenset()) if t is not None]
    both = terms + [_for_b(t) for t in terms if t.ids]
    found = [*_single(model, terms, sort), *_compared(both), *_called(model, sort)]
    twins = [_renamed(l) for l in found if l.ids == {"a"}]
    return list({l.text: l for l in [*found, *twins]}.values())


def _sort(model):
    """The sort of the first array of records."""
    for field in model.state.fields.values():
        if isinstance(field.domain, Array) and isinstance(field.domain.size, str):
            return field.domain.size
    return ""


def _sort_name(model, sort):
    """What the specification calls the domain of ids of a sort: ``Broker``, ``Replica``."""
    for function in _called_by(model):
        for name, value in function.__globals__.items():
            if value == Id(sort):
                return name
    return "Member"


def _terms(domain, text, sort, ids) -> Iterator[Term]:
    match domain:
        case Record():
            for name, field in domain.fields.items():
                if name != "slots":
                    yield from _terms(field.domain, f"{text}.{name}", sort, ids)
        case Array(of, size):
            if size == sort and not ids:
                yield from _terms(of, f"{text}[a]", sort, frozenset("a"))
        case _:
            yield Term(text, domain, ids)


def _for_b(term):
    return replace(term, text=term.text.replace("[a]", "[b]"), ids=frozenset("b"))


def _renamed(literal):
    def swap(text):
        for old, new in (("[a]", "[b]"), (", a)", ", b)"), (", a,", ", b,"), ("== a", "== b"), ("!= a", "!= b")):
            text = text.replace(old, new)
        return text

    return Literal(swap(literal.text), frozenset("b"), swap(literal.negated))


def _single(model, terms, sort):
    """Literals about one leaf."""
    names = constants(model)
    for term in terms:
        match term.domain:
            case Flag():
                yield Literal(f"{term.text} == 1", term.ids, f"{term.text} == 0")
            case Choice():
                for code, name in enumerate(term.domain.names):
                    shown = name if names.get(name) == code else code
                    yield _equality(term.text, shown, term.ids)
            case Id():
                if term.domain.nobody:
                    yield _equality(term.text, "NOBODY", term.ids)
                if term.domain.sort == sort:
                    for name in "ab" if term.ids else "a":
                        yield _equality(term.text, name, term.ids | {name})
            case SetOf() if term.domain.sort == sort:
                for name in "ab" if term.ids else "a":
                    text = f"contains({term.text}, {name})"
                    yield Literal(text, term.ids | {name}, f"not {text}")
            case Number(low, Bound()):
                yield _equality(term.text, low, term.ids)
                if low < 0:
                    yield _equality(term.text, 0, term.ids)


def _equality(left, right, ids):
    return Literal(f"{left} == {right}", ids, f"{left} != {right}")


def _compared(terms):
    """Two numbers of one bound; of two ids, the same field of each."""
    numbers = [t for t in terms if isinstance(t.domain, Number) and isinstance(t.domain.high, Bound)]
    for one, other in combinations(numbers, 2):
        if one.domain.high.name != other.domain.high.name:
            continue
        ids = one.ids | other.ids
        if len(ids) > 1 and one.text.replace("[a]", "[b]") != other.text:
            continue
        if ids == {"b"}:
            continue
        yield _equality(one.text, other.text, ids)
        yield Literal(f"{one.text} <= {other.text}", ids, f"{one.text} > {other.text}")
        yield Literal(f"{one.text} < {other.text}", ids, f"{one.text} >= {other.text}")


def _called(model, sort):
    """Predicates that the specification's own functions use, over the state and ids."""
    records = {name: f"s.{name}" for name in model.state.fields}
    for name, field in model.state.fields.items():
        if isinstance(field.domain, Array) and field.domain.size == sort:
            records[name.removesuffix("s")] = f"s.{name}[a]"
    numbers = {name for name in _field_names(model.state)}
    for function in predicates(model):
        names = function.__code__.co_varnames[: function.__code__.co_argcount]
        first = "s" if names[0] == "s" else records.get(names[0])
        if first is None or set(names[1:]) & numbers or len(names) > 3:
            continue
        taken = "a" if "[a]" in first else ""
        for ids in product("ab", repeat=len(names) - 1):
            used = frozenset(ids) | frozenset(taken)
            if len(set(ids)) == len(ids) and used != {"b"} and used:
                text = f"{function.__name__}({', '.join((first, *ids))})"
                yield Literal(text, used, f"not {text}")


def _field_names(domain):
    if isinstance(domain, Record):
        for name, field in domain.fields.items():
            if isinstance(field.domain, Number):
                yield name
            yield from _field_names(field.domain)
    elif isinstance(domain, Array):
        yield from _field_names(domain.of)


def predicates(model: Model) -> list[FunctionType]:
    """Functions without effects that transitions and properties of a model call, however deep."""
    starts = [t.function for t in model.transitions] + [p.predicate for p in model.properties]
    found = {f.__name__: f for f in _called_by(model) if f not in starts}
    return [f for f in found.values() if f.__code__.co_argcount and _is_pure(f)]


def _is_pure(function):
    try:
        return not writes(function) and function.__module__ != contains.__module__
    except RuleError:
        return False


def constants(model: Model) -> dict[str, int]:
    """The names of codes that the model's functions know, with their values."""
    found = {"NOBODY": NOBODY}
    for function in _called_by(model):
        for name, value in function.__globals__.items():
            if isinstance(value, int) and name.isupper():
                found.setdefault(name, value)
    return found


def _called_by(model):
    """Every function that transitions and properties of a model are or call, however deep."""
    found, stack = {}, [t.function for t in model.transitions] + [p.predicate for p in model.properties]
    while stack:
        function = stack.pop()
        if function not in found:
            found[function] = True
            stack += [v for v in globals_used(function).values() if isinstance(v, FunctionType)]
    return list(found)


def namespace(model: Model) -> dict[str, object]:
    """What the text of a lemma may name."""
    return constants(model) | {f.__name__: f for f in predicates(model)} | {"contains": contains}


def compiled(name: str, text: str, names: dict[str, object]) -> FunctionType:
    """A function from its text, whose source other tools can read."""
    file = f"<{name}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    scope = dict(names, __name__="lemmas")
    exec(compile(text, file, "exec", dont_inherit=True), scope)  # noqa: S102 - text made here
    return scope[name]


class Samples:
    """Reachable states, and for each literal the (state, a, b) where it holds, as the bits of an int."""

    def __init__(self, relation: Relation, states: list, execution: Execution):
        self.size, self.holds, self.functions = 0, {}, {}
        self.names, self.sort = namespace(relation.model), _sort(relation.model)
        self.sort_name = _sort_name(relation.model, self.sort)
        self.names[self.sort_name] = Id(self.sort)
        ids = range(execution.scope[self.sort])
        pairs = [(a, b) for a in ids for b in ids if a != b]
        rows = [(s, a, b) for s in states for a, b in pairs]
        self.size, self.every = len(rows), (1 << len(rows)) - 1
        self.literals = []
        for number, literal in enumerate(literals(relation.model)):
            text = f"def literal_{number}(s, a, b):\n    return {literal.text}\n"
            function = compiled(f"literal_{number}", text, self.names)
            if (bits := _bits(function, rows)) is not None:
                self.literals.append(literal)
                self.functions[literal.text] = function
                self.holds[literal.text], self.holds[literal.negated] = bits, self.every ^ bits
        self.counts = Counter({text: bits.bit_count() for text, bits in self.holds.items()})


def _bits(function, rows):
    """Where a literal holds; None when it is not a truth of every row."""
    try:
        values = [function(s, a, b) for s, a, b in rows]
    except (TypeError, IndexError, AttributeError):
        return None
    if not all(isinstance(v, bool) for v in values):
        return None
    return int("".join("1" if v else "0" for v in reversed(values)), 2)
