"""The form of a transition: first guards, which may return False, then at most one request, then effects, then True.

A transition that returns False must have changed nothing, since its writes are not undone.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from types import FunctionType
from typing import TypeGuard

from kafkaproof.spec.language.domains import Choice, Flag, Id, Number, SetOf
from kafkaproof.spec.language.model import Transition
from kafkaproof.spec.language.subset import (
    definition,
    functions_reached,
    is_store,
    name_called,
    nodes_of,
    rule_error,
    writes,
)

SCALARS = (Number, Flag, Id, SetOf, Choice)


def check_guards(transition: Transition) -> None:
    """Check a transition's signature, its returns, and that no effect comes before a ``return False``.

    Raises RuleError.
    """
    _check_signature(transition.function)
    check_order(transition.function)


def check_order(function: Callable, seams: Iterable[Callable] = ()) -> bool:
    """Check the order guards, request, effects on every path of a function, and of the transitions that are parts of
    it.

    A request is a call of a seam, directly or not; each of the steps that `combine.at_once` joins may make one. Returns
    whether there is any; raises RuleError.
    """
    joined = [function.__globals__[name] for name in getattr(function, "__joins__", ())]
    if joined:
        return any([check_order(each, seams) for each in joined])
    _check_returns(function)
    for statement in nodes_of(function.__code__):
        part = part_of(statement, function)
        if part:
            check_order(part, seams)
    walk = _Walk(function, seams)
    walk.block(definition(function.__code__).body, frozenset())
    return walk.has_requests


def _check_signature(function):
    tree = definition(function.__code__)
    names = [argument.arg for argument in tree.args.args]
    domains = [function.__annotations__.get(name) for name in names]
    if not names or names[0] != "s" or domains[0] is not None:
        raise rule_error("a transition's first parameter is s", tree, function.__code__)
    for name, domain in zip(names[1:], domains[1:]):
        if not isinstance(domain, SCALARS):
            raise rule_error(f"argument {name} is annotated with a scalar domain", tree, function.__code__)
    for node in nodes_of(function.__code__):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.id in names:
            raise rule_error("a transition does not assign to its arguments", node, function.__code__)


def _check_returns(function):
    for node in nodes_of(function.__code__):
        if isinstance(node, ast.Return) and not _answers(node, function):
            raise rule_error("a transition returns True or False", node, function.__code__)


def _answers(node, function):
    """Whether a return is of True, of False, or of the result of a part."""
    return returns(node, True) or returns(node, False) or part_of(node, function) is not None


def returns(node: ast.AST, value: bool) -> bool:
    """Whether a statement returns True, or False."""
    return isinstance(node, ast.Return) and isinstance(node.value, ast.Constant) and node.value.value is value


EFFECT, REQUEST = "effect", "request"


class _Walk:
    """A walk along all paths, with what each has done so far (EFFECT, REQUEST); None if every path has returned."""

    def __init__(self, function, seams):
        self._function, self._code, self._seams = function, function.__code__, seams
        self.has_requests = False

    def block(self, statements, done):
        for statement in statements:
            done = done if done is None else self._statement(statement, done)
        return done

    def _statement(self, node, done):
        part = part_of(node, self._function)
        if part:
            self._refuse(node, done)
            done = self._called(part, node, done) | {EFFECT}
            return None if isinstance(node, ast.Return) else done
        for call in _calls(node):
            callee = self._function.__globals__.get(call.func.id)
            done = self._called(callee, call, done) if isinstance(callee, FunctionType) else done
        match node:
            case ast.Return():
                if returns(node, False):
                    self._refuse(node, done)
                return None
            case ast.If():
                ends = [self.block(node.body, done), self.block(node.orelse, done)]
                reached = [end for end in ends if end is not None]
                return frozenset().union(*reached) if reached else None
            case ast.For():
                for _ in range(2):
                    done = done | (self.block(node.body, done) or frozenset())
            case ast.Assign() | ast.AugAssign() if any(is_store(part) for part in ast.walk(node)):
                return done | {EFFECT}
        return done

    def _called(self, callee, node, done):
        """What is done after a call, which may be a request and may write."""
        if reaches(callee, self._seams):
            self.has_requests = True
            if REQUEST in done:
                raise rule_error("at most one request", node, self._code)
            if EFFECT in done:
                raise rule_error("the request comes before the first effect", node, self._code)
            done = done | {REQUEST}
        return done | {EFFECT} if writes(callee) else done

    def _refuse(self, node, done):
        if done:
            raise rule_error("guards first: no return False after an effect or a request", node, self._code)


def reaches(function: Callable, seams: Iterable[Callable]) -> bool:
    """Whether a function is one of the seams or calls one, rebound copies included."""
    return not {seam.__code__ for seam in seams}.isdisjoint({f.__code__ for f in functions_reached(function)})


def part_of(statement: ast.AST, function: Callable) -> FunctionType | None:
    """The transition whose guards, request and effects are part of this one, in ``if not part(s, ...): return False``
    (where it may be the last of several conditions) or ``return part(s, ...)``.
    """
    match statement:
        case ast.If(test=test, body=[ast.Return() as refusal], orelse=[]) if returns(refusal, False):
            last = test.values[-1] if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.Or) else test
            called = last.operand if isinstance(last, ast.UnaryOp) and isinstance(last.op, ast.Not) else None
        case ast.Return(value=called):
            pass
        case _:
            return None
    name = called and name_called(called)
    callee = function.__globals__.get(name) if name else None
    return callee if _is_whole(callee) and writes(callee) else None


def _is_whole(callee: object) -> TypeGuard[FunctionType]:
    """Whether a function of the state returns what a transition returns."""
    if not isinstance(callee, FunctionType) or callee.__code__.co_varnames[:1] != ("s",):
        return False
    found = [node for node in nodes_of(callee.__code__) if isinstance(node, ast.Return)]
    return bool(found) and all(_answers(node, callee) for node in found)


def _calls(statement):
    """The calls that a statement itself makes, without those in its body."""
    match statement:
        case ast.If():
            parts = [statement.test]
        case ast.For():
            parts = [statement.iter]
        case _:
            parts = [statement]
    return [node for part in parts for node in ast.walk(part) if isinstance(node, ast.Call)]
