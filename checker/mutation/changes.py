"""Single changes of a function's text, such as could be made by mistake, by kind.

A change is a node of the syntax tree and its replacement. `changes` lists them; `mutated` applies one to a model.
"""

from __future__ import annotations

import ast
import inspect
import linecache
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import count
from types import CodeType
from typing import cast

from kafkaproof.checker.mutation.kinds import Domains, codes, same
from kafkaproof.spec.language.model import Model
from kafkaproof.spec.language.rebind import copy_of, original
from kafkaproof.spec.language.subset import Node, definition, file_of, functions_reached, is_store

COMPARISONS = {ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt}
_numbers = count()


@dataclass(frozen=True, eq=False)
class Change:
    """One change of `function`: `old`, a node of `statement`, is replaced by `new`, or dropped if that is None.

    `nth` distinguishes changes with the same text, from 1 in the order of the lines.
    """

    kind: str
    function: Callable
    statement: ast.stmt
    old: Node
    new: ast.AST | None
    nth: int = 1

    @property
    def place(self) -> str:
        """Where it is: ``spec/election/election.py:31``."""
        return f"{file_of(self.function)}:{self.old.lineno}"

    @property
    def of(self) -> str:
        """The function that is changed: ``kafkaproof.spec.election.election.register``."""
        return f"{self.function.__module__}.{self.function.__name__}"

    @property
    def text(self) -> str:
        """The statement before and after, on one line."""
        before = _line(self.statement)
        after = _replaced(self.statement, self.old, self.new)
        told = "nothing" if after is None else _line(after)
        return f"{before} -> {told}" + (f" ({self.nth})" if self.nth > 1 else "")

    @property
    def to_anything(self) -> str:
        """The text that stands for all changes of the statement: the statement, and *anything* in its place."""
        return f"{_line(self.statement)} -> anything"


def changes(function: Callable, domains: Domains) -> list[Change]:
    """All single changes of a function, in the order of its lines; `domains` says what may replace what."""
    found, times = [], Counter()
    for statement in _statements(definition(function.__code__).body):
        for kind, old, new in _Changing(function, domains).of(statement):
            change = Change(kind, function, statement, old, new)
            times[change.text] += 1
            found.append(replace(change, nth=times[change.text]))
    return found


def mutated(model: Model, change: Change) -> Model:
    """The model with this change, wherever its function is called; other tools can read the new source.

    It may break the rules of the language.
    """
    tree = replaced(definition(change.function.__code__), change.old, change.new)
    return rewritten(model, change.function, tree, _names_of(change))


def rewritten(model: Model, function: Callable, tree: ast.FunctionDef, names: dict[str, int]) -> Model:
    """The model with another text of a function, for which `names` are additional globals."""
    code = _compiled(ast.unparse(ast.fix_missing_locations(tree)) + "\n")
    return model.rebound({f: copy_of(f, names, code) for f in calls(model, function)})


def calls(model: Model, function: Callable) -> list[Callable]:
    """The copies of a function that the model calls: one for each way in which its callees are replaced."""
    return [f for t in model.transitions for f in functions_reached(t.function) if f.__code__ is function.__code__]


def _compiled(text):
    """The code of the function that a text defines; `inspect` finds its source."""
    file = f"<mutant {next(_numbers)}>"
    linecache.cache[file] = len(text), None, text.splitlines(keepends=True), file
    module = compile(text, file, "exec", dont_inherit=True)
    return next(constant for constant in module.co_consts if isinstance(constant, CodeType))


def _names_of(change):
    """The code (of an enumeration) that the change brings in: its module may not have imported it."""
    if change.kind != "constant" or not isinstance(change.new, ast.Name):
        return {}
    return {change.new.id: codes(original(change.function).__module__)[change.old.id][change.new.id]}


def replaced(tree: ast.FunctionDef, old: ast.AST, new: ast.AST | None) -> ast.FunctionDef:
    """A copy of a function with one node inside it replaced; an empty block becomes ``pass``."""
    return cast(ast.FunctionDef, _replaced(tree, old, new))


def _replaced(tree, old, new):
    """The copy of a node; None where nothing is left of it."""
    if tree is old:
        return new
    fields = {name: _field_replaced(name, value, old, new) for name, value in ast.iter_fields(tree)}
    return ast.copy_location(type(tree)(**fields), tree)


def _field_replaced(name, value, old, new):
    if isinstance(value, list):
        parts = [_replaced(part, old, new) if isinstance(part, ast.AST) else part for part in value]
        kept = [part for part in parts if part is not None]
        return kept or ([ast.Pass()] if name == "body" and value else [])
    return _replaced(value, old, new) if isinstance(value, ast.AST) else value


def _statements(block) -> Iterator[ast.stmt]:
    for statement in block:
        yield statement
        for inner in (getattr(statement, "body", []), getattr(statement, "orelse", [])):
            yield from _statements(inner)


