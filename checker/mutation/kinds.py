"""What may replace what in a function: codes of the same enumeration, fields and arguments of the same domain."""

from __future__ import annotations

import ast
import importlib
import inspect
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache

from kafkaproof.spec.language.domains import Array, Flag, Record
from kafkaproof.spec.language.model import Model


@cache
def codes(module: str) -> dict[str, dict[str, int]]:
    """For each code that a module names, all codes of its enumeration, by their names in its declaration."""
    found = {}
    names = vars(importlib.import_module(module))
    for node in ast.parse(inspect.getsource(importlib.import_module(module))).body:
        match node:
            case ast.Assign(targets=[ast.Tuple(elts=[*named])]):
                group = {e.id: names[e.id] for e in named if isinstance(e, ast.Name) and type(names[e.id]) is int}
                found |= {name: group for name in group}
            case ast.ImportFrom(module=origin, names=imported) if origin and origin.startswith("kafkaproof.spec."):
                known = codes(origin)
                found |= {(n.asname or n.name): known[n.name] for n in imported if n.name in known}
    return found


@dataclass(frozen=True)
class Domains:
    """The domains of a model: of fields by their record, and of arguments by their name."""

    records: tuple[Record, ...]
    arguments: dict[str, object] = field(hash=False)

    @classmethod
    def of(cls, model: Model) -> Domains:
        """The domains that a model declares."""
        arguments = {}
        for transition in model.transitions:
            for name, domain in transition.declared.items():
                arguments.setdefault(name, domain)
        return cls(tuple(_records(model.state)), arguments)

    def of_field(self, name: str) -> object | None:
        """The domain of the fields of a name; None if there are none, or they differ."""
        found = [record.fields[name].domain for record in self.records if name in record.fields]
        return found[0] if found and all(same(found[0], other) for other in found) else None

    def like_field(self, name: str) -> list[str]:
        """The other fields of the same domain in every record that has a field of this name."""
        owners = [record.fields for record in self.records if name in record.fields]
        return [
            other
            for other in (owners[0] if owners else ())
            if other != name
            and all(
                other in fields and is_leaf(fields[name].domain) and same(fields[other].domain, fields[name].domain)
                for fields in owners
            )
        ]

    def of_expression(self, node: ast.expr, module: str) -> object | None:
        """The domain of a field, an argument or a code; None if unknown."""
        match node:
            case ast.Attribute():
                return self.of_field(node.attr)
            case ast.Name() if node.id in self.arguments:
                return self.arguments[node.id]
            case ast.Name() if node.id in codes(module):
                return tuple(codes(module)[node.id])
        return None

    def is_flag(self, node: ast.expr) -> bool:
        """Whether an expression is a field that is true or false."""
        return isinstance(node, ast.Attribute) and isinstance(self.of_field(node.attr), Flag)


def same(domain: object, other: object) -> bool:
    """Whether two domains are the same: equal, or the same enumeration."""
    return domain is not None and (domain is other or domain == other)


def is_leaf(domain: object | None) -> bool:
    """Whether a domain is known and scalar."""
    return domain is not None and not isinstance(domain, (Array, Record))


def _records(domain) -> Iterator[Record]:
    if isinstance(domain, Record):
        yield domain
        for content in domain.fields.values():
            yield from _records(content.domain)
    elif isinstance(domain, Array):
        yield from _records(domain.of)
