"""Execution of a function of the little language on symbolic states, with all paths merged.

The function's text is walked once. If a condition is not known, both branches run, and every leaf and local that
differs afterwards becomes a choice by the condition; a `return` closes its branch. A symbolic index selects among
the elements. That an index is in range is noted as an obligation.
"""

from __future__ import annotations

import ast
from collections.abc import Callable

import z3

from kafkaproof.checker.prove.expressions import ARITHMETIC, Frame, Ref, field_of
from kafkaproof.checker.prove.loops import Loops
from kafkaproof.checker.prove.terms import as_set, conjunction, disjunction, is_known, negation, together, truth
from kafkaproof.spec.language.domains import Array, Record, SetOf
from kafkaproof.spec.language.subset import definition


class Interpreter(Loops):
    """Runs functions on symbolic states; `stores` has the states after it."""

    def call(self, function: Callable, arguments: tuple) -> object:
        """Run a function; returns its value, and leaves its effects in `stores`. Raises StyleError."""
        returns = self.returns(function, arguments)
        self.stores = self.joined_stores(returns)
        return self._joined([(path, value) for path, value, _ in returns])

    def returns(self, function: Callable, arguments: tuple) -> list[tuple[list, object, dict]]:
        """Every return of a function: its path from the function's start, its value, and the state there."""
        names = function.__code__.co_varnames[: function.__code__.co_argcount]
        frame = Frame(function.__code__, function.__globals__, dict(zip(names, arguments)))
        base = list(self.path)
        if self._block(definition(function.__code__).body, frame):
            frame.returns.append((list(self.path), None, self.stores))
        self.path = base
        return [(path[len(base) :], value, stores) for path, value, stores in frame.returns]

    def _joined(self, returns):
        """The value of a call with several returns; a condition, if they are True, False or conditions."""
        value = returns[-1][1]
        if len(returns) == 1:
            return value
        values = [v for _, v in returns]
        if any(isinstance(v, bool) for v in values) and all(isinstance(v, bool) or z3.is_bool(v) for v in values):
            return disjunction(conjunction([*path, v]) for path, v in returns)
        for path, other in reversed(returns[:-1]):
            value = self._choose(conjunction(path), other, value)
        return value

    def joined_stores(self, returns: list[tuple[list, object, dict]]) -> dict[str, dict[tuple, object]]:
        """The state after a call, whichever return it took."""
        stores = returns[-1][2]
        for path, _, others in reversed(returns[:-1]):
            stores = self._chosen_stores(conjunction(path), others, stores)
        return stores

    def _block(self, statements, frame) -> bool:
        """Run statements; False when every branch has returned."""
        return all(self._statement(statement, frame) for statement in statements)

    def _statement(self, node, frame) -> bool:
        match node:
            case ast.Return():
                value = True if node.value is None else self._value(node.value, frame)
                frame.returns.append((list(self.path), value, self.stores))
                return False
            case ast.If():
                return self._if(node, frame)
            case ast.For():
                return self._for(node, frame)
            case ast.Assign(targets=[target]):
                self._assign(target, self._value(node.value, frame), frame)
            case ast.AugAssign():
                old = self._value(_as_load(node.target), frame)
                new = ARITHMETIC[type(node.op)](self._number(old), self._number(self._value(node.value, frame)))
                self._assign(node.target, new, frame)
            case ast.Expr():
                self._value(node.value, frame)
            case ast.Pass():
                pass
            case _:
                raise self._style("one target in an assignment", node, frame)
        return True

    def _if(self, node, frame):
        condition = truth(self._value(node.test, frame))
        if is_known(condition):
            return self._block(node.body if condition else node.orelse, frame)
        return self._branches(condition, node.body, node.orelse, frame)

    def _branches(self, condition, body, orelse, frame):
        """Run both blocks, each under its condition, and join the states and locals."""
        path, stores, variables = list(self.path), self.stores, dict(frame.locals)
        self.path.append(condition)
        if not self._block(body, frame):
            self.path, self.stores, frame.locals = [*path, negation(condition)], stores, variables
            return self._block(orelse, frame)
        then = self.path, self.stores, frame.locals
        self.path, self.stores, frame.locals = [*path, negation(condition)], stores, variables
        if not self._block(orelse, frame):
            self.path, self.stores, frame.locals = then
            return True
        self._join(len(path), condition, then, frame)
        return True

    def _join(self, base, condition, then, frame):
        then_path, then_stores, then_locals = then
        self.stores = self._chosen_stores(condition, then_stores, self.stores)
        merged = {**then_locals, **frame.locals}
        for name in then_locals.keys() & frame.locals.keys():
            merged[name] = self._choose(condition, then_locals[name], frame.locals[name])
        frame.locals = merged
        narrowed = len(then_path) > base + 1 or len(self.path) > base + 1
        either = disjunction([conjunction(then_path[base:]), conjunction(self.path[base:])])
        self.path = self.path[:base] + ([either] if narrowed else [])

    def _assign(self, target, value, frame):
        if isinstance(target, ast.Name):
            frame.locals[target.id] = value
            return
        ref = self._value(target.value, frame)
        if isinstance(target, ast.Attribute):
            ref = field_of(ref, target.attr)
        else:
            ref = self._selected(ref, self._value(target.slice, frame), target, frame)
        if isinstance(ref.domain, (Record, Array)) or isinstance(value, Ref):
            raise self._style("a record or an array is assigned; assign its fields one by one", target, frame)
        for condition, path, index in ref.at:
            old = self.stores[ref.root][path]
            if index is not None and isinstance(ref.domain, SetOf):
                value = self._of_its_sort(ref.domain, value, target, frame)
            self._store(ref.root, {path: self._written(ref.domain, old, condition, index, value)})

    def _of_its_sort(self, domain, value, node, frame):
        """A set for an element of an unbounded array, which has no room for ids beyond the sort."""
        width = self.variables.width(domain)
        if width is None:
            return value
        wide = together(value, 0, width)[0]
        if wide.size() > width:
            self._oblige(z3.Extract(wide.size() - 1, width, wide) == 0, node, frame, "a set holds ids of its sort")
        return as_set(value, width)

    def _written(self, domain, old, condition, index, value):
        value = self._stored(domain, value)
        if index is None:
            return self.numbers.choose(condition, value, self._stored(domain, old))
        if is_known(value):
            value = self.variables.constant(domain, value)
        written = z3.Store(old, index, value)
        return written if condition is True else z3.If(condition, written, old)

    def _stored(self, domain, value):
        if isinstance(domain, SetOf):
            return int(value) if is_known(value) else together(value, 0, self.variables.width(domain))[0]
        return self._number(value)


def _as_load(target):
    """The target of an assignment, as an expression that reads it."""
    kinds = {ast.Attribute: ("value", "attr"), ast.Subscript: ("value", "slice"), ast.Name: ("id",)}
    parts = [getattr(target, name) for name in kinds[type(target)]]
    return ast.copy_location(type(target)(*parts, ast.Load()), target)
