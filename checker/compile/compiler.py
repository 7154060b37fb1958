"""Compiling the little language to LLVM's intermediate text.

A number is 64 bits wide; a record or an array is an address, where the layout is that of `record.dtype`. A function is
lowered once for each combination of kinds of its arguments (numbers, or domains of the declaration) and values of its
globals. Its name in LLVM holds a hash of its text, and the text holds the names of its callees: rebound copies that
differ anywhere have different names, and equal copies share one. `machine` turns the text into code.
"""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Callable, Sequence
from functools import cache
from types import CodeType

from kafkaproof.checker.basics.errors import UserError
from kafkaproof.checker.compile.expressions import EXACT, CompileError, Expressions
from kafkaproof.checker.compile.layout import LEAF, WORD, Generated, Layout, Lowered
from kafkaproof.checker.compile.machine import Code
from kafkaproof.checker.compile.text import NUMBER, Value, number, type_of
from kafkaproof.spec.language.domains import Array, Scope
from kafkaproof.spec.language.subset import definition, rule_error


class UnitError(UserError):
    """A function uses something that cannot be compiled; the message names it and its place."""


class Program:
    """Functions that call each other, at one scope.

    Every index and every shift is checked. If one is out of range, 0 is used instead, and the word called `FLAG`
    becomes the number of the place in `places`. The same happens if a number overflows 64 bits.
    """

    FLAG = "out_of_range"

    def __init__(self, scope: Scope):
        self.layout = Layout(scope)
        self.places = ["nowhere"]
        self._lowered: dict[tuple, Lowered] = {}
        self._texts = {
            self.FLAG: f"@{self.FLAG} = global i64 0",
            **{name: f"declare {{i64, i1}} @llvm.{name}.with.overflow.i64(i64, i64)" for name in EXACT.values()},
        }

    @staticmethod
    def require_in_range(code: Code, places: Sequence[str]) -> None:
        """Raise UserError, with the place, when an index was out of range in code that exports `FLAG`."""
        place = code.word(Program.FLAG)
        if place:
            raise UserError(f"{places[place]}; guard it, or mend the declaration")

    @property
    def text(self) -> str:
        """The whole module."""
        return "\n".join(self._texts.values()) + "\n"

    def lowered(self, function: Callable | Generated, kinds: tuple) -> Lowered:
        """Lower a function for arguments of these kinds, with all its callees. Raises UnitError."""
        key = function, kinds
        if key not in self._lowered:
            body = Statements(self, function)
            text = body.lower(kinds)
            name = f"{body.name}.{hashlib.sha256(text.encode()).hexdigest()[:16]}"
            self._texts[name] = f"define internal {type_of(body.answer)} @{name}{text}"
            self._lowered[key] = Lowered(name, body.answer)
        return self._lowered[key]

    def declare(self, *texts: str) -> None:
        """Have the text of the module say that something of LLVM is used."""
        self._texts |= {text: text for text in texts}

    def export(self, name: str, function: Callable | Generated, kinds: tuple) -> None:
        """Lower a function that is called from outside by `name`; its arguments must not share memory."""
        body = Statements(self, function)
        text = body.lower(kinds, "noalias ")
        self._texts[name] = f"define {type_of(body.answer)} @{name}{text}"


def _assigned(tree: ast.FunctionDef) -> frozenset[str]:
    """The names that a function assigns."""
    return frozenset(
        node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    )


@cache
def _assigned_in(code: CodeType) -> frozenset[str]:
    """The same of a function of the specification, which many kernels have."""
    return _assigned(definition(code))


