"""Why a step is not possible: the guard of its transition that refuses, with the values that it reads.

The transition runs as plain Python and is watched: the `return False` by which it ended has a condition, and of an
alternative (`a or b`) only what holds is told. Where a transition asks another one, as composed steps do, the guard is
that one's.
"""

from __future__ import annotations

import ast
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from math import prod
from types import CodeType, FrameType

from kafkaproof.spec.language import plain
from kafkaproof.spec.language.domains import Array, Domain, Record, named
from kafkaproof.spec.language.subset import RuleError, definition, place_in

_SHOWN = 3
"""So many choices of arguments are told for the same values, and so many values for the same guard."""


@dataclass(frozen=True)
class Refusal:
    """The guard by which a transition refuses: where it is, the condition that holds, and the values that it reads."""

    place: str
    guard: str
    values: dict[str, object]

    def __str__(self) -> str:
        return told([self])


def told(refusals: Iterable[Refusal]) -> str:
    """Why a step is refused in several states, in one line: see `guards_of`."""
    return " or ".join(guards_of(refusals))


def guards_of(refusals: Iterable[Refusal]) -> list[str]:
    """Each guard that refuses once, with all values that it reads."""
    found: dict[str, dict[str, dict[str, None]]] = {}
    for each in refusals:
        values = found.setdefault(f"{each.place} refuses: {each.guard}", {})
        for name, value in each.values.items():
            values.setdefault(name, {})[str(value)] = None
    return [guard + _values_told(values) for guard, values in found.items()]


Arguments = dict[str, int]


def guards_by_choice(refused: Iterable[tuple[Arguments, Refusal | None]]) -> list[str]:
    """Each guard that refuses, with the values that it reads, and the choices of arguments with which it reads them.

    `refused`: all choices, each with its refusal, or None where the step is possible. The guard that a step gets to last
    comes first, as far as guards stand in one file.
    """
    found: dict[tuple[str, str, str], list[Arguments]] = {}
    every: dict[str, set[int]] = {}
    for arguments, refusal in refused:
        for name, value in arguments.items():
            every.setdefault(name, set()).add(value)
        if refusal:
            values = {name: {str(v): None} for name, v in refusal.values.items() if name not in arguments}
            found.setdefault((refusal.place, refusal.guard, _values_told(values)), []).append(arguments)
    lines, told = [], Counter[tuple[str, str]]()
    for (place, guard, read), choices in sorted(found.items(), key=lambda entry: _nearest(entry[0][0])):
        told[place, guard] += 1
        if told[place, guard] <= _SHOWN:
            lines.append(f"{place} refuses: {guard}{read}{_choices_told(choices, every)}")
        elif told[place, guard] == _SHOWN + 1:
            lines.append(f"{place} refuses: {guard}, with other values for other choices, too")
    return lines


def _nearest(place: str) -> tuple[str, int]:
    """Orders the guards of a file from its end on."""
    file, _, line = place.rpartition(":")
    return file, -int(line)


def _choices_told(choices: list[Arguments], every: dict[str, set[int]]) -> str:
    """Which choices of arguments these are, by the arguments that matter to it."""
    for name, values in every.items():
        rest = {tuple((n, v) for n, v in choice.items() if n != name): None for choice in choices}
        if len(rest) * len(values) == len(choices):
            choices = [dict(each) for each in rest]
    own = {name: sorted({choice[name] for choice in choices}) for name in choices[0]}
    if not own:
        return ""
    if prod(map(len, own.values())) == len(choices):
        return " with " + ", ".join(f"{name}={' or '.join(map(str, values))}" for name, values in own.items())
    more = f" and {len(choices) - _SHOWN} more" if len(choices) > _SHOWN else ""
    texts = (", ".join(f"{name}={value}" for name, value in choice.items()) for choice in choices[:_SHOWN])
    return f" with {' or '.join(f'({text})' for text in texts)}{more}"


def _values_told(values) -> str:
    texts = [f"{name} is {' or '.join(seen)}" for name, seen in values.items()]
    return f" ({', '.join(texts)})" if texts else ""


def refusal_of(function: Callable, declared: Record, s: object, *arguments: int) -> Refusal | None:
    """The guard by which a transition refuses in a state; None where the step is possible, which is then taken."""
    watch = _Watch(function.__code__)
    before = sys.gettrace()
    sys.settrace(watch.called)
    try:
        taken = function(s, *arguments)
    finally:
        sys.settrace(before)
    return None if taken else watch.refusal(dict(_domains(declared, s)))