def _line(statement):
    """A statement as one line; a block of more than one statement becomes dots."""
    text = [line.strip() for line in ast.unparse(statement).splitlines()]
    if not isinstance(statement, (ast.If, ast.For)):
        return " ".join(text)
    head = text[0] + " " + (text[1] if len(statement.body) == 1 and len(text) == 2 else "...")
    return head + (" else ..." if getattr(statement, "orelse", []) else "")


def _parts(statement):
    """The statement, or of one with blocks its own expression."""
    match statement:
        case ast.If():
            return [statement.test]
        case ast.For():
            return [statement.iter]
    return [statement]


class _Changing:
    """The changes of one function's statements: (kind, node, replacement)."""

    def __init__(self, function, domains):
        self._domains, self._module = domains, original(function).__module__
        self._parameters = function.__code__.co_varnames[: function.__code__.co_argcount]
        self._is_transition = "\nGuards:" in (inspect.getdoc(function) or "")
        self._stored = Counter(
            node.id
            for node in ast.walk(definition(function.__code__))
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
        )

    def of(self, statement):
        yield from self._whole(statement)
        flags = self._flags(statement)
        for part in _parts(statement):
            for node in ast.walk(part):
                yield from self._in(node, node in flags)

    def _whole(self, statement):
        """Changes of a whole statement: it is dropped, or its condition is negated."""
        match statement:
            case ast.If(body=[*_, ast.Return()], orelse=[]):
                yield "guard dropped", statement, None
            case ast.Assign(targets=[target]) if is_store(target):
                yield "assignment dropped", statement, None
            case ast.AugAssign():
                yield "assignment dropped", statement, None
            case ast.Expr(value=ast.Call()):
                yield "call dropped", statement, None
        if isinstance(statement, ast.If):
            if not _is_equality(statement.test):
                yield "condition negated", statement.test, _negated(statement.test)
            if statement.orelse:
                yield "else dropped", statement, ast.If(test=statement.test, body=statement.body, orelse=[])

    def _flags(self, statement):
        """The numbers in a statement that a flag is compared with or assigned, which are 0 or 1."""
        pairs = []
        for node in ast.walk(statement):
            match node:
                case ast.Compare(left=left, comparators=[right]):
                    pairs += [(left, right), (right, left)]
                case ast.Assign(targets=[target]):
                    value = node.value
                    pairs += [
                        (target, v) for v in ((value.body, value.orelse) if isinstance(value, ast.IfExp) else (value,))
                    ]
        return [number for flag, number in pairs if self._domains.is_flag(flag)]

    def _in(self, node, flag):
        """Changes of one expression."""
        match node:
            case ast.IfExp() if not _is_equality(node.test):
                yield "condition negated", node.test, _negated(node.test)
            case ast.BoolOp():
                for operand in node.values:
                    rest = [value for value in node.values if value is not operand]
                    yield "condition dropped", node, rest[0] if len(rest) == 1 else ast.BoolOp(op=node.op, values=rest)
            case ast.Compare(ops=[op]):
                yield (
                    "comparison",
                    node,
                    ast.Compare(left=node.left, ops=[COMPARISONS[type(op)]()], comparators=node.comparators),
                )
            case ast.Constant():
                yield from self._constant(node, flag)
            case ast.Name(ctx=ast.Load()):
                yield from self._name(node)
            case ast.Attribute():
                for other in self._domains.like_field(node.attr):
                    yield "field", node, ast.Attribute(value=node.value, attr=other, ctx=node.ctx)
            case ast.Call():
                yield from self._swapped(node)

    def _constant(self, node, flag):
        if isinstance(node.value, bool):
            if not self._is_transition:
                yield "constant", node, ast.Constant(value=not node.value)
        elif flag:
            yield "constant", node, ast.Constant(value=1 - node.value)
        else:
            for value in (node.value + 1, node.value - 1):
                if value >= 0:
                    yield "constant", node, ast.Constant(value=value)

    def _name(self, node):
        if node.id in self._parameters:
            for other in self._parameters:
                if other != node.id and self._alike(node, ast.Name(id=other)):
                    yield "argument", node, ast.Name(id=other, ctx=ast.Load())
        elif not self._stored[node.id]:
            for other in codes(self._module).get(node.id, ()):
                if other != node.id:
                    yield "constant", node, ast.Name(id=other, ctx=ast.Load())

    def _swapped(self, node):
        for i, (one, other) in enumerate(zip(node.args, node.args[1:])):
            if self._alike(one, other):
                arguments = [*node.args[:i], other, one, *node.args[i + 2 :]]
                yield "arguments swapped", node, ast.Call(func=node.func, args=arguments, keywords=[])

    def _alike(self, one, other):
        domain = self._domains.of_expression
        return ast.dump(one) != ast.dump(other) and same(domain(one, self._module), domain(other, self._module))


def _is_equality(test):
    """Whether a condition is an equality, whose negation is already a change of the comparison."""
    return isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], (ast.Eq, ast.NotEq))


def _negated(test):
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return test.operand
    return ast.UnaryOp(op=ast.Not(), operand=test)
