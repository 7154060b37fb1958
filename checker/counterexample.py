"""Counterexamples: from the levels of a run back to an initial state, and forward again in plain Python."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from checker.execution import Execution
from checker.kernel import Kernel
from checker.outcome import Found
from checker.rundir import RunDirectory, RunError
from spec.language.domains import Scope
from spec.language.model import Model, Transition
from spec.language.plain import Plain
from spec.language.steps import Step, parse_step


@dataclass
class Trace:
    """A behaviour: its first state, then each step with the state that it leads to."""

    model: Model
    scope: Scope
    initial: Plain
    steps: list[tuple[Step, Transition, Plain]]

    @property
    def states(self) -> int:
        """Number of states, the initial one included."""
        return 1 + len(self.steps)


class TraceError(RunError):
    """A trace is not a behaviour of the model; the message names the first step that is not."""


def trace_of(run: RunDirectory, kernel: Kernel, found: Found) -> Trace:
    """A shortest behaviour to a violation that a run found, executed again in plain Python."""
    execution = Execution(kernel.model, kernel.scope)
    levels = run.levels()
    words = np.frombuffer(bytes.fromhex(found.state), np.uint64)
    state = execution.from_values(kernel.packing.unpack(words))
    numbers = [] if found.number is None else [found.number]
    for level in range(found.level, 0, -1):
        state, number = _parent(run, kernel, execution, levels, level, state)
        numbers.insert(0, number)
    trace = Trace(kernel.model, kernel.scope, state, [])
    for number in numbers:
        _extend(trace, execution, *kernel.step(number))
    return trace


def _parent(run, kernel, execution, levels, level, state):
    words = kernel.packing.pack(state)
    for states, _, parents, steps in run.links(levels[level]):
        for row in np.flatnonzero((states == words).all(axis=1)):
            for before in _with_key(run, levels[level - 1], parents[row]):
                plain = execution.from_values(kernel.packing.unpack(before))
                after = execution.after(plain, *kernel.step(int(steps[row])))
                if after is not None and (kernel.packing.pack(after) == words).all():
                    return plain, int(steps[row])
    raise RunError(f"{run.uri}: level {level} does not lead back to level {level - 1}; delete the run")


def _with_key(run, level, key):
    for states, keys, _, _ in run.links(level):
        yield from states[keys == key]


def _extend(trace, execution, transition, arguments):
    state = trace.steps[-1][2] if trace.steps else trace.initial
    after = execution.after(state, transition, arguments)
    if after is None:
        raise TraceError(f"step {len(trace.steps) + 1}, {transition.name}{arguments}, is not enabled")
    trace.steps.append((execution.step(transition, arguments), transition, after))


def executed(model: Model, scope: Scope, texts: list[str]) -> Trace:
    """The behaviour that step texts name, from the model's first initial state; raises TraceError."""
    execution = Execution(model, scope)
    trace = Trace(model, scope, execution.initial_states()[0], [])
    for text in texts:
        try:
            step = parse_step(text)
            transition = model.transition(step.transition)
            arguments = tuple(step.arguments[name] for name in transition.arguments)
        except (ValueError, KeyError) as error:
            raise TraceError(f"step {len(trace.steps) + 1}: {error.args[0]}") from error
        _extend(trace, execution, transition, arguments)
        if step.answer and step.answer != trace.steps[-1][0].answer:
            raise TraceError(f"step {len(trace.steps)}, {text}: the answer is {trace.steps[-1][0].answer}")
    return trace
