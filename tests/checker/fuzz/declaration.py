"""The state of a generated program: a few fields of every kind of domain, small enough to explore."""

from __future__ import annotations

from dataclasses import dataclass, field

from kafkaproof.spec.language.domains import Array, Bound, Choice, Flag, Id, Number, Record, Sequence, SetOf
from tests.checker.fuzz.choices import Choices

SORTS = ("ids", "few")


@dataclass
class Declared:
    """A state: its text in Python, by names, and what that text evaluates to."""

    scope: dict[str, int]
    lines: list[str] = field(default_factory=list)
    records: dict[str, Record] = field(default_factory=dict)

    @property
    def state(self) -> Record:
        """The record of the whole state."""
        return self.records["STATE"]

    def name_of(self, record: Record) -> str | None:
        """The name that a record has in the text."""
        return next((name for name, known in self.records.items() if known is record), None)


def declare(choices: Choices) -> Declared:
    """A scope, and one to four fields."""
    declared = Declared({"ids": choices.number(1, 3), "few": choices.number(1, 2), "room": choices.number(1, 2)})
    names = {name: getattr(_domains, name) for name in _domains.__all__}
    for name, fields, domains in (("PAIR", ("left", "right"), _leaves), ("STATE", ("x", "y", "z", "w"), _fields)):
        count = choices.number(1, len(fields))
        texts = [f"{field}=({domains(choices)}, '')" for field in fields[:count]]
        line = f"{name} = Record({', '.join(texts)})"
        declared.lines.append(line)
        declared.records[name] = eval(line.partition("= ")[2], {**names, **declared.records})  # noqa: S307 - our text
    return declared


class _domains:
    """The names that the text of a declaration uses."""

    __all__ = ("Array", "Bound", "Choice", "Flag", "Id", "Number", "Record", "Sequence", "SetOf")
    Array, Bound, Choice, Flag, Id = Array, Bound, Choice, Flag, Id
    Number, Record, Sequence, SetOf = Number, Record, Sequence, SetOf


def _number(choices):
    low = choices.number(0, 2) * -1
    if choices.chance(35):
        return f"Number({low}, Bound('room'{', 1' if choices.chance(30) else ''}))"
    return f"Number({low}, {choices.number(1, 4)})"


def _id(choices):
    return f"Id({choices.one(SORTS)!r}{', nobody=True' if choices.chance(60) else ''})"


def _leaves(choices):
    """The text of a scalar domain that holds 0."""
    return choices.weighted(
        [
            (4, _number),
            (2, lambda _: "Flag()"),
            (3, _id),
            (3, lambda c: f"SetOf({c.one(SORTS)!r})"),
            (1, lambda _: "Choice('A', 'B', 'C')"),
        ]
    )(choices)


def _arrays(choices):
    size = choices.one(["'ids'", "'few'", "Bound('room')"])
    of = choices.weighted([(5, _leaves), (3, lambda _: "PAIR"), (1, _rows)])(choices)
    return f"Array({of}, {size})"


def _rows(choices):
    return f"Array({_leaves(choices)}, {choices.one(SORTS)!r})"


def _sequences(choices):
    return f"Sequence({choices.weighted([(3, _number), (1, _id)])(choices)}, Bound('room'))"


def _fields(choices):
    return choices.weighted([(5, _leaves), (5, _arrays), (2, lambda _: "PAIR"), (2, _sequences)])(choices)
