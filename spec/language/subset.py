"""The subset of Python that the little language is, checked by reading the code of functions.

Every transition, every property and all their callees keep to it, so that the same text runs as Python, compiled,
symbolically and against a live ZooKeeper.
"""

from __future__ import annotations

import ast
import inspect
import sys
import textwrap
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import CodeType, FunctionType
from typing import TypeGuard

from kafkaproof.spec.errors import UserError
from kafkaproof.spec.language import sets
from kafkaproof.spec.language.rebind import original

BUILTINS = {"range": (1, 2), "len": (1, 1), "min": (2, 9), "max": (2, 9), "abs": (1, 1)}
"""Python's built-in functions that may be called, with their least and most arguments."""
FOREIGN = {*sys.stdlib_module_names, "numpy"}
STATEMENTS = (ast.Assign, ast.AugAssign, ast.Expr, ast.For, ast.If, ast.Pass, ast.Return)
EXPRESSIONS = (
    ast.Attribute,
    ast.BinOp,
    ast.BoolOp,
    ast.Call,
    ast.Compare,
    ast.Constant,
    ast.IfExp,
    ast.Name,
    ast.Subscript,
    ast.UnaryOp,
)
Node = ast.stmt | ast.expr | ast.keyword
"""A syntax node with a line."""
ARITHMETIC = (ast.Add, ast.Sub, ast.Mult, ast.USub, ast.Not, ast.And, ast.Or)
BITWISE = (ast.BitAnd, ast.BitOr, ast.BitXor, ast.LShift, ast.RShift, ast.Invert)
COMPARISONS = (ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE)


OWN = "own."
"""How the names of modules begin that are files of a user's own."""


class RuleError(UserError):
    """A function breaks a writing rule; the message is one line: rule, construct, file and line."""


@cache
def functions_reached(function: Callable) -> tuple[Callable, ...]:
    """`function` and all its callees, direct or not, each once; raises RuleError if one breaks a rule."""
    found: list[Callable] = []
    _reach(function, (), found)
    return tuple(found)


def _reach(function, callers, found):
    if function in found:
        return
    _check_text(function.__code__)
    for node, called in _globals_named(function.__code__):
        callee = _global(function, node, called)
        if callee in (function, *callers):
            raise rule_error("no recursion", node, function.__code__)
        if isinstance(callee, FunctionType):
            _reach(callee, (*callers, function), found)
    found.append(function)


def _is_foreign(module: str) -> bool:
    """Whether a module belongs neither to the specification nor to the user."""
    package, _, rest = module.partition(".")
    return package in FOREIGN or package == "kafkaproof" and not rest.startswith("spec.")


def _global(function, node, called):
    """The value of a global name; None for a builtin that is called."""
    known = node.id in function.__globals__
    value = function.__globals__.get(node.id)
    if called and node.id in BUILTINS:
        if known:
            raise rule_error(f"{node.id} is Python's own; give yours another name", node, function.__code__)
        return None
    if called and isinstance(value, FunctionType) and not _is_foreign(value.__module__):
        return value
    if not called and isinstance(value, int):
        return value
    rule = "calls only to functions of the specification" if called else "globals are functions or ints"
    raise rule_error(rule, node, function.__code__)


@cache
def definition(code: CodeType) -> ast.FunctionDef:
    """The syntax tree of a function without its docstring, with the lines of its file; raises RuleError."""
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(code))).body[0]
    except (OSError, SyntaxError):
        tree = None
    if not isinstance(tree, ast.FunctionDef):
        raise RuleError(f"plain functions only: {code.co_name}, {place_in(code.co_filename, code.co_firstlineno)}")
    if tree.name != code.co_name:
        raise RuleError(
            f"the file has changed under the run: {code.co_name}, {place_in(code.co_filename, code.co_firstlineno)}"
        )
    ast.increment_lineno(tree, code.co_firstlineno - 1)
    if ast.get_docstring(tree) is not None:
        tree.body = tree.body[1:] or [ast.copy_location(ast.Pass(), tree.body[0])]
    return tree


def rule_error(rule: str, node: Node, code: CodeType) -> RuleError:
    """The error that says which rule `node` breaks, and where."""
    construct = ast.unparse(node).splitlines()[0]
    return RuleError(f"{rule}: {construct}, {place_in(code.co_filename, node.lineno)}")


def place_in(file: str, line: int) -> str:
    """A line of a file in messages: relative to the working directory if the file is below it."""
    path = Path(file)
    try:
        return f"{path.relative_to(Path.cwd())}:{line}"
    except (ValueError, FileNotFoundError):
        return f"{path}:{line}"


