"""Symbolic execution of transitions: every path through each, as a condition and effects over z3.

A transition runs as it is, on a plain state whose leaves are symbols. Where it asks for the value of a
condition or of an index, the run takes the first feasible answer; then it is run again under the next
one, until none is left. Arguments are concrete, the state is any within its declared ranges.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import z3

from kafkaproof.checker.basics.errors import UserError
from kafkaproof.spec.language.accepted import require_accepted
from kafkaproof.spec.language.domains import Scope, SetOf
from kafkaproof.spec.language.layout import Leaf, leaves
from kafkaproof.spec.language.model import Model, Transition
from kafkaproof.spec.language.plain import new_state, put, values_of
from kafkaproof.spec.language.rebind import rebind
from tests.checker.symbols import REBOUND, Members, Symbol, term_of


class SymbolicError(UserError):
    """A transition fails on a state within the declared ranges, or z3 gives up; the message says where."""


@dataclass(frozen=True)
class Path:
    """One way through a transition: taken exactly where `condition` holds, and whether it is a step.

    `after` holds the leaves that a step assigns to, and their values in terms of the state before; a leaf
    may be left beyond its range.
    """

    condition: z3.BoolRef
    success: bool
    after: dict[Leaf, z3.ExprRef]


@dataclass(frozen=True)
class Counts:
    """How many action instances a model has at a scope, and paths that succeed and that refuse."""

    instances: int
    successes: int
    refusals: int


class Decisions:
    """The decisions on one path after another, depth first; feasible ones by one incremental solver.

    `asked` holds, for each decision of the present path, the expression, the value that it takes now and
    those still to be taken, in reverse order.
    """

    def __init__(self, assumptions: list[z3.BoolRef]):
        self._solver = z3.Solver()
        self._solver.add(*assumptions)
        self.asked: list[tuple[z3.ExprRef, int, list[int]]] = []
        self._position = 0
        self._known: dict[int, int] = {}

    def decide(self, term: z3.ExprRef) -> int:
        """The value of an expression on the present path."""
        term = z3.simplify(term)
        value = constant(term)
        if value is None:
            value = self._known.get(term.get_id())
        if value is None:
            if self._position == len(self.asked):
                self._take(term, sorted(self._feasible(term), reverse=True))
            value = self.asked[self._position][1]
            self._known[term.get_id()] = value
            self._position += 1
        return value

    def _take(self, term, values):
        value = values.pop()
        self._solver.push()
        self._solver.add(equal(term, value))
        self.asked.append((term, value, values))

    def _feasible(self, term):
        values = []
        self._solver.push()
        while (answer := self._solver.check()) == z3.sat:
            values.append(constant(self._solver.model().eval(term, model_completion=True)))
            self._solver.add(z3.Not(equal(term, values[-1])))
        self._solver.pop()
        if answer == z3.unknown:
            raise SymbolicError(f"z3 cannot decide {term}: {self._solver.reason_unknown()}")
        return values

    def condition(self) -> z3.BoolRef:
        """What holds on the present path."""
        return z3.And(*(equal(term, value) for term, value, _ in self.asked))

    def next(self) -> bool:
        """Turn to the next path; False when there is none."""
        self._position = 0
        self._known.clear()
        while self.asked:
            term, _, values = self.asked.pop()
            self._solver.pop()
            if values:
                self._take(term, values)
                return True
        return False


class Followed:
    """The decisions on the path that one state takes: `value` says what an expression is there."""

    def __init__(self, value: Callable[[z3.ExprRef], int]):
        self._value = value
        self._asked: list[z3.BoolRef] = []

    def decide(self, term: z3.ExprRef) -> int:
        """The value of an expression on this path."""
        value = constant(term)
        if value is None:
            value = self._value(term)
            self._asked.append(equal(term, value))
        return value

    def condition(self) -> z3.BoolRef:
        """What holds on this path."""
        return z3.And(*self._asked)


def constant(term: z3.ExprRef) -> int | None:
    """The value of an expression without variables; None for others."""
    if z3.is_int_value(term) or z3.is_bv_value(term):
        return term.as_long()
    return 1 if z3.is_true(term) else 0 if z3.is_false(term) else None


def equal(term: z3.ExprRef, value: int) -> z3.BoolRef:
    """That an expression has a value; for a condition, that it holds or does not."""
    return term == value if not z3.is_bool(term) else term if value else z3.Not(term)


class SymbolicModel:
    """A model at a scope with one z3 variable for each leaf: BitVec for sets, Int for all others."""

    def __init__(self, model: Model, scope: Scope):
        require_accepted(model, scope)
        self.model, self.scope = model, scope
        self.leaves = leaves(model.state, scope)
        self.variables = {leaf: _variable(leaf, scope) for leaf in self.leaves if not leaf.spare}
        self.ranges = [
            z3.And(leaf.low <= variable, variable <= leaf.high)
            for leaf, variable in self.variables.items()
            if not isinstance(leaf.domain, SetOf)
        ]
        self._functions = {t.name: rebind(t.function, REBOUND) for t in model.transitions}

    def paths(self, transition: Transition, arguments: tuple[int, ...]) -> list[Path]:
        """All paths through a transition for these arguments; raises SymbolicError."""
        return list(self._paths(transition, arguments))

    def path_of(self, transition: Transition, arguments: tuple[int, ...], point: Point) -> Path:
        """The path that a state takes, for transitions with more paths than one can list; raises SymbolicError."""
        decisions = Followed(point.value)
        return self._path(transition, arguments, decisions, self._state(decisions))

    def _paths(self, transition, arguments) -> Iterator[Path]:
        decisions = Decisions(self.ranges)
        before = self._state(decisions)
        while True:
            yield self._path(transition, arguments, decisions, before)
            if not decisions.next():
                return

    def _path(self, transition, arguments, decisions, before):
        state = before.copy()
        try:
            success = bool(self._functions[transition.name](state, *arguments))
        except (IndexError, ValueError) as error:
            raise SymbolicError(f"{transition.name}{arguments}: {error}; is an index guarded?") from error
        return Path(decisions.condition(), success, self._assigned(before, state) if success else {})

    def _state(self, decisions):
        state = new_state(self.model.state, self.scope)
        for leaf, variable in self.variables.items():
            kind = Members if isinstance(leaf.domain, SetOf) else Symbol
            put(state, leaf.path, kind(variable, decisions.decide))
        return state

    def _assigned(self, before, after):
        both = zip(self.leaves, values_of(before), values_of(after))
        return {leaf: _expression(leaf, new, self.scope) for leaf, old, new in both if new is not old}


def _variable(leaf, scope):
    if isinstance(leaf.domain, SetOf):
        return z3.BitVec(leaf.expression, scope[leaf.domain.sort])
    return z3.Int(leaf.expression)


def _expression(leaf, value, scope):
    term = term_of(value)
    if not isinstance(term, int):
        return z3.simplify(term)
    return z3.BitVecVal(term, scope[leaf.domain.sort]) if isinstance(leaf.domain, SetOf) else z3.IntVal(term)


class Point:
    """A concrete state, as a place where expressions over a symbolic model have values."""

    def __init__(self, symbolic: SymbolicModel, values: list[int]):
        self._leaves, self._values, self._model = symbolic.leaves, values, z3.Model()
        for leaf, value in zip(symbolic.leaves, values):
            if not leaf.spare:
                self._model.update_value(symbolic.variables[leaf].decl(), _expression(leaf, value, symbolic.scope))

    def value(self, term: z3.ExprRef) -> int:
        """The value of an expression here."""
        return constant(self._model.eval(term))

    def on(self, path: Path) -> bool:
        """Whether the state takes this path."""
        return z3.is_true(self._model.eval(path.condition))

    def after(self, path: Path) -> list[int]:
        """The values of all leaves after this path."""
        new = {leaf: self.value(term) for leaf, term in path.after.items()}
        return [new.get(leaf, value) for leaf, value in zip(self._leaves, self._values)]


def count_paths(model: Model, scope: Scope) -> Counts:
    """All paths of all action instances of a model; raises SymbolicError."""
    symbolic = SymbolicModel(model, scope)
    found = [symbolic.paths(t, arguments) for t in model.transitions for arguments in t.choices(scope)]
    successes = sum(path.success for paths in found for path in paths)
    return Counts(len(found), successes, sum(map(len, found)) - successes)
