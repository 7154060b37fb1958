"""All systems and their variants, by name: each folder's `model.py` has the models of a system, or of a part of one."""

from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from pathlib import Path
from types import ModuleType

from kafkaproof.spec.errors import UserError, meant
from kafkaproof.spec.group.refinement import TO_CONTRACT
from kafkaproof.spec.language.model import Model
from kafkaproof.spec.language.rebind import original
from kafkaproof.spec.language.refinement import Refinement
from kafkaproof.spec.language.releases import Releases
from kafkaproof.spec.own import is_own, own_model
from kafkaproof.spec.partition.electing.refinement import TO_ONE_STEP
from kafkaproof.spec.replica.refinement import TO_REPLICATION

ROOT = Path(__file__).parent
ORDER = (
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
"""The systems in the order in which they are listed, from the simplest on; a new one comes behind."""


def declared(name: str) -> Iterator[tuple[str, ModuleType]]:
    """Of each system that has a module or package `name` in its folder, the system and that module, in their order."""
    for system in dict.fromkeys(model.system for model in MODELS):
        folder = system.replace("-", "_")
        if any((ROOT / folder / file).exists() for file in (f"{name}.py", f"{name}/__init__.py")):
            yield system, import_module(f"kafkaproof.spec.{folder}.{name}")


def _found() -> Iterator[Model]:
    """The models of all folders; those of a part of a system (`partition/deletion`) come before the system's own."""
    for file in sorted(ROOT.glob("*/**/model.py"), key=lambda file: (-len(file.parts), file)):
        module = ".".join(("kafkaproof.spec", *file.relative_to(ROOT).with_suffix("").parts))
        yield from getattr(import_module(module), "MODELS", ())


MODELS: tuple[Model, ...] = tuple(
    sorted(_found(), key=lambda model: ORDER.index(model.system) if model.system in ORDER else len(ORDER))
)
REFINEMENTS: tuple[Refinement, ...] = (TO_REPLICATION, TO_CONTRACT, TO_ONE_STEP)


def find(system: str | None = None, variant: str | None = None) -> list[Model]:
    """The models of a system and variant (all, where None); ``FILE.py:MODEL`` in place of a system is one's own.

    Raises LookupError with the known names, UserError for a model of one's own that is not as it must be.
    """
    if system is not None and is_own(system):
        return [_own(system, variant)]
    found = [m for m in MODELS if system in (None, m.system) and variant in (None, m.variant)]
    if found:
        return found
    systems = sorted({m.system for m in MODELS})
    if system not in systems:
        raise LookupError(f"no system {system!r}; there are {', '.join(systems)}{meant(str(system), systems)}")
    variants = [m.variant for m in MODELS if m.system == system]
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
    same = {other.variant: other for other in MODELS if other.system == model.system}
    if model.variant in same:
        raise UserError(f"{name}: there is a {model.name} already; write another variant in yours, variant='mine'")
    if same and not any(other.state is model.state for other in same.values()):
        raise UserError(f"{name}: {model.system} is a system of kafkaproof, with another state; rename yours")
    return model


def releases_with(system: str, replacement: Callable) -> list[Releases]:
    """The releases of a system's variants in which `replacement` stands for another function, oldest first."""
    found = (
        m.releases for m in MODELS if m.system == system and replacement in (original(new) for _, new in m.replaced)
    )
    return sorted({releases for releases in found if releases})
