"""The kind of every expression of a function, for arguments of known kinds; `kinds` states the rules."""

from __future__ import annotations

import ast
from collections.abc import Callable

from kafkaproof.spec.language import sets
from kafkaproof.spec.language.domains import Array, Budget, Number, Record
from kafkaproof.spec.language.kinds import (
    LARGEST,
    NOTHING,
    NUMBER,
    TRUTH,
    Constant,
    CountOf,
    IdOf,
    Ids,
    Part,
    ValueKind,
    fits,
    is_condition,
    is_number,
    joined,
    kind_of,
)
from kafkaproof.spec.language.subset import definition, rule_error


class Inference:
    """Infers the results of functions, each once for given kinds of arguments."""

    def __init__(self) -> None:
        self._answers: dict[tuple[Callable, tuple], ValueKind] = {}

    def call(self, function: Callable, kinds: tuple) -> ValueKind:
        """The kind of what a function returns for arguments of these kinds; raises RuleError."""
        key = function, kinds
        if key not in self._answers:
            self._answers[key] = _Reading(self, function, kinds).answer()
        return self._answers[key]


class _Reading:
    """The inference in one function: the kinds of its locals, and of its returns so far."""

    def __init__(self, inference, function, kinds):
        self._inference, self._globals, self._code = inference, function.__globals__, function.__code__
        self._tree = definition(function.__code__)
        self._locals = dict(zip((argument.arg for argument in self._tree.args.args), kinds))
        self._returned = None

    def answer(self):
        self._block(self._tree.body)
        return NOTHING if self._returned is None else self._returned

    def _error(self, rule, node):
        return rule_error(rule, node, self._code)

    def _block(self, statements):
        for statement in statements:
            self._statement(statement)

    def _statement(self, node):
        match node:
            case ast.Return():
                kind = self._valued(node.value)
                self._returned = kind if self._returned is None else self._joined(self._returned, kind, node)
            case ast.Assign(targets=[target]):
                self._store(target, self._valued(node.value), node)
            case ast.AugAssign():
                self._number(_read(node.target))
                grows = isinstance(node.op, ast.Add) and _is_least(self._number(node.value), 0)
                self._store(node.target, NUMBER, node, grows)
            case ast.If():
                self._condition(node.test)
                self._branches(node)
            case ast.For():
                self._loop(node)
            case ast.Expr():
                self._kind(node.value)

    def _branches(self, node):
        before = dict(self._locals)
        self._block(node.body)
        after, self._locals = self._locals, before
        self._block(node.orelse)
        self._merge(after, node)

    def _merge(self, others, node):
        """Merge the locals of two paths; those of only one path are kept."""
        merged = {**others, **self._locals}
        for name in others.keys() & self._locals.keys():
            merged[name] = self._joined(others[name], self._locals[name], node)
        self._locals = merged

    def _loop(self, node):
        item = self._item(node.iter)
        while True:
            before = dict(self._locals)
            self._locals[node.target.id] = item
            self._block(node.body)
            self._merge(before, node)
            if self._locals.keys() == before.keys() | {node.target.id} and before.items() <= self._locals.items():
                return

    def _item(self, node):
        """The kind of the items of a loop."""
        if isinstance(node, ast.Call):
            ends = [self._number(end) for end in node.args]
            counted = isinstance(ends[-1], CountOf) and all(isinstance(end, Constant) for end in ends[:-1])
            return IdOf(ends[-1].sort) if counted else NUMBER
        return kind_of(self._array(node).domain.of, self._kind(node).root)

    def _store(self, target, kind, node, grows=False):
        if isinstance(target, ast.Name):
            known = self._locals.get(target.id)
            self._locals[target.id] = (
                kind if known is None or is_number(kind) and is_number(known) else self._joined(known, kind, node)
            )
            return
        domain = self._domain(target)
        if isinstance(domain, (Record, Array)) or isinstance(kind, Part):
            raise self._error("a record or an array is not assigned; assign its fields one by one", node)
        if isinstance(domain, Number) and isinstance(domain.high, Budget) and not grows:
            raise self._error("a budget begins at 0 and never falls: write += 1", node)
        if not fits(kind, domain):
            raise self._error(
                f"a field takes what its domain can hold: {kind_of(domain).words}, not {kind.words}", node
            )

    def _kind(self, node):
        match node:
            case ast.Constant():
                return self._constant(node.value, node)
            case ast.Name():
                return (
                    self._locals[node.id] if node.id in self._locals else self._constant(self._globals[node.id], node)
                )
            case ast.Attribute() | ast.Subscript():
                return self._placed(node)
            case ast.Call():
                return self._called(node)
            case ast.BoolOp() | ast.UnaryOp(op=ast.Not()):
                for operand in node.values if isinstance(node, ast.BoolOp) else [node.operand]:
                    if not is_condition(self._kind(operand)):
                        raise self._error("and, or and not take conditions: compare a number", operand)
                return TRUTH
            case ast.BinOp():
                self._number(node.left), self._number(node.right)
                return NUMBER
            case ast.UnaryOp():
                kind = self._number(node.operand)
                return Constant(-kind.high, -kind.low) if isinstance(kind, Constant) else NUMBER
            case ast.Compare():
                return self._compared(node)
            case ast.IfExp():
                self._condition(node.test)
                return self._joined(self._valued(node.body), self._valued(node.orelse), node)

    def _constant(self, value, node):
        if abs(value) > LARGEST:
            raise self._error("a number has 32 bits", node)
        return Constant(int(value), int(value))

    def _placed(self, node):
        """The kind of a field or an element."""
        base = self._kind(node.value)
        return kind_of(self._domain(node), base.root)

    def _domain(self, node):
        """The domain of a field or an element."""
        if isinstance(node, ast.Subscript):
            array = self._array(node.value)
            self._number(node.slice)
            return array.domain.of
        base = self._kind(node.value)
        if not isinstance(base, Part) or not isinstance(base.domain, Record) or node.attr not in base.domain.fields:
            raise self._error(f"there is no field {node.attr}", node)
        return base.domain.fields[node.attr].domain

    def _array(self, node):
        kind = self._kind(node)
        if not isinstance(kind, Part) or not isinstance(kind.domain, Array):
            raise self._error("an index, a length and a loop are of a declared array", node)
        return kind

    def _valued(self, node):
        kind = self._kind(node)
        if kind is NOTHING:
            raise self._error("a function that returns nothing is called as a statement of its own", node)
        return kind

    def _number(self, node):
        kind = self._valued(node)
        if not is_number(kind):
            raise self._error(f"a number is needed here, not {kind.words}", node)
        return kind

    def _condition(self, node):
        kind = self._valued(node)
        if not is_number(kind) or isinstance(kind, IdOf):
            raise self._error(f"a condition is needed here, not {kind.words}", node)

    def _compared(self, node):
        kinds = [self._valued(part) for part in (node.left, *node.comparators)]
        for left, operator, right in zip(kinds, node.ops, kinds[1:]):
            both = self._joined(left, right, node)
            if isinstance(both, Part) or isinstance(both, Ids) and not isinstance(operator, (ast.Eq, ast.NotEq)):
                raise self._error(f"{both.words} cannot be compared like this", node)
        return TRUTH

    def _joined(self, one, other, node):
        found = joined(one, other)
        if found is None:
            raise self._error(f"this may be {one.words} or {other.words}", node)
        return found

    def _called(self, node):
        function = self._globals.get(node.func.id)
        if function is None:
            return self._builtin(node)
        if len(node.args) != function.__code__.co_argcount:
            raise self._error(f"{node.func.id} takes {function.__code__.co_argcount} arguments", node)
        kinds = tuple(self._valued(argument) for argument in node.args)
        if function.__code__.co_filename == sets.__file__:
            return self._of_sets(function.__name__, kinds, node)
        return self._inference.call(function, kinds)

    def _of_sets(self, name, kinds, node):
        """A call of `sets`: with sets of one sort, and ids of it."""
        if name == "everybody":
            self._number(node.args[0])
            return Ids(kinds[0].sort if isinstance(kinds[0], CountOf) else None)
        if name == "only":
            self._number(node.args[0])
            return Ids(kinds[0].sort if isinstance(kinds[0], IdOf) else None)
        if name in WITH_ID:
            self._number(node.args[1])
        found = Ids(None)
        for kind in kinds[:1] if name in WITH_ID else kinds:
            both = joined(found, kind)
            if not isinstance(both, Ids):
                raise self._error(f"a set is of one sort: {kind.words} with {found.words}", node)
            found = both
        return TRUTH if name in ("contains", "is_empty") else found

    def _builtin(self, node):
        if node.func.id == "len":
            size = self._array(node.args[0]).domain.size
            return CountOf(size) if isinstance(size, str) else NUMBER
        for argument in node.args:
            self._number(argument)
        return NUMBER


WITH_ID = ("contains", "with_member", "without_member")


def _is_least(kind, least):
    """Whether a value is a constant that is not below `least`."""
    return isinstance(kind, Constant) and kind.low >= least


def _read(target):
    """The target of an assignment, as an expression that reads it, with the same place in the text."""
    return ast.copy_location(ast.parse(ast.unparse(target), mode="eval").body, target)