class Statements:
    """One function while it is lowered; `answer` is the kind that it returns, None until that is known."""

    def __init__(self, program: Program, function: Callable | Generated):
        if isinstance(function, Generated):
            self._tree, names, self._code = function.tree, function.names, function.code
            self._stands_alone, self._stored = function.stands_alone, _assigned(self._tree)
        else:
            self._stands_alone, self._stored = False, _assigned_in(function.__code__)
            self._tree, names, self._code = definition(function.__code__), function.__globals__, function.__code__
        self._expressions = Expressions(program, names, self._stored, self._told, exact=self._code is not None)
        self._writer, self._program = self._expressions.writer, program
        self.name, self.answer = self._tree.name, None

    def lower(self, kinds: tuple, attribute: str = "") -> str:
        """Parameters and body as LLVM's text, for arguments of these kinds; raises UnitError."""
        try:
            self._lower(kinds)
        except CompileError as error:
            raise UnitError(f"{self.name} cannot be compiled: {self._told(str(error), error.node)}") from error
        types = [type_of(kind) + " " + (attribute if kind is not NUMBER else "") for kind in kinds]
        manner = "nounwind noinline" if self._stands_alone else "nounwind"
        return f"({', '.join(f'{t}%a{i}' for i, t in enumerate(types))}) {manner} {self._writer.body()}"

    def _told(self, what, node):
        """A message about a node, with its file and line."""
        return str(rule_error(what, node, self._code)) if self._code else f"{what}: {ast.unparse(node).splitlines()[0]}"

    def _lower(self, kinds):
        names = [argument.arg for argument in self._tree.args.args]
        if len(kinds) != len(names):
            raise CompileError(f"it takes {len(names)} arguments, not {len(kinds)}", self._tree)
        for i, (name, kind) in enumerate(zip(names, kinds)):
            self._expressions.parameters[name] = Value(kind, f"%a{i}")
            if name in self._stored:
                self._assign(name, Value(kind, f"%a{i}"), self._tree)
        self._block(self._tree.body)
        if self._writer.live:
            self._return(number(0), self._tree)

    def _block(self, statements):
        for statement in statements:
            if self._writer.live:
                self._statement(statement)

    def _statement(self, node):
        match node:
            case ast.Assign():
                value = self._expressions.value(node.value)
                for target in node.targets:
                    self._store(target, value)
            case ast.AugAssign():
                self._augment(node)
            case ast.If():
                self._if(node)
            case ast.For():
                self._for(node)
            case ast.Return():
                self._return(self._expressions.value(node.value) if node.value else number(0), node)
            case ast.Expr():
                self._expressions.value(node.value)
            case ast.Pass():
                pass
            case _:
                raise CompileError("this cannot be compiled", node)

    def _store(self, target, value):
        if isinstance(target, ast.Name):
            self._assign(target.id, value, target)
        else:
            self._write(*self._expressions.place(target), value, target)

    def _assign(self, name, value, node):
        kind, slot = self._expressions.local(name, value.kind)
        if kind != value.kind:
            raise CompileError(f"{name} stands for things of different kinds", node)
        self._writer.store(value, slot)

    def _write(self, kind, address, value, node):
        if value.kind is not NUMBER or kind not in (LEAF, WORD):
            raise CompileError("only numbers are assigned to fields and elements", node)
        if kind is LEAF:
            value = self._expressions.leaf(value)
        self._writer.do(f"store {'i32' if kind is LEAF else 'i64'} {value.text}, ptr {address}")

    def _augment(self, node):
        if isinstance(node.target, ast.Name):
            before = self._expressions.number(ast.copy_location(ast.Name(node.target.id, ast.Load()), node.target))
        else:
            kind, address = self._expressions.place(node.target)
            before = self._expressions.load(kind, address)
        after = self._expressions.operation(node.op, before, self._expressions.number(node.value), node)
        if isinstance(node.target, ast.Name):
            self._assign(node.target.id, after, node)
        else:
            self._write(kind, address, after, node)

    def _if(self, node):
        yes, no, join = (self._writer.name(prefix) for prefix in ("then", "else", "end"))
        self._expressions.branch(node.test, yes, no)
        lives = False
        for label, statements in ((yes, node.body), (no, node.orelse)):
            self._writer.begin(label)
            self._block(statements)
            lives = lives or self._writer.live
            self._writer.jump(join)
        if lives:
            self._writer.begin(join)

    def _for(self, node):
        if isinstance(node.iter, ast.Call):
            first, last, step = self._range(node.iter)

            def item(counter):
                return counter
        else:
            array = self._expressions.value(node.iter)
            if not isinstance(array.kind, Array):
                raise CompileError("only arrays and ranges are iterated", node)
            first, last, step = number(0), number(self._program.layout.slots(array.kind)), 1

            def item(counter):
                return self._expressions.load(*self._expressions.element(array, counter, node))

        self._loop(node, first, last, step, item)

    def _range(self, node):
        if not isinstance(node.func, ast.Name) or node.func.id != "range" or not 1 <= len(node.args) <= 3:
            raise CompileError("only arrays and ranges are iterated", node)
        values = [self._expressions.number(argument) for argument in node.args]
        first, last = (number(0), values[0]) if len(values) == 1 else values[:2]
        step = values[2].constant if len(values) == 3 else 1
        if not step:
            raise CompileError("the step of a range is a known number, not 0", node)
        return first, last, step

    def _loop(self, node, first, last, step, item):
        counter, (head, body, done) = self._writer.slot(NUMBER), map(self._writer.name, ("for", "do", "done"))
        self._writer.store(first, counter)
        self._writer.jump(head)
        self._writer.begin(head)
        at = self._writer.load(NUMBER, counter)
        more = self._writer.ask(f"icmp {'slt' if step > 0 else 'sgt'} i64 {at.text}, {last.text}")
        self._writer.fork(more, body, done)
        self._writer.begin(body)
        self._store(node.target, item(at))
        self._block(node.body)
        if self._writer.live:
            following = self._writer.number(f"add i64 {at.text}, {step}")
            self._writer.store(following, counter)
            self._writer.jump(head)
        self._writer.begin(done)

    def _return(self, value, node):
        if self.answer not in (None, value.kind):
            raise CompileError("it returns things of different kinds", node)
        self.answer = value.kind
        self._writer.leave(f"ret {value.type} {value.text}")
