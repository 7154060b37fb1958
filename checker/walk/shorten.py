"""A short walk that still ends as a long one does: it violates a property, reaches a goal, or is stuck.

Source: Zeller and Hildebrandt, Simplifying and isolating failure-inducing input (ddmin), IEEE TSE 28(2), 2002.
"""

from __future__ import annotations

from kafkaproof.checker.compile.kernel import Kernel
from kafkaproof.checker.model.execution import Execution
from kafkaproof.checker.runs.counterexample import Trace, extend
from kafkaproof.checker.walk.batch import Path
from kafkaproof.spec.language.plain import values_of

Steps = list[int]


class Shortening:
    """Leaves steps out of a walk from one initial state, as long as it still ends as `name` says."""

    def __init__(self, kernel: Kernel, name: str, start: int):
        self._kernel = kernel
        self._execution = Execution(kernel.model, kernel.scope)
        self._initial = self._execution.initial_states()[start]
        self._property = next((p for p in kernel.state_properties + kernel.step_properties if p.name == name), None)

    def shortened(self, steps: Steps) -> Trace:
        """The walk without any step that it can do without, in plain Python."""
        steps, size = self._followed(steps), max(1, len(steps) // 2)
        while True:
            place, before = 0, len(steps)
            while place < len(steps):
                tried = self._followed([*steps[:place], *steps[place + size :]])
                if self._found and len(tried) < len(steps):
                    steps = tried
                else:
                    place += size
            if size == 1 and len(steps) == before:
                break
            size = max(1, size // 2)
        return self._taken(steps)

    def _followed(self, steps: Steps) -> Steps:
        """The steps that are taken of these, up to the first end: those that are not enabled are left out, and what leads back
        to a state before.
        """
        state, taken = self._initial, Steps()
        seen = {tuple(values_of(state)): 0}
        self._found = self._ends(None, state, None)
        for number in steps:
            if self._found:
                break
            step = self._kernel.step(number)
            after = self._execution.after(state, *step)
            if after is None or self._execution.beyond(after, str(number)):
                continue
            self._found = self._ends(state, after, step)
            state, key = after, tuple(values_of(after))
            taken = taken[: seen[key]] if key in seen and not self._found else [*taken, number]
            seen = {known: length for known, length in seen.items() if length <= len(taken)} | {key: len(taken)}
        return taken

    def _ends(self, before, after, step) -> bool:
        prop = self._property
        if prop is None:
            return next(self._execution.steps(after), None) is None
        if prop.kind in ("always", "sometimes"):
            return bool(prop.predicate(after)) == (prop.kind == "sometimes")
        if step is None or not prop.concerns(step[0]):
            return False
        return not self._execution.holds_for(prop, before, after, step[1])

    def _taken(self, steps: Steps) -> Trace:
        trace = Trace(self._kernel.model, self._kernel.scope, self._initial, [])
        for number in steps:
            extend(trace, self._execution, *self._kernel.step(number))
        return trace


def shortened(kernel: Kernel, name: str, path: Path) -> Trace:
    """A walk to the violation of a property, to a goal or to a deadlock, without what it can do without.

    It need not be a shortest one.
    """
    return Shortening(kernel, name, path.start).shortened(list(path.steps))
