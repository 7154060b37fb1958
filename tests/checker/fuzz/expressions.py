"""Expressions of generated programs: text, of a kind that is asked for."""

from __future__ import annotations

from collections.abc import Callable

from kafkaproof.spec.language.domains import Array, Bound
from kafkaproof.spec.language.layout import length
from tests.checker.fuzz.choices import Choices
from tests.checker.fuzz.kinds import CODE, CONDITION, NUMBER, Function, IdOf, Members, Names, fits, kind_of, paths

COMPARISONS = ("==", "!=", "<", "<=", ">", ">=")


class Expressions:
    """Draws expressions over `names`, in which `scope` gives the sizes; `depth` says how much may stand within."""

    def __init__(self, choices: Choices, scope: dict[str, int], names: Names):
        self.choices, self.scope, self.names = choices, scope, names

    def value(self, kind: object, depth: int = 2) -> str:
        """An expression of any kind."""
        if kind == NUMBER:
            return self.number(depth)
        if kind == CONDITION:
            return self.condition(depth)
        if kind == CODE:
            return self._code(depth)
        if isinstance(kind, IdOf):
            return self.id(kind, depth)
        if isinstance(kind, Members):
            return self.members(kind, depth)
        return self.part(kind, depth)

    def number(self, depth: int) -> str:
        """A number."""
        options = [(3, lambda: str(self.choices.one([0, 1, 2, 3, -1, -2])))]
        options += self._known(NUMBER, depth)
        if depth > 0:
            options += [
                (4, lambda: self._sum(depth)),
                (1, lambda: self._product(depth)),
                (2, lambda: self._builtin(depth)),
                (1, lambda: f"(-{self.number(0)})"),
                *self._chosen(NUMBER, depth),
                *self._lengths(),
            ]
        return self.choices.weighted(options)()

    def _sum(self, depth):
        return f"({self.number(depth - 1)} {self.choices.one('+-')} {self.number(depth - 1)})"

    def _product(self, depth):
        return f"({self.choices.one([2, 3, -1])} * {self.number(0)})"

    def _builtin(self, depth):
        name = self.choices.one(["min", "max", "abs"])
        count = 1 if name == "abs" else self.choices.number(2, 3)
        return f"{name}({', '.join(self.number(depth - 1) for _ in range(count))})"

    def _lengths(self):
        arrays = self._places(lambda domain: isinstance(domain, Array))
        return [(2, lambda: f"len({self._place(*self.choices.one(arrays))})")] if arrays else []

    def _code(self, depth):
        return self.choices.weighted([(2, lambda: str(self.choices.number(0, 2))), *self._known(CODE, depth)])()

    def id(self, kind: IdOf, depth: int) -> str:
        """An id of a sort, a literal among others."""
        options = [(1, lambda: str(self.choices.number(0, self.scope[kind.sort] - 1)))]
        options += self._known(kind, depth)
        if not kind.real:
            options.append((1, lambda: "NOBODY"))
        if depth > 0:
            options += self._chosen(kind, depth)
        return self.choices.weighted(options)()

    def members(self, kind: Members, depth: int) -> str:
        """A set of ids of a sort."""
        options = [(1, lambda: "0"), *self._known(kind, depth)]
        if depth > 0:
            options += [
                (3, lambda: self._changed(kind, depth)),
                (2, lambda: self._joined(kind, depth)),
                (1, lambda: f"only({self.real_id(kind.sort)})"),
                *self._everybody(kind),
                *self._chosen(kind, depth),
            ]
        return self.choices.weighted(options)()

    def _changed(self, kind, depth):
        name = self.choices.one(["with_member", "without_member"])
        return f"{name}({self.members(kind, depth - 1)}, {self.real_id(kind.sort)})"

    def _joined(self, kind, depth):
        name = self.choices.one(["union", "intersection", "difference"])
        return f"{name}({self.members(kind, depth - 1)}, {self.members(kind, depth - 1)})"

    def _everybody(self, kind):
        arrays = self._places(lambda domain: isinstance(domain, Array) and domain.size == kind.sort)
        return [(1, lambda: f"everybody(len({self._place(*self.choices.one(arrays))}))")] if arrays else []

    def real_id(self, sort: str) -> str:
        """An id for a set or an index: seldom one that may be nobody."""
        return self.id(IdOf(sort, not self.choices.chance(2)), 0)

    def condition(self, depth: int) -> str:
        """A condition."""
        options = [(6, lambda: self._compared(depth)), *self._known(CONDITION, depth)]
        options.append((3, lambda: self._asked(depth)))
        if depth > 0:
            options += [
                (3, lambda: self._both(depth)),
                (2, lambda: f"(not {self.condition(depth - 1)})"),
                (1, lambda: self._chain(depth)),
                *self._chosen(CONDITION, depth),
            ]
        return self.choices.weighted(options)()

    def _both(self, depth):
        word = self.choices.one([" and ", " or "])
        return f"({word.join(self.condition(depth - 1) for _ in range(self.choices.number(2, 3)))})"

    def _compared(self, depth):
        kind = self.choices.one([kind for kind in self.kinds() if kind != CONDITION] or [NUMBER])
        operators = COMPARISONS if kind == NUMBER else COMPARISONS[:2]
        left, operator = self._something(kind, depth - 1), self.choices.one(operators)
        return f"{left} {operator} {self.value(kind, depth - 1)}"

    def _something(self, kind, depth):
        """What is no literal, if there is such a thing."""
        known = self._known(kind, depth)
        return self.choices.weighted(known)() if known else self.value(kind, depth)

    def kinds(self) -> list:
        """The kinds of the values that are in scope."""
        found = [kind for _, kind in self.names.values]
        found += [kind_of(domain) for _, whole in self.names.parts for _, domain in paths(whole)]
        found = [IdOf(kind.sort) if isinstance(kind, IdOf) else kind for kind in found]
        return list(dict.fromkeys(kind for kind in found if isinstance(kind, (str, IdOf, Members))))

    def _chain(self, depth):
        first, second = self.choices.one(COMPARISONS), self.choices.one(COMPARISONS)
        numbers = [self.number(depth - 1) for _ in range(3)]
        return f"{numbers[0]} {first} {numbers[1]} {second} {numbers[2]}"

    def _asked(self, depth):
        sorts = [kind.sort for kind in self.kinds() if isinstance(kind, Members)]
        if not sorts:
            return self._compared(depth)
        sort = self.choices.one(sorts)
        members = self._something(Members(sort), depth - 1)
        return f"contains({members}, {self.real_id(sort)})" if self.choices.chance(60) else f"is_empty({members})"

    def _chosen(self, kind, depth):
        """A conditional expression."""
        return [
            (
                1,
                lambda: (
                    f"({self.value(kind, depth - 1)} if {self.condition(depth - 1)} else {self.value(kind, depth - 1)})"
                ),
            )
        ]

    def part(self, domain: object, depth: int) -> str:
        """A record or an array of the state, of exactly this domain; there must be one in scope."""
        places = self._places(lambda found: found is domain)
        options = [(4, lambda: self._place(*self.choices.one(places)))]
        if depth > 0 and len(places) > 1 and "before" not in [root for root, _ in self.names.parts]:
            options += self._chosen(domain, depth)
        options += self._calls(domain, depth)
        return self.choices.weighted(options)()

    def has_part(self, domain: object) -> bool:
        """Whether a record or an array of a domain is in scope."""
        return bool(self._places(lambda found: found is domain))

    def _known(self, kind, depth):
        """Locals, fields of the state, and calls."""
        names, places = self.names.of(kind), self._places(lambda domain: fits(kind_of(domain), kind))
        options = [(4, lambda: self.choices.one(names))] if names else []
        options += [(5, lambda: self._place(*self.choices.one(places)))] if places else []
        return options + self._calls(kind, depth)

    def _calls(self, kind, depth):
        functions = [f for f in self.names.functions if f.result == kind and depth > 0 and self.may_call(f)]
        return [(2, lambda: self.call(self.choices.one(functions), depth))] if functions else []

    def may_call(self, function: Function) -> bool:
        """Whether there is something of every kind that a function takes, and its writing is allowed."""
        if function.writes and not self.names.may_write:
            return False
        return all(isinstance(kind, (str, IdOf, Members)) or self.has_part(kind) for kind in function.parameters)

    def call(self, function: Function, depth: int) -> str:
        """A call with arguments of the right kinds; parts that are written are given as they stand."""
        return f"{function.name}({', '.join(self.value(kind, depth - 1) for kind in function.parameters)})"

    def _places(self, wanted):
        return [(text, parts) for text, domain in self.names.parts for parts, found in paths(domain) if wanted(found)]

    def _place(self, text, parts):
        for part in parts:
            text += f".{part}" if isinstance(part, str) else f"[{self.index(part)}]"
        return text

    def place_of(self, wanted: Callable) -> tuple[str, object] | None:
        """A field, an element or a whole part of the state of a domain that is wanted, and its domain."""
        places = [(text, parts, domain) for text, whole in self.names.parts for parts, domain in paths(whole)]
        places = [place for place in places if wanted(place[2])]
        if not places:
            return None
        text, parts, domain = self.choices.one(places)
        return self._place(text, parts), domain

    def index(self, array: Array) -> str:
        """An index of an array, in range for the most part."""
        size = length(array, self.scope)
        options = [(6, lambda: str(self.choices.number(0, size - 1))), (4, lambda: self._clamped(size))]
        if not isinstance(array.size, Bound):
            options.append((16, lambda: self.real_id(array.size)))
        else:
            options.append((2, lambda: str(size)))
        options.append((1, lambda: self.number(0).removeprefix("-")))
        return self.choices.weighted(options)()

    def _clamped(self, size):
        return f"min(max({self.number(1)}, 0), {size - 1})"