def file_of(function: Callable) -> str:
    """The file of a function, from the top of the repository: ``spec/election/election.py``; a user's own with its line."""
    module, code = original(function).__module__, original(function).__code__
    if not module.startswith("kafkaproof."):
        return place_in(code.co_filename, code.co_firstlineno)
    return f"{module.removeprefix('kafkaproof.').replace('.', '/')}.py"


@cache
def nodes_of(code: CodeType) -> tuple[Node, ...]:
    """All statements and expressions of a function's body."""
    body = definition(code).body
    return tuple(node for statement in body for node in ast.walk(statement) if isinstance(node, Node))


@cache
def _globals_named(code) -> list[tuple[ast.Name, bool]]:
    """The global names in a function, each with whether it is called there."""
    called = {node.func for node in nodes_of(code) if isinstance(node, ast.Call)}
    names = [node for node in nodes_of(code) if isinstance(node, ast.Name)]
    return [(node, node in called) for node in names if node.id not in code.co_varnames]


@cache
def _check_text(code):
    tree = definition(code)
    parameters = tree.args
    others = (parameters.vararg, parameters.kwarg, *parameters.posonlyargs, *parameters.kwonlyargs)
    if parameters.defaults or tree.decorator_list or any(others):
        raise rule_error("parameters are plain names, without defaults, stars or decorators", tree, code)
    if code.co_freevars:
        raise rule_error("globals are functions or ints, no closures", tree, code)
    ranges = {node.iter for node in nodes_of(code) if isinstance(node, ast.For)}
    for node in nodes_of(code):
        _check_node(node, code)
        if name_called(node) == "range" and node not in ranges:
            raise rule_error("a range is used only in a for loop", node, code)


def _check_node(node, code):
    if not isinstance(node, (*STATEMENTS, *EXPRESSIONS)):
        raise rule_error(f"no {_words(node)}", node, code)
    match node:
        case ast.BinOp() | ast.AugAssign() | ast.UnaryOp() if not isinstance(node.op, ARITHMETIC):
            if not isinstance(node.op, BITWISE):
                raise rule_error("arithmetic is + - *", node, code)
            if code.co_filename != sets.__file__:
                raise rule_error("bit operators only in the sets module", node, code)
        case ast.Compare() if not all(isinstance(op, COMPARISONS) for op in node.ops):
            raise rule_error("comparisons are == != < <= > >=", node, code)
        case ast.Constant() if not isinstance(node.value, int):
            raise rule_error("constants are ints, True or False", node, code)
        case ast.Call() if not isinstance(node.func, ast.Name) or node.func.id in code.co_varnames:
            raise rule_error("calls only to functions of the specification", node, code)
        case ast.Call(func=ast.Name(id=name)) if name in BUILTINS:
            least, most = BUILTINS[name]
            if not least <= len(node.args) <= most:
                raise rule_error(f"{name} takes {least} to {most} arguments", node, code)
        case ast.For() if node.orelse or not isinstance(node.target, ast.Name) or not _is_countable(node.iter):
            raise rule_error("loops only over range(...) or a declared array", node, code)
        case ast.Assign() if len(node.targets) > 1:
            raise rule_error("one target in an assignment", node, code)
        case ast.Subscript(slice=ast.UnaryOp(op=ast.USub(), operand=ast.Constant())):
            raise rule_error("an index counts from 0; write len(...) - 1 for the last one", node, code)


def _words(node):
    """``ListComp`` as ``list comp``."""
    name = type(node).__name__
    return "".join(f" {c.lower()}" if c.isupper() and i else c.lower() for i, c in enumerate(name))


def _is_countable(node):
    return name_called(node) == "range" or isinstance(node, (ast.Attribute, ast.Subscript))


def name_called(node: ast.AST) -> str | None:
    """The name of the function that a call calls; None for anything but a call by name."""
    return node.func.id if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) else None


def is_store(node: ast.AST) -> TypeGuard[ast.Attribute | ast.Subscript]:
    """Whether a node is an attribute or an element that is assigned to."""
    return isinstance(node, (ast.Attribute, ast.Subscript)) and isinstance(node.ctx, ast.Store)


def stores(code: CodeType) -> list[ast.Attribute | ast.Subscript]:
    """The attributes and elements that a function itself (not its callees) assigns to."""
    return [node for node in nodes_of(code) if is_store(node)]


def writes(function: Callable) -> bool:
    """Whether `function` or a callee assigns to an attribute or element."""
    return any(stores(reached.__code__) for reached in functions_reached(function))
