"""Programs of the little language, at random: a declaration, functions and a model of them, the text of a module."""

from __future__ import annotations

import linecache
from dataclasses import dataclass

from hypothesis import strategies as st

from kafkaproof.spec.language.domains import Array, Record
from kafkaproof.spec.language.model import Model
from tests.checker.fuzz.choices import Choices
from tests.checker.fuzz.declaration import declare
from tests.checker.fuzz.kinds import CONDITION, NUMBER, PROCEDURE, Function, IdOf, Members, Names, paths
from tests.checker.fuzz.statements import Statements, indented

HEAD = """\
from kafkaproof.spec.language.domains import NOBODY, Array, Bound, Choice, Flag, Id, Number, Record, Sequence, SetOf
from kafkaproof.spec.language.model import Model, Transition, always, always_step, sometimes
from kafkaproof.spec.language.sequences import pop, push
from kafkaproof.spec.language.sets import (
    contains, difference, everybody, intersection, is_empty, only, union, with_member, without_member,
)

"""
TAIL = """\
MODEL = Model(
    system="program", variant="random", story="", state=STATE, initial=initial,
    transitions=tuple(map(Transition, ({transitions},))),
    properties=({properties},), scope=SCOPE, largest=SCOPE, lanes=lambda scope: ["cluster"], abstract=True,
)
"""
DOCSTRING = '''    """A step.

    Guards:  some.
    Effects: some.
    Kafka:   none.
    """'''
ARGUMENTS = {
    "Id('ids')": IdOf("ids", True),
    "Number(0, 1)": NUMBER,
    "Id('few')": IdOf("few", True),
    "Flag()": CONDITION,
}
STATE = "s"


@dataclass(frozen=True)
class Program:
    """The text of a module that defines `MODEL`."""

    text: str

    def model(self) -> Model:
        """The model that the text defines."""
        name = f"<program {abs(hash(self.text)):x}>"
        linecache.cache[name] = len(self.text), None, self.text.splitlines(keepends=True), name
        found = {"__name__": "program"}
        exec(compile(self.text, name, "exec", dont_inherit=True), found)  # noqa: S102 - our own text
        return found["MODEL"]


@st.composite
def programs(draw) -> Program:
    """Any program."""
    return _Writer(Choices(draw)).program()


class _Writer:
    def __init__(self, choices: Choices):
        self.choices, self.declared = choices, declare(choices)
        self.functions: list[Function] = []
        self.texts: list[str] = []

    def program(self) -> Program:
        """A whole module."""
        for _ in range(self.choices.number(0, 3)):
            self._helper()
        transitions = [self._transition(f"t{i}") for i in range(self.choices.number(1, 3))]
        properties = [f"always({self._predicate(f'p{i}', (STATE,))})" for i in range(self.choices.number(1, 2))]
        properties.append(f"sometimes({self._predicate('g', (STATE,))})")
        properties.append(f"always_step({self._predicate('q', ('before', 'after'))})")
        self._initial()
        tail = TAIL.format(transitions=", ".join(transitions), properties=", ".join(properties))
        declaration = [f"SCOPE = {self.declared.scope}", *self.declared.lines]
        return Program(HEAD + "\n".join(declaration) + "\n\n\n" + "\n\n\n".join(self.texts) + "\n\n\n" + tail)

    def _names(self, roots, may_write):
        parts = [(name, self.declared.state) for name in roots]
        return Names(parts, [], [f for f in self.functions if may_write or not f.writes], may_write)

    def _statements(self, names, leave=None):
        return Statements(self.choices, self.declared.scope, names, leave)

    def _arguments(self, names):
        """Arguments of a transition, or of the initial states: their annotations."""
        found = []
        for name in "ab"[: self.choices.number(0, 2)]:
            domain = self.choices.one(list(ARGUMENTS))
            names.values.append((name, ARGUMENTS[domain]))
            found.append(f"{name}: {domain}")
        return found

    def _transition(self, name):
        names = self._names([STATE], False)
        head = ", ".join([STATE, *self._arguments(names)])
        guards = self._statements(names, lambda _: "False")
        lines = [line for _ in range(self.choices.number(0, 2)) for line in guards.statement(1)]
        guards.names.may_write, guards.leave = True, None
        guards.names.functions = list(self.functions)
        lines += guards.block(3)
        self.texts.append("\n".join([f"def {name}({head}):", DOCSTRING, *indented([*lines, "return True"])]))
        return name

    def _predicate(self, name, roots):
        statements = self._statements(self._names(roots, False), lambda expressions: expressions.condition(1))
        lines = statements.block(2) if self.choices.chance(60) else []
        lines.append(f"return {statements.expressions.condition(3)}")
        self.texts.append("\n".join([f"def {name}({', '.join(roots)}):", *indented(lines)]))
        return name

    def _initial(self):
        names = self._names([STATE], True)
        head = ", ".join([STATE, *self._arguments(names)])
        self.texts.append("\n".join([f"def initial({head}):", *indented(self._statements(names).block(2))]))

    def _helper(self):
        """A function that others call, with a part of the state or the whole of it, and up to two values."""
        choices, writes = self.choices, self.choices.chance(50)
        domain = choices.one([self.declared.state, *self._composites()])
        kinds = [
            choices.one([NUMBER, IdOf("ids", True), CONDITION, Members("ids"), NUMBER])
            for _ in range(choices.number(0, 2))
        ]
        result = choices.weighted([(4, NUMBER), (3, CONDITION), (1, IdOf("ids")), (1, Members("ids"))])
        if writes and choices.chance(60):
            result = PROCEDURE
        names = Names([("part", domain)], list(zip("kl", kinds)), list(self.functions), writes)
        leave = None if result == PROCEDURE else (lambda expressions: expressions.value(result, 1))
        statements = self._statements(names, leave)
        lines = statements.block(2)
        if result != PROCEDURE:
            lines.append(f"return {statements.expressions.value(result, 2)}")
        name = f"h{len(self.functions)}"
        self.texts.append("\n".join([f"def {name}({', '.join(['part', *'kl'[: len(kinds)]])}):", *indented(lines)]))
        self.functions.append(Function(name, (domain, *kinds), result, writes))

    def _composites(self):
        """Records and arrays in the state."""
        return [
            domain
            for _, domain in paths(self.declared.state)
            if isinstance(domain, (Record, Array)) and domain is not self.declared.state
        ]
