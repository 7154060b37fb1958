"""Statements of generated programs: lines of text, with what they assign and whether they return."""

from __future__ import annotations

import re
from collections.abc import Callable

from kafkaproof.spec.language.domains import Array, Bound, Number, Record, Sequence
from tests.checker.fuzz.choices import Choices
from tests.checker.fuzz.expressions import Expressions
from tests.checker.fuzz.kinds import CONDITION, NUMBER, PROCEDURE, IdOf, Members, Names, kind_of

INDENT = "    "


def indented(lines: list[str]) -> list[str]:
    """Lines of a block, one level further in."""
    return [INDENT + line for line in lines or ["pass"]]


class Statements:
    """Writes the body of one function. `leave` writes the expression of an early return, None where there is none."""

    def __init__(self, choices: Choices, scope: dict[str, int], names: Names, leave: Callable | None = None):
        self.choices, self.scope, self.names, self.leave = choices, scope, names, leave
        self._count = 0

    @property
    def expressions(self) -> Expressions:
        """Expressions over what is in scope now."""
        return Expressions(self.choices, self.scope, self.names)

    def block(self, most: int, depth: int = 2) -> list[str]:
        """Up to `most` statements, one at least."""
        return [line for _ in range(self.choices.number(1, most)) for line in self.statement(depth)]

    def statement(self, depth: int) -> list[str]:
        """One statement."""
        options = [(4, self._local)]
        if self.names.may_write:
            options += [(8, self._store), (2, self._call), (2, self._sequence)]
        options += [(2, self._change)] + ([(3, self._early)] if self.leave else [])
        if depth > 0:
            options += [(3, lambda: self._if(depth)), (3, lambda: self._for(depth))]
        return self.choices.weighted(options)()

    def _fresh(self):
        self._count += 1
        return f"v{self._count}"

    def _local(self):
        """A new local: a value, or a record or an array of the state."""
        parts = [domain for _, domain in self.names.parts]
        values = [(1, kind) for kind in self.expressions.kinds()]
        kind = self.choices.weighted([(2, NUMBER), (1, CONDITION), *values, *([(3, self._inner())] if parts else [])])
        name, value = self._fresh(), self.expressions.value(kind)
        (self.names.values if isinstance(kind, (str, IdOf, Members)) else self.names.parts).append((name, kind))
        return [f"{name} = {value}"]

    def _inner(self):
        """Some record or array that is in scope, or part of one."""
        _, domain = self.choices.one(self.names.parts)
        found = [domain]
        while isinstance(domain, (Record, Array)):
            inside = [f.domain for f in domain.fields.values()] if isinstance(domain, Record) else [domain.of]
            inside = [d for d in inside if isinstance(d, (Record, Array))]
            if not inside:
                break
            domain = self.choices.one(inside)
            found.append(domain)
        return self.choices.one(found)

    def _change(self):
        """Another value of a local that there is; of its own that it counts with."""
        known = [(name, kind) for name, kind in self.names.values if name.startswith("v")]
        if not known:
            return self._local()
        name, kind = self.choices.one(known)
        if kind == NUMBER and self.choices.chance(60):
            return [f"{name} {self.choices.one(['+=', '-='])} {self.expressions.number(1)}"]
        return [f"{name} = {self.expressions.value(kind)}"]

    def _store(self):
        """An assignment to a field or an element, in its range for the most part."""
        found = self.expressions.place_of(lambda domain: not isinstance(domain, (Record, Array)))
        if found is None:
            return self._local()
        place, domain = found
        if not isinstance(domain, Number):
            return [f"{place} = {self.expressions.value(kind_of(domain))}"]
        if self.choices.chance(25 if isinstance(domain.high, Bound) else 6):
            return [f"{place} {self.choices.one(['+=', '-=', '*='])} {self.expressions.number(0)}"]
        return [f"{place} = {self._within(domain)}"]

    def _within(self, domain):
        """A number, in its range for the most part; a bound is left more often."""
        value, high = self.expressions.number(2), domain.high
        if self.choices.chance(4 if isinstance(high, int) else 40):
            return value
        return f"min(max({value}, {domain.low}), {high if isinstance(high, int) else high.value(self.scope)})"

    def _call(self):
        """A call for what it writes."""
        functions = [f for f in self.names.functions if f.result == PROCEDURE and self.expressions.may_call(f)]
        return [self.expressions.call(self.choices.one(functions), 1)] if functions else self._store()

    def _sequence(self):
        """Something pushed, or popped into a local."""
        found = self.expressions.place_of(lambda domain: isinstance(domain, Sequence))
        if found is None:
            return self._store()
        place, sequence = found
        if self.choices.chance(50):
            name = self._fresh()
            self.names.values.append((name, kind_of(sequence.fields["slots"].domain.of)))
            return [f"{name} = pop({place})"]
        of = sequence.fields["slots"].domain.of
        value = self._within(of) if isinstance(of, Number) else self.expressions.value(kind_of(of))
        return [f"push({place}, {value})"]

    def _early(self):
        """A return where a condition holds."""
        condition = self.expressions.condition(2)
        return [f"if {condition}:", f"{INDENT}return {self.leave(self.expressions)}"]

    def _if(self, depth):
        lines, outer = [], self.names
        branches = ["if", *["elif"] * self.choices.number(0, 1), *["else"] * self.choices.number(0, 1)]
        for word in branches:
            self.names = outer
            head = "else:" if word == "else" else f"{word} {self.expressions.condition(2)}:"
            self.names = outer.copy()
            lines += [head, *indented(self.block(2, depth - 1))]
        self.names = outer
        return lines

    def _for(self, depth):
        """A loop over numbers, or over the elements of an array."""
        outer, name = self.names, self._fresh()
        self.names = outer.copy()
        found = self.expressions.place_of(lambda domain: isinstance(domain, Array)) if self.choices.chance(50) else None
        if found is None or not re.search(r"\.\w+$", found[0]):
            over, kind = self._range()
            self.names.values.append((name, kind))
        else:
            over, domain = found[0], found[1].of
            if isinstance(domain, (Record, Array)):
                self.names.parts.append((name, domain))
            else:
                self.names.values.append((name, kind_of(domain)))
        lines = [f"for {name} in {over}:", *indented(self.block(2, depth - 1))]
        self.names = outer
        return lines

    def _range(self):
        """What a loop counts through: the ids of a sort, or a few numbers."""
        whole = self.expressions.place_of(lambda domain: isinstance(domain, Array))
        if whole and self.choices.chance(50):
            less = " - 1" if self.choices.chance(40) else ""
            size = whole[1].size
            return f"range(len({whole[0]}){less})", IdOf(size, True) if isinstance(size, str) else NUMBER
        first = f"{self.expressions.number(1)}, " if self.choices.chance(40) else ""
        return f"range({first}{self.expressions.number(1)})", NUMBER
