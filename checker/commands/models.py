"""The options by which commands name models and scopes, and what they name."""

from __future__ import annotations

from kafkaproof.checker.basics.errors import UserError
from kafkaproof.checker.model.selection import scope_for
from kafkaproof.spec.catalogue import MODELS, find
from kafkaproof.spec.language.domains import Scope
from kafkaproof.spec.language.model import Model


def add_model_options(parser, **system) -> None:
    """Add ``system`` (with these options of argparse), ``--variant``, ``--scope`` and an option for each size."""
    parser.add_argument("system", **system)
    parser.add_argument("--variant", help="one variant of the system (see `kafkaproof list`)")
    names = dict.fromkeys(name for model in MODELS for name in model.scopes)
    parser.add_argument("--scope", help=f"a named scope ({', '.join(names)}); the sizes below change it")
    for name in _sizes():
        meanings = {model.system: model.sizes[name] for model in MODELS if name in model.sizes}
        text = "; ".join(f"{system}: {meaning}" for system, meaning in meanings.items())
        parser.add_argument(f"--{name.replace('_', '-')}", type=int, metavar="N", help=text)


def chosen(options) -> list[tuple[Model, Scope]]:
    """The models that the options name, each with its scope; raises UserError."""
    if options.variant and not options.system:
        raise UserError("--variant needs a system; see `kafkaproof list`")
    try:
        models = find(options.system, options.variant)
    except LookupError as error:
        raise UserError(error.args[0]) from error
    if options.system and not options.variant:
        models = _with_parts(models)
    given = given_sizes(options)
    unused = [name for name in given if not any(name in model.scope for model in models)]
    if unused:
        raise UserError(f"{options.system} has no bound {unused[0]!r}; it has {', '.join(models[0].scope)}")
    return [
        (model, scope_for(model, options.scope, {name: v for name, v in given.items() if name in model.scope}))
        for model in models
    ]


def _with_parts(models):
    """These models, preceded by the models of their parts, which check what the composition leaves out."""
    parts = [find(*part)[0] for model in models for part in model.parts]
    return parts + models


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
    return {name: value for name in _sizes() if (value := getattr(options, name)) is not None}


def _sizes():
    return sorted({name for model in MODELS for name in model.scope})
