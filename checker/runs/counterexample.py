"""Counterexamples: from the levels of a run back to an initial state, and forward again in plain Python.

With symmetry, the levels hold representatives. Each of their steps is renamed to fit the state that the behaviour has
reached, so that the result is a behaviour of the model from one of its initial states.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from kafkaproof.checker.basics.errors import UserError
from kafkaproof.checker.basics.words import counted
from kafkaproof.checker.compile.expansion import told_fault
from kafkaproof.checker.compile.kernel import Kernel
from kafkaproof.checker.model.execution import Execution, ExecutionError
from kafkaproof.checker.runs.directory import RunDirectory, RunError
from kafkaproof.checker.runs.outcome import Found, Outcome
from kafkaproof.spec.language.domains import Scope, values
from kafkaproof.spec.language.model import Model, Property, Transition
from kafkaproof.spec.language.plain import Plain, values_of
from kafkaproof.spec.language.steps import Step, parse_step

ASYMMETRIC = (
    "the model distinguishes ids although the prover found that it does not: a defect of the prover;"
    " check it without --symmetry"
)


@dataclass
class Trace:
    """A behaviour: its first state, then each step with the state that it leads to.

    With a `loop` it is a lasso: the steps after the first `loop` ones lead back to the state before them, and repeat
    for ever. If there are none after them, the last state lasts for ever.
    """

    model: Model
    scope: Scope
    initial: Plain
    steps: list[tuple[Step, Transition, Plain]]
    loop: int | None = None

    @property
    def states(self) -> int:
        """Number of states, the initial one included; for a lasso, up to the first state of its loop."""
        return 1 + (len(self.steps) if self.loop is None else self.loop)

    @property
    def extent(self) -> str:
        """The length in words: ``17``, or for a lasso ``17 + loop of 4`` or ``17, then nothing``."""
        if self.loop_length is None:
            return str(self.states)
        return f"{self.states} + loop of {self.loop_length}" if self.loop_length else f"{self.states}, then nothing"

    @property
    def loop_length(self) -> int | None:
        """How many steps are repeated for ever; None without a loop."""
        return None if self.loop is None else len(self.steps) - self.loop

    @property
    def last(self) -> Plain:
        """The state that it ends in."""
        return self.steps[-1][2] if self.steps else self.initial


class TraceError(RunError):
    """A trace is not a behaviour of the model; the message names the first step that is not."""


def trace_of(run: RunDirectory, kernel: Kernel, found: Found) -> Trace:
    """A shortest behaviour to a violation or a goal that a run found, re-executed in plain Python."""
    execution = Execution(kernel.model, kernel.scope)
    levels, values = run.levels(), tuple(kernel.packing.unpack(np.frombuffer(bytes.fromhex(found.state), np.uint64)))
    path = [] if found.number is None else [(values, found.number)]
    for level in range(found.level, 0, -1):
        values, number = _parent(run, kernel, execution, levels, level, values)
        path.insert(0, (values, number))
    initial = next(s for s in execution.initial_states() if kernel.symmetry.between(values, execution.key(s)))
    trace = Trace(kernel.model, kernel.scope, initial, [])
    for values, number in path:
        _extend_renamed(trace, execution, kernel, values, *kernel.step(number))
    _require_violation(kernel, trace, found)
    return trace


def require_no_fault(run: RunDirectory, kernel: Kernel, outcome: Outcome) -> None:
    """Raise UserError if the exploration met a value or an index out of its range."""
    if outcome.fault:
        trace = trace_of(run, kernel, Found("out of range", outcome.fault.level, outcome.fault.state))
        told = _told_again(kernel, trace.last) or f"{told_fault(kernel, outcome.fault.number)}; mend the specification"
        raise UserError(f"{told}; in a state {counted(trace.states, 'state')} from the start")


def _told_again(kernel, state):
    """The error that plain Python raises in a state. It names the caller of a function of `sets`, which the kernel
    cannot.
    """
    asked = (*kernel.state_properties, *kernel.step_properties)
    execution = Execution(replace(kernel.model, properties=asked), kernel.scope)
    try:
        list(execution.state_verdicts(state))
        for transition, arguments, after, bound in execution.steps(state):
            if not bound:
                execution.broken_by_step(state, transition, arguments, after)
    except ExecutionError as error:
        return str(error)


def extended(trace: Trace, kernel: Kernel, numbers: list[int], loop: int) -> Trace:
    """A trace with more steps (numbers), of which the last `loop` are repeated for ever; raises TraceError."""
    execution = Execution(kernel.model, kernel.scope)
    longer = Trace(trace.model, trace.scope, trace.initial, list(trace.steps))
    for number in numbers:
        extend(longer, execution, *kernel.step(number))
    longer.loop = len(longer.steps) - loop
    return longer


def _extend_renamed(trace, execution, kernel, values, transition, arguments):
    """Take a representative's step, renamed to fit the state that the trace ends in."""
    try:
        renaming = kernel.symmetry.between(values, execution.key(trace.last))
        if renaming is None:
            raise TraceError(f"step {len(trace.steps)}, {trace.steps[-1][0]}, leads elsewhere")
        extend(trace, execution, transition, renaming.arguments(transition, arguments))
    except TraceError as error:
        raise TraceError(f"{error}: {ASYMMETRIC}") from error


