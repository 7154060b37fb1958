"""What a model is put together from: tuples of transitions and properties, told where they hold something else."""

from collections.abc import Mapping
from dataclasses import replace
from inspect import isfunction
from typing import Any

from kafkaproof.spec.errors import UserError


def changed(part: Any, **fields: Any) -> Any:
    """An object of a dataclass with these fields; the same object where none differs. A catalogue has thousands of parts."""
    same = all(getattr(part, name) == value for name, value in fields.items())
    return part if same else replace(part, **fields)


def require_parts(model: str, what: str, parts: object, kind: type, made_by: str) -> None:
    """Raise UserError unless `parts` are a tuple of `kind`; `made_by` is the function that makes one of a plain function."""
    if not isinstance(parts, (tuple, list)):
        raise UserError(f"{model}: `{what}` is a tuple; of a single one, write a comma behind it: (one,)")
    for part in parts:
        if not isinstance(part, kind):
            name = getattr(part, "__name__", repr(part))
            raise UserError(f"{model}: `{what}` has {name}, which is no {kind.__name__}; write {made_by}({name})")


def require_function(what: str, function: object) -> None:
    """Raise UserError unless `function` is a plain function."""
    if not isfunction(function):
        raise UserError(f"{what} is a plain function, not {function!r}")


def require_sizes(model: str, name: str, scope: object) -> None:
    """Raise UserError unless a scope is numbers by name."""
    if not isinstance(scope, Mapping):
        raise UserError(f"{model}: its {name} scope is {scope!r}; write Size(brokers=2)")
