"""How many states the recorded scopes of a variant have."""

import tempfile

from kafkaproof.checker.compile.kernel import Kernel
from kafkaproof.checker.explore.explorer import Explorer, Limits
from kafkaproof.checker.runs.directory import RunDirectory
from kafkaproof.spec.language.model import Model

MOST = 20_000_000
"""States are counted up to this number."""


def explored_scopes(model: Model) -> str:
    """Each recorded scope with its states, smallest first: ``(2,2,1,1) 1,234``."""
    counts = sorted((states_of(model, at), at) for at in model.expected)
    return ", ".join(
        f"({','.join(map(str, at))}) {f'{count:,}' if count <= MOST else f'more than {MOST:,}'}" for count, at in counts
    )


def states_of(model: Model, at: tuple[int, ...]) -> int:
    """How many states a scope (values in the order of the model's) has; MOST + 1 if there are more than MOST."""
    kernel = Kernel(model, dict(zip(model.scope, at)), ())
    with tempfile.TemporaryDirectory() as directory:
        run = RunDirectory(directory)
        run.create({})
        explorer = Explorer(run, kernel, None, 1, limits=Limits(states=MOST))
        explorer.explore()
    return min(explorer.outcome.distinct, MOST + 1)
