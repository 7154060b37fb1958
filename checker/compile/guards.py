"""Guards of a transition that are asked before all of its arguments are chosen, and so once for many choices.

A transition begins with guards, ``if ... or ...: return False``. Those that need only the first arguments refuse whatever
the others are. Their text is taken from the beginning of the transition, in its order, and never past what may write a
state or use an index that is no argument: a guard that stands earlier may protect it.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from types import FunctionType

from kafkaproof.checker.compile.layout import Generated
from kafkaproof.spec.language.rebind import callees
from kafkaproof.spec.language.subset import definition

REFUSE: list[ast.stmt] = [ast.Return(ast.Constant(False))]
GO_ON = ast.Return(ast.Constant(True))


def early_guards(function: Callable, count: int) -> dict[int, Generated]:
    """Of a transition with `count` arguments: by how many of them it takes, the functions that are false where it is
    refused whatever the others are. Each asks more than the one before.
    """
    tree, found, asked = definition(function.__code__), {}, 0
    state, *names = (argument.arg for argument in tree.args.args)
    for known in range(count):
        body = list(_beginning(tree, function, {*names[known:]}, {*names}))
        tests = sum(isinstance(node, ast.If) for node in body)
        if tests > asked:
            arguments = ast.arguments([], tree.args.args[: known + 1], defaults=[], kw_defaults=[], kwonlyargs=[])
            guard = ast.FunctionDef(f"guard_{function.__name__}", arguments, [*body, GO_ON], [], lineno=tree.lineno)
            found[known] = Generated(guard, function.__globals__, code=function.__code__)
            asked = tests
    return found


def _beginning(tree, function, late, names) -> Iterator[ast.stmt]:
    """The statements at the beginning of a transition, as far as they need no `late` name and write nothing."""
    late = {*late}
    for node in tree.body:
        if _may_write(node, function):
            return
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if _uses(value, late):
                if not _is_place(value, names):
                    return
                late.add(name)
            case ast.Assign(targets=[ast.Name()]):
                yield node
            case ast.If(test=test, body=[ast.Return(value=ast.Constant(value=False))], orelse=[]):
                refusals = test.values if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.Or) else [test]
                for refusal in refusals:
                    if _uses(refusal, late):
                        return
                    yield ast.copy_location(ast.If(refusal, REFUSE, []), node)
            case _:
                return


def _uses(node, names):
    return any(isinstance(each, ast.Name) and each.id in names for each in ast.walk(node))


def _is_place(node, names):
    """Whether an expression is a part of the state whose indices are arguments, which are within their ranges."""
    match node:
        case ast.Name():
            return True
        case ast.Attribute(value=value):
            return _is_place(value, names)
        case ast.Subscript(value=value, slice=ast.Name(id=name)):
            return name in names and _is_place(value, names)
    return False


def _may_write(node, function):
    """Whether a function that is called in a statement, directly or not, writes to a state."""
    called = {each.func.id for each in ast.walk(node) if isinstance(each, ast.Call) and isinstance(each.func, ast.Name)}
    functions = [value for name in called if isinstance(value := function.__globals__.get(name), FunctionType)]
    return any(_writes(each) for each in callees(*functions))


def _writes(function):
    nodes = ast.walk(definition(function.__code__))
    return any(isinstance(node, ast.Attribute | ast.Subscript) and isinstance(node.ctx, ast.Store) for node in nodes)
