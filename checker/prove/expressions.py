"""Expressions of the little language on symbolic states: reads, indices, conditions, calls."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass, field
from types import CodeType

import z3

from kafkaproof.checker.prove import sets, sets_of_any_size
from kafkaproof.checker.prove.formulas import StyleError
from kafkaproof.checker.prove.intervals import interval
from kafkaproof.checker.prove.terms import (
    Term,
    as_set,
    conjunction,
    disjunction,
    is_known,
    negation,
    same,
    together,
    truth,
)
from kafkaproof.checker.prove.variables import EVERY, EndNeeded, Variables, size_name
from kafkaproof.spec.language.domains import Array, Domain, Record, SetOf
from kafkaproof.spec.language.subset import rule_error

ARITHMETIC = {ast.Add: lambda a, b: a + b, ast.Sub: lambda a, b: a - b, ast.Mult: lambda a, b: a * b}
COMPARISONS = {
    ast.Eq: lambda a, b: a == b,
    ast.NotEq: lambda a, b: a != b,
    ast.Lt: lambda a, b: a < b,
    ast.LtE: lambda a, b: a <= b,
    ast.Gt: lambda a, b: a > b,
    ast.GtE: lambda a, b: a >= b,
}


@dataclass(frozen=True)
class Ref:
    """A record or an array of the state called `root`; `at` lists where it may be: (condition, path, index for EVERY)."""

    root: str
    domain: Domain
    at: tuple[tuple[Term, tuple, z3.ExprRef | None], ...]


@dataclass
class Frame:
    """A running call: its locals, and (path, value, stores) for each return."""

    code: CodeType
    globals: dict
    locals: dict
    returns: list = field(default_factory=list)


class Expressions:
    """Values of expressions on `stores`: for each root (``s``, or ``before`` and ``after``), a term for each path.

    `path` holds the conditions of the present branch, and `obligations` (condition, where) what must always hold.
    `each` holds the indices of the unbounded loops around it, `within` where those end. `quantifies` is set for
    predicates: they may say what holds for all indices of an unbounded array.
    """

    def __init__(self, variables: Variables, stores: dict[str, dict[tuple, Term]], quantifies: bool = False):
        self.variables, self.numbers, self.quantifies = variables, variables.numbers, quantifies
        self.stores, self.path, self.obligations, self.each, self.within = stores, [], [], [], []

    def root(self, name: str) -> Ref:
        """The whole state called `name`."""
        return Ref(name, self.variables.model.state, ((True, (), None),))

    def call(self, function: Callable, arguments: tuple) -> object:
        """Run a function; see `Interpreter`."""
        raise NotImplementedError

    def _store(self, root, terms):
        """Write some leaves of a root. Stores are replaced, never changed."""
        self.stores = {**self.stores, root: {**self.stores[root], **terms}}

    def _chosen_stores(self, condition, yes, no):
        if yes is no:
            return yes
        return {
            root: store
            if store is no[root]
            else {
                path: term if term is no[root][path] else self._choose_leaf(path, condition, term, no[root][path])
                for path, term in store.items()
            }
            for root, store in yes.items()
        }

    def _choose_leaf(self, path, condition, yes, no):
        if EVERY in path:
            return yes if z3.eq(yes, no) else z3.If(condition, yes, no)
        domain = self.variables.domains[path]
        if isinstance(domain, SetOf) and not (is_known(yes) and same(yes, no)):
            yes, no = together(yes, no, self.variables.width(domain))
        return self.numbers.choose(condition, yes, no)

    def _choose(self, condition, yes, no):
        if yes is no:
            return yes
        if isinstance(yes, Ref) or isinstance(no, Ref):
            if type(yes) is not type(no) or (yes.root, yes.domain) != (no.root, no.domain):
                raise StyleError("a record or an array is chosen from one state, and of one declaration")
            at = [(conjunction([condition, c]), p, i) for c, p, i in yes.at]
            other = negation(condition)
            return Ref(yes.root, yes.domain, (*at, *((conjunction([other, c]), p, i) for c, p, i in no.at)))
        if yes is None or no is None:
            raise StyleError("a function returns a value on every path, or none on any")
        return self.numbers.choose(condition, yes, no)

    def _value(self, node, frame):
        match node:
            case ast.Constant():
                return node.value
            case ast.Name():
                return self._name(node, frame)
            case ast.Attribute():
                return self._read(field_of(self._value(node.value, frame), node.attr))
            case ast.Subscript():
                at = self._value(node.slice, frame)
                return self._element(self._value(node.value, frame), at, node, frame)
            case ast.Call():
                return self._called(node, frame)
            case ast.BoolOp():
                return self._bool(node, frame)
            case ast.UnaryOp(op=ast.Not()):
                return negation(truth(self._value(node.operand, frame)))
            case ast.UnaryOp():
                return -self._number(self._value(node.operand, frame))
            case ast.BinOp():
                left, right = self._value(node.left, frame), self._value(node.right, frame)
                return ARITHMETIC[type(node.op)](self._number(left), self._number(right))
            case ast.Compare():
                return self._compare(node, frame)
            case ast.IfExp():
                return self._either(node, frame)
        raise self._style("an expression that cannot be proved", node, frame)

    def _name(self, node, frame):
        if node.id in frame.locals:
            return frame.locals[node.id]
        if node.id in frame.globals:
            return frame.globals[node.id]
        raise self._style("a local is used that no branch on the way has assigned", node, frame)

    def _read(self, ref):
        if isinstance(ref.domain, (Record, Array)):
            return ref
        value = None
        for condition, path, index in reversed(ref.at):
            term = self.stores[ref.root][path]
            found = term if index is None else z3.Select(term, index)
            value = found if value is None else self.numbers.choose(condition, found, value)
        return value

    def _element(self, array, at, node, frame):
        return self._read(self._selected(array, at, node, frame))

    def _selected(self, array, at, node, frame):
        if not isinstance(array, Ref) or not isinstance(array.domain, Array):
            raise self._style("an index is into a declared array", node, frame)
        at = self._number(at)
        domain, endless = array.domain, self.variables.is_endless(array.domain)
        size = self.variables.last(domain) + 1 if endless else self._number(self.variables.slots(domain))
        self._oblige(conjunction([at >= 0, at < size]), node, frame)
        if endless:
            index = z3.IntVal(at) if is_known(at) else at
            return Ref(array.root, domain.of, tuple((c, (*path, EVERY), index) for c, path, _ in array.at))
        if is_known(at):
            at = min(max(at, 0), size - 1)
            return Ref(array.root, domain.of, tuple((c, (*path, at), i) for c, path, i in array.at))
        each = ((conjunction([c, at == k]), (*path, k), i) for c, path, i in array.at for k in range(size))
        return Ref(array.root, domain.of, tuple(each))

    def _oblige(self, condition, node, frame, what="an index is in range"):
        if condition is not True:
            asked = [*self.path, *self.within, negation(condition)]
            missing = conjunction([*asked, *self.variables.ends_of(asked)])
            if missing is not False:
                self.obligations.append((negation(missing), str(rule_error(what, node, frame.code))))

    def _called(self, node, frame):
        name = node.func.id
        arguments = [self._value(argument, frame) for argument in node.args]
        function = frame.globals.get(name)
        if function is None:
            return self._builtin(name, arguments, node, frame)
        if function in sets.SYMBOLIC:
            return self._of_sets(function, arguments, node, frame)
        return self.call(function, tuple(arguments))

    def _of_sets(self, function, arguments, node, frame):
        """A call of `sets`, with the obligation that an id is one that a set can hold."""
        arguments = [int(value) if isinstance(value, bool) else value for value in arguments]
        most = sets.MOST
        if function in sets.OF_NUMBERS:
            x = self._number(arguments[-1])
            most = self._greatest(x)
            inside = [x >= 0] + ([] if self.variables.any_size or most < sets.MOST else [x < self._number(sets.MOST)])
            self._oblige(conjunction(inside), node, frame, "an id is in a set")
            most = int(min(max(most, 0), sets.MOST - 1))
            arguments[-1] = min(max(x, 0), most) if is_known(x) else x
        if self.variables.any_size:
            if function not in sets_of_any_size.SYMBOLIC:
                raise self._style("a proof for any number of ids names the members of a set one by one", node, frame)
            return sets_of_any_size.SYMBOLIC[function](*arguments)
        return sets.SYMBOLIC[function](self.variables.set_size, most, *arguments)

    def _greatest(self, x):
        """The greatest value of a number, by the declared ranges of its parts; `MOST` if unknown."""
        return x if is_known(x) else (interval(x, self.variables.declared) or (0, sets.MOST))[1]

    def _builtin(self, name, arguments, node, frame):
        if name == "len":
            return self._length(arguments[0], node, frame)
        numbers = [self._number(a) for a in arguments]
        if name == "abs":
            return self.numbers.choose(numbers[0] < 0, -numbers[0], numbers[0])
        found = numbers[0]
        for number in numbers[1:]:
            found = self.numbers.choose(found <= number if name == "min" else found >= number, found, number)
        return found

    def _bool(self, node, frame):
        both, conditions, base = isinstance(node.op, ast.And), [], list(self.path)
        for part in node.values:
            reached = conjunction(conditions if both else map(negation, conditions))
            value = self._sometimes(part, frame, reached)
            condition = truth(value)
            if is_known(condition) and condition is not both and not conditions:
                return value
            conditions.append(condition)
            if is_known(condition) and condition is not both:
                break
            if not is_known(condition):
                self.path.append(condition if both else negation(condition))
        self.path = base
        if all(map(is_known, conditions)):
            return value
        return conjunction(conditions) if both else disjunction(conditions)

    def _sometimes(self, node, frame, condition):
        """The value of an expression that is evaluated, effects included, only where the condition holds."""
        before = self.stores
        value = self._value(node, frame)
        self.stores = self._chosen_stores(condition, self.stores, before)
        return value

    def _either(self, node, frame):
        condition = truth(self._value(node.test, frame))
        if is_known(condition):
            return self._value(node.body if condition else node.orelse, frame)
        base, other = list(self.path), negation(condition)
        self.path = [*base, condition]
        yes = self._sometimes(node.body, frame, condition)
        self.path = [*base, other]
        no = self._sometimes(node.orelse, frame, other)
        self.path = base
        return self._choose(condition, yes, no)

    def _compare(self, node, frame):
        left, conditions = self._value(node.left, frame), []
        for operator, part in zip(node.ops, node.comparators):
            right = self._value(part, frame)
            conditions.append(COMPARISONS[type(operator)](*self._comparable(left, right)))
            left = right
        return conjunction(conditions)

    def _comparable(self, left, right):
        left, right = self._number(left), self._number(right)
        if z3.is_array(left) or z3.is_array(right):
            return as_set(left, None), as_set(right, None)
        if any(z3.is_bv(value) and value.size() != self.numbers.bits for value in (left, right)):
            return together(left, right, 0)
        return left, right

    def _length(self, array, node, frame):
        if not isinstance(array, Ref) or not isinstance(array.domain, Array):
            raise self._style("a length or a loop is of a declared array", node, frame)
        if self.variables.is_endless(array.domain):
            raise EndNeeded(size_name(array.domain), self._place(node, frame))
        return self.variables.slots(array.domain)

    def _number(self, value):
        return self.numbers.number(value)

    def _place(self, node, frame):
        return str(rule_error("", node, frame.code)).removeprefix(": ")

    def _style(self, rule, node, frame):
        return StyleError(str(rule_error(rule, node, frame.code)))


def field_of(ref: Ref, name: str) -> Ref:
    """A field of a record."""
    if not isinstance(ref.domain, Record):
        raise TypeError(f"{ref.domain} has no fields")
    domain = ref.domain.fields[name].domain
    return Ref(ref.root, domain, tuple((c, (*path, name), i) for c, path, i in ref.at))
