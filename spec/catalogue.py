"""All systems and their variants, by name: each folder's `model.py` has the models of a system, or of a part of one."""

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType

from kafkaproof.spec.errors import UserError, meant
from kafkaproof.spec.language.model import Model
from kafkaproof.spec.language.rebind import original
from kafkaproof.spec.language.refinement import Refinement
from kafkaproof.spec.language.releases import Releases
from kafkaproof.spec.own import is_own, own_model

ROOT = Path(__file__).parent
SYSTEMS = (
    "replication",
    "async-isr",
    "replica",
    "election",
    "partition",
    "requests",
    "topics",
    "placement",
    "group",
    "consumer",
    "offsets",
    "cluster",
    "migration",
)
"""The systems in the order in which they are listed, from the simplest on."""


@cache
def models_of(system: str) -> tuple[Model, ...]:
    """The models of a system; those of a part of it (`partition/deletion`) come before its own. Only its folder is read."""
    return tuple(model for module in _modules(system, "model.py") for model in getattr(module, "MODELS", ()))


@cache
def all_models() -> tuple[Model, ...]:
    """The models of all systems, in the order of `SYSTEMS`."""
    return tuple(model for system in SYSTEMS for model in models_of(system))


def refinements() -> list[Refinement]:
    """How systems, or slices of one, behave like more abstract ones: each folder's `refinement.py` has them."""
    modules = (module for system in SYSTEMS for module in _modules(system, "refinement.py"))
    return [value for module in modules for value in vars(module).values() if isinstance(value, Refinement)]


def composed_of(system: str, variant: str) -> list[str]:
    """The systems that check a model together with others (`PARTS` of their module `parts`)."""
    return [composed for composed, here in declared("parts") if (system, variant) in here.PARTS]


def declared(name: str) -> Iterator[tuple[str, ModuleType]]:
    """Of each system that has a module or package `name` in its folder, the system and that module, in their order."""
    for system in SYSTEMS:
        folder = _folder(system)
        if any((folder / file).exists() for file in (f"{name}.py", f"{name}/__init__.py")):
            yield system, import_module(f"kafkaproof.spec.{folder.name}.{name}")


def _modules(system: str, name: str) -> Iterator[ModuleType]:
    """The modules of a name in a system's folder and those below, the lowest first."""
    for file in sorted(_folder(system).glob(f"**/{name}"), key=lambda file: (-len(file.parts), file)):
        yield import_module(".".join(("kafkaproof.spec", *file.relative_to(ROOT).with_suffix("").parts)))


def _folder(system: str) -> Path:
    return ROOT / system.replace("-", "_")


def find(system: str | None = None, variant: str | None = None) -> list[Model]:
    """The models of a system and variant (all, where None); ``FILE.py:MODEL`` in place of a system is one's own.

    Raises LookupError with the known names, UserError for a model of one's own that is not as it must be.
    """
    if system is not None and is_own(system):
        return [_own(system, variant)]
    if system is not None and system not in SYSTEMS:
        raise LookupError(f"no system {system!r}; there are {', '.join(sorted(SYSTEMS))}{meant(system, SYSTEMS)}")
    models = all_models() if system is None else models_of(system)
    found = [model for model in models if variant in (None, model.variant)]
    if found:
        return found
    variants = [model.variant for model in models]
    known = f"there are {', '.join(variants)}{meant(str(variant), variants)}"
    raise LookupError(f"{system} has no variant {variant!r}; {known}")


def model_of(system: str, variant: str) -> Model:
    """One variant of a system; raises UserError with the known names."""
    try:
        return find(system, variant)[0]
    except LookupError as error:
        raise UserError(error.args[0]) from error


def found_again(named: Mapping) -> Model:
    """The model that a run, a result or a trace names; raises LookupError or UserError as `find` does."""
    own = named.get("model")
    return find(own)[0] if own else find(named["system"], named["variant"])[0]


def _own(name, variant):
    """The model of one's own of this name: a system or a variant that is not there yet."""
    model = own_model(name)
    if variant not in (None, model.variant):
        raise UserError(f"{name} is the variant {model.variant}; leave out --variant, or name another model")
    same = {other.variant: other for other in models_of(model.system)} if model.system in SYSTEMS else {}
    if model.variant in same:
        raise UserError(f"{name}: there is a {model.name} already; write another variant in yours, variant='mine'")
    if same and not any(other.state is model.state for other in same.values()):
        raise UserError(f"{name}: {model.system} is a system of kafkaproof, with another state; rename yours")
    return model


def releases_with(system: str, replacement: Callable) -> list[Releases]:
    """The releases of a system's variants in which `replacement` stands for another function, oldest first."""
    found = (m.releases for m in models_of(system) if replacement in (original(new) for _, new in m.replaced))
    return sorted({releases for releases in found if releases})
