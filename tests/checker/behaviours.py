"""Behaviours that tests write down as steps, a line each, and what is said of their ends."""

from kafkaproof.checker.model.execution import Execution
from kafkaproof.checker.runs.counterexample import Trace, executed
from kafkaproof.spec.language.domains import Scope
from kafkaproof.spec.language.model import Model


def behaviour(model: Model, scope: Scope, text: str) -> Trace:
    """The behaviour of these lines, each of which can be taken, and none of which goes beyond a bound."""
    trace = executed(model, scope, [line.strip() for line in text.strip().split("\n")])
    run = Execution(model, scope)
    for step, _, state in trace.steps:
        assert run.beyond(state, str(step)) is None, step
    return trace


def broken_at_the_end(trace: Trace) -> list[str]:
    """The properties that the last step breaks."""
    states = [trace.initial, *(state for _, _, state in trace.steps)]
    step, transition, after = trace.steps[-1]
    run = Execution(trace.model, trace.scope)
    return run.broken_by_step(states[-2], transition, tuple(step.arguments.values()), after)
