"""What compiled functions work on: the kinds of values, and where the parts of records and arrays are in memory."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass

from kafkaproof.checker.compile.record import dtype
from kafkaproof.checker.compile.text import type_of
from kafkaproof.spec.language.domains import Array, Domain, Record, Scope
from kafkaproof.spec.language.layout import slots

WORD = "a word of 64 bits"
LEAF = "a leaf of 32 bits"
LEAST, MOST = -(1 << 31), (1 << 31) - 1
"""What a leaf can hold; a declared range ends within."""


@dataclass(frozen=True)
class Words:
    """The kind of a caller's array of 64-bit words: of single words, or of rows of `row` words each."""

    row: int = 0


@dataclass(frozen=True, eq=False)
class Generated:
    """A function that was written by the checker: its tree, and what its global names stand for."""

    tree: ast.FunctionDef
    names: Mapping[str, object]

    @classmethod
    def of(cls, text: str, **names: object) -> Generated:
        """The function that a text defines."""
        tree = ast.parse(text).body[0]
        if not isinstance(tree, ast.FunctionDef):
            raise TypeError(f"not the text of a function: {text}")
        return cls(tree, names)


@dataclass(frozen=True)
class Lowered:
    """A function that is there to be called: its name in LLVM, and the kind of its answer."""

    name: str
    kind: object

    @property
    def type(self) -> str:
        """LLVM's type of its answer."""
        return type_of(self.kind)


class Layout:
    """Where the parts of records and arrays are at one scope, in bytes."""

    def __init__(self, scope: Scope):
        self._scope = scope
        self._types = {}

    def _type(self, record):
        if record not in self._types:
            self._types[record] = dtype(record, self._scope)
        return self._types[record]

    def kind(self, domain: Domain) -> object:
        """What stands in memory for a domain: a record, an array, or a leaf."""
        return domain if isinstance(domain, (Record, Array)) else LEAF

    def offset(self, record: Record, name: str) -> int:
        """Where a field begins."""
        return self._type(record).fields[name][1]

    def slots(self, array: Array) -> int:
        """How many elements an array has in memory."""
        return slots(array, self._scope)

    def size(self, domain: Domain) -> int:
        """Bytes that a domain takes."""
        return self.slots(domain) * self.size(domain.of) if isinstance(domain, Array) else self._type(domain).itemsize
