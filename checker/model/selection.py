"""Selecting the scope and properties of a model by name, before anything is compiled."""

from __future__ import annotations

import importlib.util
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from types import FunctionType

from kafkaproof.checker.basics.errors import UserError
from kafkaproof.spec.language.accepted import require_accepted
from kafkaproof.spec.language.domains import Scope, sorts
from kafkaproof.spec.language.model import STANDARD, Model, Property, always


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
        raise UserError(f"{model.system} has no scope {name!r}; it has {', '.join(model.scopes)}")
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
        raise UserError(f"{model.system} has no property {name!r}; it has {', '.join(known)}")
    return known[name]


def _own(model, name):
    path, _, function = name.rpartition(":")
    if not Path(path).is_file():
        raise UserError(f"no file {path}; a property of your own is FILE.py:PREDICATE")
    if function in {p.name for p in model.properties}:
        raise UserError(f"{name}: {model.system} has a property {function}; give your own another name")
    predicate = getattr(_loaded(path), function, None)
    if not isinstance(predicate, FunctionType):
        raise UserError(f"{path} has no function {function!r}; a property of your own is FILE.py:PREDICATE")
    prop = always(predicate)
    require_accepted(replace(model, properties=(prop,)))
    return prop


def _loaded(path):
    """The user's file as a module, under a name that no other module has."""
    spec = importlib.util.spec_from_file_location(f"own_{Path(path).stem}", path)
    if spec is None or spec.loader is None:
        raise UserError(f"{path} is not a file of Python; a property of your own is FILE.py:PREDICATE")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:  # noqa: BLE001 - the user's own file
        raise UserError(f"{path}: {type(error).__name__}: {error}") from error
    return module
