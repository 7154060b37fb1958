"""Selecting the scope and properties of a model by name, before anything is compiled."""

from __future__ import annotations

from dataclasses import dataclass, replace
from types import FunctionType

from kafkaproof.checker.basics.errors import UserError, meant
from kafkaproof.spec.language.accepted import require_accepted
from kafkaproof.spec.language.domains import Scope, sorts
from kafkaproof.spec.language.model import STANDARD, Model, Property, always
from kafkaproof.spec.own import loaded_file


@dataclass(frozen=True)
class Check:
    """What to check: a model at a scope, the names of its properties, how far to go, and whether up to symmetry."""

    model: Model
    scope: Scope
    properties: tuple[str, ...]
    keep_going: bool = False
    deadlock: bool = False
    symmetry: bool = False


def scope_for(model: Model, name: str | None, given: Scope) -> Scope:
    """The model's scope called `name` (`STANDARD` where None), with the given sizes.

    Raises UserError for an unknown name, or a size outside what is declared. Replicas are no more than brokers.
    """
    if name is not None and name not in model.scopes:
        raise UserError(
            f"{model.system} has no scope {name!r}; it has {', '.join(model.scopes)}{meant(name, model.scopes)}"
        )
    for size, value in given.items():
        if size not in model.scope:
            raise UserError(f"{model.system} has no bound {size!r}; it has {', '.join(model.scope)}")
        least = 1 if size in sorts(model.state) else 0
        if not least <= value <= model.largest[size]:
            raise UserError(f"{model.system}: {size} goes from {least} to {model.largest[size]}, not {value}")
    scope = {**model.scopes[name or STANDARD], **given}
    if "replicas" in scope and scope["replicas"] > scope["brokers"]:
        if "replicas" in given:
            raise UserError(f"{model.system}: {scope['replicas']} replicas need as many brokers")
        scope["replicas"] = scope["brokers"]
    return scope


def properties_of(model: Model, scope: Scope, names: tuple[str, ...]) -> tuple[Property, ...]:
    """The model's properties at a scope, or those named; ``FILE.py:PREDICATE`` is the user's own. Raises UserError."""
    if not names:
        return model.properties_at(scope)
    known = {p.name: p for p in model.properties}
    return tuple(_own(model, name) if ".py:" in name else _known(model, known, name) for name in dict.fromkeys(names))


def _known(model, known, name):
    by_id = next((p for p in model.properties if f"({name})" in p.text), None)
    if name not in known and by_id:
        return by_id
    if name not in known:
        raise UserError(f"{model.system} has no property {name!r}; it has {', '.join(known)}{meant(name, known)}")
    return known[name]


def _own(model, name):
    usage = "a property of your own is FILE.py:PREDICATE"
    path, _, function = name.rpartition(":")
    if function in {p.name for p in model.properties}:
        raise UserError(f"{name}: {model.system} has a property {function}; give your own another name")
    predicate = getattr(loaded_file(path, usage), function, None)
    if not isinstance(predicate, FunctionType):
        raise UserError(f"{path} has no function {function!r}; {usage}")
    prop = always(predicate)
    require_accepted(replace(model, properties=(prop,)))
    return prop
