"""Mutants by omission: a transition that may be taken at any time, and does nothing."""

import inspect

from kafkaproof.spec.language.domains import Scope
from kafkaproof.spec.language.mutants.mutant import Mutant, everywhere
from kafkaproof.spec.language.text import function_from


def omitting(transition, kills: str, at: Scope) -> Mutant:
    """The mutant in which a transition function has neither guards nor effects, killed by a property of its steps."""
    name = transition.__name__
    domains = transition.__annotations__
    parameters = inspect.signature(transition).parameters
    given = ", ".join(f"{p}: domain_of_{p}" if p in domains else p for p in parameters)
    text = f"A step of `{name}` is taken at any time, and does nothing ({kills})."
    names = {f"domain_of_{p}": domain for p, domain in domains.items()}
    idle = function_from(name, f'def {name}({given}):\n    """{text}"""\n    return True\n', names)
    return Mutant(f"omitted-{name}-{kills}".replace("_", "-"), text, kills, everywhere({transition: idle}), at)
