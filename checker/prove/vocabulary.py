"""The vocabulary of lemmas: literals made from a state's declaration and the specification's own predicates.

A literal is Python text over ``s``, two different ids ``a`` and ``b`` of one sort, and one index of each other array: a
flag, a code, a member of a set, a comparison of two numbers with the same bound, or a predicate of the specification.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, product
from typing import TypeVar

from kafkaproof.spec.language.domains import NOBODY, Array, Bound, Choice, Flag, Id, Number, Record, Scalar, SetOf
from kafkaproof.spec.language.model import Model
from kafkaproof.spec.language.rebind import callees
from kafkaproof.spec.language.sets import contains
from kafkaproof.spec.language.subset import RuleError, writes

Chosen = TypeVar("Chosen")
FLIPPED = {"==": "==", "!=": "!=", "<": ">", ">": "<", "<=": ">=", ">=": "<="}
OPPOSITE = {"==": "!=", "!=": "==", "<": ">=", ">=": "<", "<=": ">", ">": "<="}


@dataclass(frozen=True)
class Term:
    """A leaf as text, its domain, and the names in it."""

    text: str
    domain: Scalar
    names: frozenset[str]


@dataclass(frozen=True)
class Literal:
    """A condition as text, and the names in it. A comparison has `sides`: left, sign and right; the call of a predicate
    is marked `is_call`.
    """

    text: str
    names: frozenset[str]
    sides: tuple[str, str, str] | None = None
    is_call: bool = False

    @property
    def negated(self) -> str:
        """The opposite as text."""
        if self.sides is None:
            return f"not {self.text}"
        left, sign, right = self.sides
        return f"{left} {OPPOSITE[sign]} {right}"


class Vocabulary:
    """The literals of a model, and the domains of the names in them; `texts` also has the opposite of every literal."""

    def __init__(self, model: Model):
        self.sort = _sort(model)
        self.names: dict[str, Scalar] = {"a": Id(self.sort), "b": Id(self.sort)}
        self.terms = list(self._terms(model.state, "s", frozenset()))
        self.terms += [Term(n, d, frozenset({n})) for n, d in self.names.items() if n not in "ab"]
        constants_ = constants(model)
        found = [*self._single(constants_), *_compared(self.terms), *_called(model, self.sort)]
        self.literals = list({literal.text: literal for literal in found}.values())
        self.shown = {name: _shown(model, name, domain) for name, domain in self.names.items()}
        self.predicates = {f.__name__: f for f in predicates(model)}
        self.namespace = constants_ | self.predicates | {"contains": contains}
        self.namespace |= {self.shown[name]: domain for name, domain in self.names.items()}

    @cached_property
    def texts(self) -> dict[str, tuple[Literal, bool]]:
        """Each literal and its opposite: the literal, and whether it holds."""
        signed = ((text, (l, holds)) for l in self.literals for text, holds in ((l.text, True), (l.negated, False)))
        return dict(signed)

    @cached_property
    def functions(self) -> dict[str, Callable]:
        """Each literal as a function of a state and all names."""
        head = f"lambda {', '.join(['s', *self.names])}: "
        return {l.text: eval(head + l.text, dict(self.namespace)) for l in self.literals}  # noqa: S307 - text made here

    def swapped(self, text: str) -> str:
        """A literal with `a` and `b` exchanged."""
        text = re.sub(r"(?<![.\w])[ab]\b", lambda name: "ba"["ab".index(name[0])], text)
        if text in self.texts:
            return text
        left, sign, right = text.split(" ", 2) if "(" not in text else text.rsplit(" ", 2)
        return f"{right} {FLIPPED[sign]} {left}"

    def bindings(
        self, names: Iterable[str], chosen_from: Callable[[Scalar], Iterable[Chosen]]
    ) -> Iterator[dict[str, Chosen]]:
        """All choices of values for names, from the values that `chosen_from` gives for a domain; a and b differ."""
        names = [name for name in self.names if name in names]
        for chosen in product(*(chosen_from(self.names[name]) for name in names)):
            found = dict(zip(names, chosen))
            if "a" not in found or "b" not in found or found["a"] != found["b"]:
                yield found

    def opposite(self, text: str) -> str:
        """The negation of a literal."""
        literal, holds = self.texts[text]
        return literal.negated if holds else literal.text

    def _terms(self, domain, text, names) -> Iterator[Term]:
        match domain:
            case Record():
                for name, field in domain.fields.items():
                    yield from self._terms(field.domain, f"{text}.{name}", names)
            case Array(of, size) if size == self.sort:
                for name in "ab":
                    yield from self._terms(of, f"{text}[{name}]", names | {name})
            case Array(of, size):
                name, index = _index(size)
                if self.names.setdefault(name, index) == index:
                    yield from self._terms(of, f"{text}[{name}]", names | {name})
            case SetOf(sort) if sort != self.sort:
                self.names.setdefault(_index(sort)[0], Id(sort))
                yield Term(text, domain, names)
            case _:
                yield Term(text, domain, names)

    def _single(self, constants_):
        """Literals about one leaf."""
        for term in self.terms:
            match term.domain:
                case Flag():
                    yield _equality(term, 1)
                case Choice():
                    for code, name in enumerate(term.domain.names):
                        yield _equality(term, name if constants_.get(name) == code else code)
                case Id(sort, nobody):
                    if nobody:
                        yield _equality(term, "NOBODY")
                    for name in (n for n, d in self.names.items() if d == Id(sort) and n != term.text):
                        yield _equality(term, name, {name})
                case SetOf(sort):
                    for name in (n for n, d in self.names.items() if d == Id(sort)):
                        yield Literal(f"contains({term.text}, {name})", term.names | {name})
                case Number(low, Bound()):
                    for value in {low, 0}:
                        yield _equality(term, value)


def _index(size):
    """The name of an index of an array of this size, and its domain."""
    if isinstance(size, Bound):
        return size.name.removesuffix("s"), Number(0, Bound(size.name, size.plus - 1))
    return size.removesuffix("s"), Id(size)


def _sort(model):
    """The sort of the first array over a sort."""
    for field in model.state.fields.values():
        if isinstance(field.domain, Array) and isinstance(field.domain.size, str):
            return field.domain.size
    return ""


def _shown(model, name, domain):
    """The name of a domain in the specification: ``Broker``, ``Replica``, ``Epoch``."""
    for function in _called_by(model):
        for known, value in function.__globals__.items():
            if value == domain:
                return known
    return "Member" if name in "ab" else name.capitalize()


def _equality(term, value, names=frozenset()):
    return Literal(f"{term.text} == {value}", term.names | names, (term.text, "==", str(value)))


def _compared(terms):
    """Comparisons of two numbers with the same bound: equal, less, the successor."""
    numbers = [t for t in terms if isinstance(t.domain, Number) and isinstance(t.domain.high, Bound)]
    for one, other in combinations(numbers, 2):
        if one.domain.high.name == other.domain.high.name:
            names, left, right = one.names | other.names, one.text, other.text
            for sides in (
                (left, "==", right),
                (left, "<", right),
                (left, ">", right),
                (left, "==", f"{right} + 1"),
                (right, "==", f"{left} + 1"),
            ):
                yield Literal(" ".join(sides), names, sides)


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
        for of in (first, first.replace("[a]", "[b]")) if "[a]" in first else (first,):
            for ids in product("ab", repeat=len(names) - 1):
                used = frozenset(ids) | {n for n in "ab" if f"[{n}]" in of}
                if len(set(ids)) == len(ids) and used:
                    yield Literal(f"{function.__name__}({', '.join((of, *ids))})", used, is_call=True)


def _field_names(domain):
    if isinstance(domain, Record):
        for name, field in domain.fields.items():
            if isinstance(field.domain, Number):
                yield name
            yield from _field_names(field.domain)
    elif isinstance(domain, Array):
        yield from _field_names(domain.of)


def predicates(model: Model) -> list[Callable]:
    """The functions without effects that transitions and properties of a model call, directly or not."""
    starts = [t.function for t in model.transitions] + [p.predicate for p in model.properties]
    found = {f.__name__: f for f in _called_by(model) if f not in starts}
    return [f for f in found.values() if f.__code__.co_argcount and _is_pure(f)]


def _is_pure(function):
    try:
        return not writes(function) and function.__module__ != contains.__module__
    except RuleError:
        return False


def constants(model: Model) -> dict[str, int]:
    """The names of codes in the globals of the model's functions, with their values."""
    found = {"NOBODY": NOBODY}
    for function in _called_by(model):
        for name, value in function.__globals__.items():
            if isinstance(value, int) and name.isupper():
                found.setdefault(name, value)
    return found


def _called_by(model):
    return callees(*(t.function for t in model.transitions), *(p.predicate for p in model.properties))