def _require_violation(kernel, trace, found):
    """Check what was found in plain Python. It can differ only if the property distinguishes interchangeable ids."""
    prop = next((p for p in kernel.state_properties + kernel.step_properties if p.name == found.name), None)
    if prop and prop.kind == "sometimes" and not prop.predicate(trace.last):
        raise TraceError(f"goal {prop.name} is not reached at the end: {ASYMMETRIC}")
    if prop and prop.kind != "sometimes" and not violates(trace, prop):
        raise TraceError(f"property {prop.name} holds at the end: {ASYMMETRIC}")


def violates(trace: Trace, prop: Property) -> bool:
    """Whether the last state of a trace, or its last step, violates a property of states or steps."""
    if prop.kind == "always":
        return not prop.predicate(trace.last)
    if prop.kind != "step" or not trace.steps or not prop.concerns(trace.steps[-1][1]):
        return False
    before = trace.steps[-2][2] if len(trace.steps) > 1 else trace.initial
    arguments = trace.steps[-1][0].arguments.values() if prop.of else ()
    return not prop.predicate(before, trace.last, *arguments)


def is_stuck(trace: Trace) -> bool:
    """Whether the last state of a trace has no step, not even one beyond a bound."""
    return next(Execution(trace.model, trace.scope).steps(trace.last), None) is None


def _parent(run, kernel, execution, levels, level, values):
    """The values of a state of the previous level that leads to one with these values, and the number of the step."""
    words = kernel.packing.pack(execution.from_values(values))
    for states, _, parents, steps in run.links(levels[level]):
        for row in np.flatnonzero((states == words).all(axis=1)):
            for before in _with_key(run, levels[level - 1], parents[row]):
                found, number = tuple(kernel.packing.unpack(before)), int(steps[row])
                after = execution.after(execution.from_values(found), *kernel.step(number))
                if after is not None and kernel.symmetry.between(execution.key(after), values):
                    return found, number
    raise RunError(f"{run.uri}: level {level} does not lead back to level {level - 1}; delete the run")


def _with_key(run, level, key):
    for states, keys, _, _ in run.links(level):
        yield from states[keys == key]


def extend(trace: Trace, execution: Execution, transition: Transition, arguments: tuple[int, ...]) -> None:
    """Add a step to a trace; raises TraceError, which says why, when it is not enabled."""
    after = execution.after(trace.last, transition, arguments)
    if after is None:
        step = Step(transition.name, dict(zip(transition.arguments, arguments)))
        why = execution.refusal(trace.last, transition, arguments)
        raise TraceError(f"step {len(trace.steps) + 1}, {step}, is not enabled: {why}")
    trace.steps.append((execution.step(transition, arguments), transition, after))


def executed(model: Model, scope: Scope, texts: list[str]) -> Trace:
    """The behaviour that step texts name, from the first initial state that allows it; raises TraceError."""
    execution, refusals = Execution(model, scope), []
    for initial in execution.initial_states():
        trace = Trace(model, scope, initial, [])
        try:
            for text in texts:
                follow(trace, execution, text)
            return trace
        except TraceError as error:
            refusals.append((len(trace.steps), error))
    raise max(refusals, key=lambda refusal: refusal[0])[1]


def in_order_of(trace: Trace, texts: list[str]) -> Trace:
    """The trace with its steps in the order of `texts`, and the other steps after them.

    Returns the trace unchanged if that is not a behaviour, or does not end with the same step in the same state.
    """
    steps = [str(step) for step, _, _ in trace.steps]
    left, order = [*steps], []
    for text in texts:
        if text in left:
            left.remove(text)
            order.append(text)
    order += left
    if order == steps or order[-1] != steps[-1] or trace.loop not in (None, len(steps)):
        return trace
    try:
        found = executed(trace.model, trace.scope, order)
    except TraceError:
        return trace
    return replace(found, loop=trace.loop) if values_of(found.last) == values_of(trace.last) else trace


def follow(trace: Trace, execution: Execution, text: str) -> None:
    """Extend the trace by the step that a text names; raises TraceError, also when its answer differs."""
    number = len(trace.steps) + 1
    try:
        transition, arguments = chosen_step(trace.model, trace.scope, text)
    except TraceError as error:
        raise TraceError(f"step {number}: {error}") from error
    extend(trace, execution, transition, arguments)
    answer = parse_step(text).answer
    if answer and answer != trace.steps[-1][0].answer:
        raise TraceError(f"step {number}, {text}: the answer is {trace.steps[-1][0].answer}")


def chosen_step(model: Model, scope: Scope, text: str) -> tuple[Transition, tuple[int, ...]]:
    """The transition and the arguments that a step text names; raises TraceError if there are none."""
    try:
        step = parse_step(text)
        transition = model.transition(step.transition)
    except (ValueError, KeyError) as error:
        raise TraceError(error.args[0]) from error
    if step.arguments.keys() != transition.arguments.keys():
        raise TraceError(f"{text}: the arguments are {', '.join(transition.arguments) or 'none'}")
    for name, domain in transition.arguments.items():
        if step.arguments[name] not in values(domain, scope):
            raise TraceError(f"{text}: {name} is out of its range in this scope")
    return transition, tuple(step.arguments[name] for name in transition.arguments)
