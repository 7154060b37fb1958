"""How many states the recorded scopes of a variant have."""

import tempfile

from kafkaproof.checker.compile.kernel import Kernel
from kafkaproof.checker.explore.explorer import Explorer, Limits
from kafkaproof.checker.runs.directory import RunDirectory
from kafkaproof.spec.language.domains import Scope
from kafkaproof.spec.language.model import Model

MOST = 20_000_000
"""States are counted up to this number."""


def explored_scopes(model: Model) -> str:
    """Each recorded scope with its states, smallest first: ``(2,2,1,1) 1,234``."""
    counts = {at: states_of(model, at) for at in model.expected}
    return ", ".join(
        f"{in_brackets(at)} {f'{counts[at]:,}' if counts[at] <= MOST else f'more than {MOST:,}'}"
        for at in sorted(counts, key=lambda at: (counts[at], *at.values()))
    )


def in_brackets(scope: Scope) -> str:
    """The numbers of a scope, without their names: ``(2,2,1,1)``."""
    return f"({','.join(map(str, scope.values()))})"


def states_of(model: Model, at: Scope) -> int:
    """How many states a scope has; MOST + 1 if there are more than MOST."""
    kernel = Kernel(model, at, ())
    with tempfile.TemporaryDirectory() as directory:
        run = RunDirectory(directory)
        run.create({})
        explorer = Explorer(run, kernel, None, 1, limits=Limits(states=MOST))
        explorer.explore()
    return min(explorer.outcome.distinct, MOST + 1)
