"""Expressions of the little language as LLVM's intermediate text, with Python's values.

Conditions are numbers, 0 or 1, as in Python; one that decides a jump is compiled to jumps.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from types import FunctionType, MethodType
from typing import Protocol

from kafkaproof.checker.compile.lanes import Lanes, copy
from kafkaproof.checker.compile.layout import LEAF, LEAST, MOST, WORD, Generated, Layout, Lowered, Words
from kafkaproof.checker.compile.text import NUMBER, Value, Writer, number
from kafkaproof.spec.language.domains import Array, Record
from kafkaproof.spec.language.subset import Node

OPERATORS = {
    ast.Add: "add",
    ast.Sub: "sub",
    ast.Mult: "mul",
    ast.BitAnd: "and",
    ast.BitOr: "or",
    ast.BitXor: "xor",
    ast.LShift: "shl",
    ast.RShift: "ashr",
}
EXACT = {ast.Add: "sadd", ast.Sub: "ssub", ast.Mult: "smul"}
COMPARISONS = {ast.Eq: "eq", ast.NotEq: "ne", ast.Lt: "slt", ast.LtE: "sle", ast.Gt: "sgt", ast.GtE: "sge"}
BUILTINS = ("len", "min", "max", "abs")
COPY = "the function copy(to, source), of two records"
OUT_OF_RANGE = "the function out_of_range(): the number of the place where an index was, since it was last asked; or 0"


class CompileError(Exception):
    """Something cannot be compiled; `node` is the place."""

    def __init__(self, reason: str, node: Node):
        super().__init__(reason)
        self.node = node


class Surroundings(Protocol):
    """What expressions ask of the program that they are part of (`compiler.Program`)."""

    FLAG: str
    layout: Layout
    places: list[str]

    def lowered(self, function: Callable | Generated, kinds: tuple) -> Lowered:
        """A function for arguments of these kinds."""

    def declare(self, *texts: str) -> None:
        """Have the text of the module say that something of LLVM is used."""


class Expressions:
    """The expressions of one function.

    `names` are its globals and `assigned` the names that it assigns to. `parameters` are values; `locals` hold the kind
    and the slot of each name assigned so far. `told` makes the message about a node. Arithmetic is checked for overflow
    if `exact`; the checker's own hashes wrap around.
    """

    def __init__(
        self, program: Surroundings, names: Mapping[str, object], assigned: frozenset[str], told: Callable, exact: bool
    ):
        self.program, self.names, self.assigned, self._told, self._is_exact = program, names, assigned, told, exact
        self.writer = Writer()
        self.parameters: dict[str, Value] = {}
        self.locals: dict[str, tuple[object, str]] = {}

    def value(self, node: ast.expr) -> Value:
        """The value of an expression; raises CompileError."""
        match node:
            case ast.Constant():
                return number(_constant(node))
            case ast.Name():
                return self._named(node)
            case ast.Attribute() | ast.Subscript():
                return self.load(*self.place(node))
            case ast.BinOp():
                return self.operation(node.op, self.number(node.left), self.number(node.right), node)
            case ast.UnaryOp():
                return self._unary(node)
            case ast.BoolOp() | ast.IfExp() | ast.Compare(ops=[_, _, *_]):
                return self._chosen(node)
            case ast.Compare():
                return self.writer.number(f"zext i1 {self._bit(node)} to i64")
            case ast.Call():
                return self._call(node)
        raise CompileError("this cannot be compiled", node)

    def number(self, node: ast.expr) -> Value:
        """The value of an expression that must be a number."""
        value = self.value(node)
        if value.kind is not NUMBER:
            raise CompileError("a number is needed here", node)
        return value

    def place(self, node: ast.Attribute | ast.Subscript) -> tuple[object, str]:
        """What stands at a field or an element (a domain), and its address."""
        base = self.value(node.value)
        if isinstance(node, ast.Subscript):
            return self.element(base, self.number(node.slice), node)
        if not isinstance(base.kind, Record) or node.attr not in base.kind.fields:
            raise CompileError(f"there is no field {node.attr}", node)
        offset = self.program.layout.offset(base.kind, node.attr)
        address = self.writer.ask(f"getelementptr i8, ptr {base.text}, i64 {offset}") if offset else base.text
        return self.program.layout.kind(base.kind.fields[node.attr].domain), address

    def element(self, base: Value, index: Value, node: Node) -> tuple[object, str]:
        """What stands at an index, and its address."""
        layout = self.program.layout
        kind: object
        if isinstance(base.kind, Words):
            kind, size = (Words(), 8 * base.kind.row) if base.kind.row else (WORD, 8)
        elif isinstance(base.kind, Array):
            kind, size = layout.kind(base.kind.of), layout.size(base.kind.of)
            index = self._checked(index, layout.slots(base.kind), node)
        else:
            raise CompileError("only arrays have elements", node)
        return kind, self.writer.ask(f"getelementptr [{size} x i8], ptr {base.text}, i64 {index.text}")

    def _checked(self, value, limit, node):
        """A number that must be below `limit`; if it is not, that is noted, and 0 used instead."""
        inside = self._compared("ult", value, number(limit))
        self._note(inside, "out of range", node)
        return self._select(inside, value, number(0))

    def _note(self, right, what, node):
        """Note, if a bit is not set, that something is wrong at a place."""
        self.program.places.append(self._told(what, node))
        flag, last = f"@{self.program.FLAG}", number(len(self.program.places) - 1)
        self.writer.store(self._select(right, self.writer.load(NUMBER, flag), last), flag)

    def load(self, kind: object, address: str) -> Value:
        """What stands at an address: a number, or the record or array itself."""
        if kind is WORD:
            return self.writer.number(f"load i64, ptr {address}")
        if kind is LEAF:
            narrow = self.writer.ask(f"load i32, ptr {address}")
            return self.writer.number(f"sext i32 {narrow} to i64")
        return Value(kind, address)

    def leaf(self, value: Value) -> Value:
        """A number as 32 bits for a leaf; one that does not fit becomes the nearest that does, which is out of any
        range.
        """
        if value.constant is None:
            for beyond, most in (("sgt", MOST), ("slt", LEAST)):
                value = self._select(self._compared(beyond, value, number(most)), number(most), value)
        else:
            value = number(max(LEAST, min(value.constant, MOST)))
        return Value(LEAF, self.writer.ask(f"trunc i64 {value.text} to i32"))

    def operation(self, operator: ast.operator, left: Value, right: Value, node: Node) -> Value:
        """The sum, product ... of two numbers. Python refuses to shift by a negative number; a shift is by 0 to 63."""
        if type(operator) not in OPERATORS:
            raise CompileError("arithmetic is + - *", node)
        if isinstance(operator, (ast.LShift, ast.RShift)):
            right = self._made("and", self._checked(right, 64, node), number(63))
        if type(operator) in EXACT and self._is_exact:
            return self._exact(EXACT[type(operator)], left, right, node)
        return self._made(OPERATORS[type(operator)], left, right)

    def _exact(self, intrinsic, left, right, node):
        """A sum, difference or product; overflow of 64 bits is noted."""
        called = f"@llvm.{intrinsic}.with.overflow.i64(i64 {left.text}, i64 {right.text})"
        both = self.writer.ask(f"call {{i64, i1}} {called}")
        beyond = self.writer.ask(f"extractvalue {{i64, i1}} {both}, 1")
        self._note(self.writer.ask(f"xor i1 {beyond}, true"), "beyond 64 bits", node)
        return self.writer.number(f"extractvalue {{i64, i1}} {both}, 0")

    def _made(self, operator, left, right):
        return self.writer.number(f"{operator} i64 {left.text}, {right.text}")

    def _compared(self, how, left, right):
        return self.writer.ask(f"icmp {how} i64 {left.text}, {right.text}")

    def _select(self, bit, yes, no):
        return self.writer.number(f"select i1 {bit}, i64 {yes.text}, i64 {no.text}")

    def _named(self, node):
        if node.id in self.assigned:
            return self.writer.load(*self.local(node.id, NUMBER))
        if node.id in self.parameters:
            return self.parameters[node.id]
        value = self.names.get(node.id)
        if not isinstance(value, int):
            raise CompileError(f"{node.id} is neither a function nor a number", node)
        return number(int(value))

    def local(self, name: str, kind: object) -> tuple[object, str]:
        """The kind and the slot of a local; a new one gets this kind."""
        if name not in self.locals:
            self.locals[name] = kind, self.writer.slot(kind)
        return self.locals[name]

    def _unary(self, node):
        match node.op:
            case ast.Not():
                return self.writer.number(f"zext i1 {self._bit(node)} to i64")
            case ast.USub() if isinstance(node.operand, ast.Constant):
                return number(-_constant(node.operand))
            case ast.USub():
                return self._made("sub", number(0), self.number(node.operand))
            case ast.Invert():
                return self._made("xor", self.number(node.operand), number(-1))
        raise CompileError("arithmetic is + - *", node)

    def _bit(self, node):
        """A condition as one bit; all its parts are evaluated."""
        match node:
            case ast.UnaryOp(op=ast.Not()):
                return self.writer.ask(f"xor i1 {self._bit(node.operand)}, true")
            case ast.Compare(left=left, ops=[op], comparators=[right]):
                return self._compared(self._comparison(op, node), self._comparable(left), self._comparable(right))
        value = self.value(node)
        if value.kind is not NUMBER:
            raise CompileError("a condition is a number", node)
        return self._compared("ne", value, number(0))

    def _comparison(self, op, node):
        if type(op) not in COMPARISONS:
            raise CompileError("comparisons are == != < <= > >=", node)
        return COMPARISONS[type(op)]

    def _comparable(self, node):
        value = self.value(node)
        if value.kind is not NUMBER:
            raise CompileError("only numbers are compared, records and arrays field by field", node)
        return value

    def branch(self, node: ast.expr, yes: str, no: str) -> None:
        """Jump to `yes` if a condition holds, else to `no`; evaluates only what Python evaluates."""
        match node:
            case ast.BoolOp():
                for operand in node.values[:-1]:
                    further = self.writer.name("on")
                    ends = (further, no) if isinstance(node.op, ast.And) else (yes, further)
                    self.branch(operand, *ends)
                    self.writer.begin(further)
                self.branch(node.values[-1], yes, no)
            case ast.UnaryOp(op=ast.Not()):
                self.branch(node.operand, no, yes)
            case ast.Compare():
                self._branch_on_comparisons(node, yes, no)
            case _:
                self.writer.fork(self._bit(node), yes, no)

    def _branch_on_comparisons(self, node, yes, no):
        left = self._comparable(node.left)
        for op, comparator in zip(node.ops, node.comparators):
            right = self._comparable(comparator)
            bit, left = self._compared(self._comparison(op, node), left, right), right
            if comparator is node.comparators[-1]:
                self.writer.fork(bit, yes, no)
            else:
                further = self.writer.name("on")
                self.writer.fork(bit, further, no)
                self.writer.begin(further)

    def _chosen(self, node):
        """The value of an expression that evaluates only some of its parts."""
        join, slots = self.writer.name("join"), {}

        def take(value):
            slots[value.kind] = slots.get(value.kind) or self.writer.slot(value.kind)
            self.writer.store(value, slots[value.kind])

        match node:
            case ast.IfExp(test=test, body=body, orelse=orelse):
                self._take_one(test, lambda: take(self.value(body)), lambda: take(self.value(orelse)), join)
            case ast.Compare():
                self._take_one(node, lambda: take(number(1)), lambda: take(number(0)), join)
            case ast.BoolOp():
                self._take_operand(node, take, join)
        self.writer.begin(join)
        if len(slots) > 1:
            raise CompileError("this is a record in one case and something else in the other", node)
        return self.writer.load(*slots.popitem())

    def _take_one(self, test, take_yes, take_no, join):
        yes, no = self.writer.name("yes"), self.writer.name("no")
        self.branch(test, yes, no)
        for label, take in ((yes, take_yes), (no, take_no)):
            self.writer.begin(label)
            take()
            self.writer.jump(join)

    def _take_operand(self, node, take, join):
        for operand in node.values:
            value = self.number(operand)
            take(value)
            if operand is node.values[-1]:
                self.writer.jump(join)
            else:
                further = self.writer.name("on")
                ends = (further, join) if isinstance(node.op, ast.And) else (join, further)
                self.writer.fork(self._compared("ne", value, number(0)), *ends)
                self.writer.begin(further)

    def _call(self, node):
        name = node.func.id if isinstance(node.func, ast.Name) else ast.unparse(node.func)
        callee = self.names.get(name)
        if callee is None and name in BUILTINS and node.args:
            return self._builtin(name, node)
        if callee is OUT_OF_RANGE:
            return self._out_of_range()
        if callee is COPY:
            return self._copy(*map(self.value, node.args))
        if isinstance(callee, MethodType) and isinstance(callee.__self__, Lanes):
            self.program.declare(*callee.__self__.declared)
            return callee(self.writer, *map(self.value, node.args))
        if not isinstance(callee, (FunctionType, Generated)):
            raise CompileError(f"{name} is not a function of the specification", node)
        arguments = [self.value(argument) for argument in node.args]
        answer = self.program.lowered(callee, tuple(argument.kind for argument in arguments))
        listed = ", ".join(f"{argument.type} {argument.text}" for argument in arguments)
        return Value(answer.kind, self.writer.ask(f"call {answer.type} @{answer.name}({listed})"))

    def _copy(self, to, source):
        copy(self.writer, to, source, self.program.layout.size(source.kind) // 4)
        return number(0)

    def _out_of_range(self):
        flag = f"@{self.program.FLAG}"
        place = self.load(WORD, flag)
        self.writer.store(number(0), flag)
        return place

    def _builtin(self, name, node):
        if name == "len":
            array = self.value(node.args[0])
            if not isinstance(array.kind, Array):
                raise CompileError("only arrays have a length", node)
            return number(self.program.layout.slots(array.kind))
        numbers = [self.number(argument) for argument in node.args]
        if name == "abs":
            negative = self._made("sub", number(0), numbers[0])
            return self._select(self._compared("slt", numbers[0], number(0)), negative, numbers[0])
        found = numbers[0]
        for other in numbers[1:]:
            found = self._select(self._compared("slt" if name == "min" else "sgt", other, found), other, found)
        return found


def _constant(node: ast.Constant) -> int:
    if not isinstance(node.value, int):
        raise CompileError("constants are ints, True or False", node)
    return int(node.value)
