"""What makes a function a transition: guards that refuse first, then at most one request, then effects, then True.

A transition that refuses has changed nothing: nobody takes back what it wrote.
"""

from __future__ import annotations

import ast
from types import FunctionType
from typing import Iterator

from spec.language.domains import Choice, Flag, Id, Number, SetOf
from spec.language.model import Transition
from spec.language.subset import definition, functions_reached, is_store, nodes_of, rule_error, writes

SCALARS = (Number, Flag, Id, SetOf, Choice)


def check_guards(transition: Transition) -> None:
    """Hold what every transition keeps: its signature, what it returns, and that no effect comes before a refusal.

    Raises RuleError.
    """
    _check_signature(transition.function)
    _check_order(transition.function)


def _check_order(function):
    """Hold the returns and their order, in a function and in the transitions that it is made of."""
    _check_returns(function)
    code, has_changed = function.__code__, False
    for statement in nodes_of(code):
        part = part_of(statement, function)
        if part:
            _check_order(part)
    for kind, node in events(definition(code).body, function):
        if kind == "refusal" and has_changed:
            raise rule_error("guards first: no return False after an effect or a request", node, code)
        has_changed = has_changed or kind == "effect"


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
    """Whether a return is of True, of False, or of what a transition answers that is part of this one."""
    return returns(node, True) or returns(node, False) or part_of(node, function) is not None


def returns(node: ast.AST, value: bool) -> bool:
    """Whether a statement returns True, or False."""
    return isinstance(node, ast.Return) and isinstance(node.value, ast.Constant) and node.value.value is value


def events(statements: list[ast.stmt], function: FunctionType, seams=()) -> Iterator[tuple[str, ast.AST]]:
    """("refusal" | "request" | "effect", node) in the order of the text; a loop's body counts twice."""
    for statement in statements:
        part = part_of(statement, function)
        if part:
            yield "refusal", statement
            if reaches(part, seams):
                yield "request", statement
            yield "effect", statement
            continue
        for call in _calls(statement):
            callee = function.__globals__.get(call.func.id)
            if callee and reaches(callee, seams):
                yield "request", call
            if callee and writes(callee):
                yield "effect", call
        match statement:
            case ast.If():
                yield from events(statement.body + statement.orelse, function, seams)
            case ast.For():
                yield from events(statement.body * 2, function, seams)
            case ast.Return() if returns(statement, False):
                yield "refusal", statement
            case ast.Assign() | ast.AugAssign() if any(is_store(node) for node in ast.walk(statement)):
                yield "effect", statement


def reaches(function: FunctionType, seams) -> bool:
    """Whether a function is one of the seams, or calls one, be it a copy whose callees are others."""
    return not {seam.__code__ for seam in seams}.isdisjoint({f.__code__ for f in functions_reached(function)})


def part_of(statement: ast.AST, function: FunctionType) -> FunctionType | None:
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
    if not isinstance(called, ast.Call):
        return None
    callee = function.__globals__.get(called.func.id)
    return callee if _is_whole(callee) and writes(callee) else None


def _is_whole(callee):
    """Whether a function of the state answers as a transition does."""
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