class _Call:
    """One call of a function of the specification: its frame, where and with what it ended, and what it called."""

    def __init__(self, frame: FrameType):
        self.frame, self.line, self.answer = frame, 0, None
        self.calls: list[tuple[int, _Call]] = []


class _Watch:
    """Notes the calls that a function makes, and how each ended."""

    def __init__(self, code: CodeType):
        self._code, self._open = code, list[_Call]()
        self._top: _Call | None = None

    def called(self, frame: FrameType, event: str, _):
        """What `sys.settrace` calls at each call."""
        if not self._open and frame.f_code is not self._code:
            return None
        call = _Call(frame)
        if self._open:
            self._open[-1].calls.append((self._open[-1].frame.f_lineno, call))
        else:
            self._top = call
        self._open.append(call)
        return self._ended

    def _ended(self, frame, event, answer):
        if event == "return":
            call = self._open.pop()
            call.line, call.answer = frame.f_lineno, answer
        return self._ended

    def refusal(self, domains: dict[tuple[int, str], Domain]) -> Refusal | None:
        """The guard by which the function has refused."""
        return _refusal(self._top, domains) if self._top else None


def _refusal(call: _Call, domains) -> Refusal | None:
    code = call.frame.f_code
    tests = (node for each in _body(code) for node in ast.walk(each) if isinstance(node, ast.If))
    test = next((node for node in tests if _ends(node, call.line)), None)
    if test is None:
        return None
    first, last = test.test.lineno, test.test.end_lineno or test.test.lineno
    made = [each for line, each in call.calls if first <= line <= last]
    asked = [each for each in made if _is_transition(each)]
    if asked and not asked[-1].answer and (inner := _refusal(asked[-1], domains)):
        return inner
    parts = [part for part in _alternatives(test.test) if _holds(part, call.frame)] or [test.test]
    values = dict(_values(parts, call.frame, domains))
    for each in made:
        values |= dict(_values(_body(each.frame.f_code), each.frame, domains))
    place = place_in(code.co_filename, test.lineno)
    return Refusal(place, " or ".join(ast.unparse(part) for part in parts), values)


def _body(code: CodeType) -> list[ast.stmt]:
    """The statements of a function of a model; none of another one, such as a seam of what runs, or an array's."""
    if code.co_filename == plain.__file__:
        return []
    try:
        return definition(code).body
    except RuleError:
        return []


def _ends(node: ast.If, line: int) -> bool:
    """Whether a condition leads at once to the `return` at a line."""
    return any(isinstance(each, ast.Return) and each.lineno == line for each in node.body)


def _is_transition(call: _Call) -> bool:
    """Whether a function that was called takes the state."""
    code = call.frame.f_code
    return code.co_varnames[:1] == ("s",)


def _alternatives(test: ast.expr) -> list[ast.expr]:
    return test.values if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.Or) else [test]


def _holds(part: ast.expr, frame: FrameType) -> bool:
    return bool(_evaluated(part, frame))


def _evaluated(part: ast.expr, frame: FrameType):
    try:
        return eval(compile(ast.Expression(part), "guard", "eval"), frame.f_globals, frame.f_locals)  # noqa: S307
    except IndexError:
        return False


def _values(parts, frame: FrameType, domains) -> Iterator[tuple[str, object]]:
    """The fields of the state, and the arguments, that some expressions read, with what they hold."""
    for part in parts:
        for node in ast.walk(part):
            if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
                value, owner = _evaluated(node, frame), _evaluated(node.value, frame)
                if isinstance(value, int):
                    domain = domains.get((id(owner), node.attr))
                    yield ast.unparse(node), value if domain is None else named(domain, value)
            elif isinstance(node, ast.Name) and isinstance(value := frame.f_locals.get(node.id), int):
                yield node.id, value


def _domains(declared: Domain, value) -> Iterator[tuple[tuple[int, str], Domain]]:
    """The domain of each field of each record of a state, as far as it has them."""
    if isinstance(declared, Record):
        for name, field in declared.fields.items():
            if hasattr(value, name):
                yield (id(value), name), field.domain
                yield from _domains(field.domain, getattr(value, name))
    elif isinstance(declared, Array) and isinstance(value, list):
        for element in value:
            yield from _domains(declared.of, element)
