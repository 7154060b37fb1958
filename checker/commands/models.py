"""The options by which commands name models and scopes, and what they name."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from kafkaproof.checker.basics.errors import UserError
from kafkaproof.checker.commands.parser import CommandParser
from kafkaproof.checker.model.selection import scope_for
from kafkaproof.spec.catalogue import SYSTEMS, all_models, find
from kafkaproof.spec.language.domains import Scope
from kafkaproof.spec.language.model import Model
from kafkaproof.spec.own import is_own

SIZE = "size of "
"""How the destinations of the options for sizes begin, which no other option has."""


def _learn(parser: CommandParser, arguments: Sequence[str]) -> None:
    """Add an option for each size of the systems, or of the model of one's own, that are named, and tell of their scopes.

    Where none is named, or an option is none of theirs, there are the options of all systems.
    """
    named = [m for name in parser.positionals_in(arguments) if name in SYSTEMS or is_own(name) for m in find(name)]
    sizes = {name for model in named for name in model.scope}
    _add_sizes(parser, sizes, named)
    options = (each.partition("=")[0] for each in arguments if each.startswith("--"))
    if not named or not all(parser.has_option(option) for option in options):
        _add_sizes(parser, {name for model in all_models() for name in model.scope} - sizes, named)
    scopes = dict.fromkeys(name for model in named or all_models() for name in model.scopes)
    parser.explain(
        "--scope",
        f"a named scope ({', '.join(scopes)}); sizes change it, such as --brokers 3 (SYSTEM --help lists them)",
    )


def _add_sizes(parser, names, models):
    for name in sorted(names):
        option = f"--{name.replace('_', '-')}"
        if parser.has_option(option):
            raise UserError(f"{models[0].name}: {option} is an option of {parser.prog}; give the size another name")
        parser.add_argument(option, type=int, metavar="N", dest=SIZE + name, help=_meaning(name, models))


def _meaning(name, models):
    meanings = dict.fromkeys(m.sizes.get(name, "a size of the scope") for m in models if name in m.scope)
    return "; ".join(meanings) or argparse.SUPPRESS


def add_model_options(parser: CommandParser, **system) -> None:
    """Add ``system`` (with these options of argparse), ``--variant``, ``--scope`` and an option for each size."""
    parser.add_argument("system", **{"metavar": "SYSTEM"} | system)
    parser.add_argument("--variant", help="one variant of the system (see `kafkaproof list`)")
    parser.add_argument("--scope")
    parser.learn = _learn


def chosen(options) -> list[tuple[Model, Scope]]:
    """The models that the options name, each with its scope; raises UserError."""
    models = found(options)
    if options.system and not names_one(options):
        models = _with_parts(models)
    given = given_sizes(options)
    unused = [name for name in given if not any(name in model.scope for model in models)]
    if unused:
        raise UserError(f"{options.system} has no bound {unused[0]!r}; it has {', '.join(models[0].scope)}")
    return [
        (model, scope_for(model, options.scope, {name: v for name, v in given.items() if name in model.scope}))
        for model in models
    ]


def found(options) -> list[Model]:
    """The models that a system and a variant of the options name; raises UserError."""
    if options.variant and not options.system:
        raise UserError(f"--variant V needs a system: kafkaproof {options.command} SYSTEM --variant V")
    try:
        return find(options.system, options.variant)
    except LookupError as error:
        raise UserError(error.args[0]) from error


def names_one(options) -> bool:
    """Whether the options name a single model: a variant, or a model of one's own."""
    return bool(options.system and (options.variant or is_own(options.system)))


def _with_parts(models):
    """These models, preceded by the models of their parts, each once, which check what the composition leaves out."""
    parts = dict.fromkeys(part for model in models for part in model.parts)
    return [find(*part)[0] for part in parts] + models


def the_one(options) -> tuple[Model, Scope]:
    """The only model that the options name, with its scope; raises UserError."""
    models = chosen(options)
    if len(models) > 1:
        raise UserError(
            f"{options.system} has several variants; choose one with --variant: "
            + ", ".join(model.variant for model, _ in models)
        )
    return models[0]


def given_sizes(options) -> Scope:
    """The sizes that the options give."""
    every = {name.removeprefix(SIZE): value for name, value in vars(options).items() if name.startswith(SIZE)}
    return {name: value for name, value in every.items() if value is not None}
