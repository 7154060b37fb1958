"""The status of every property at the end of a behaviour: where it was violated or reached, and which goals it waits for."""

from __future__ import annotations

from kafkaproof.checker.liveness.labels import choices_of, condition_of
from kafkaproof.checker.model.execution import Execution
from kafkaproof.checker.runs.counterexample import Trace
from kafkaproof.spec.language.model import LIVENESS, Property

BAD, GOOD, OPEN = "bad", "good", "open"


def statuses(trace: Trace, execution: Execution) -> list[dict]:
    """Each property with its kind, its text, its status in words, and whether that is `bad`, `good` or `open`."""
    found = []
    for prop in trace.model.properties_at(trace.scope):
        words, mark = _status(prop, trace, execution)
        found.append({"name": prop.name, "kind": prop.kind, "text": prop.text, "status": words, "mark": mark})
    return found


def _status(prop: Property, trace: Trace, execution: Execution) -> tuple[str, str]:
    states = [trace.initial, *(after for _, _, after in trace.steps)]
    if prop.kind in LIVENESS:
        return _awaited(prop, trace.scope, states)
    if prop.kind == "step":
        broken = _broken_at(prop, trace, execution)
    else:
        broken = [number for number, state in enumerate(states) if not prop.predicate(state)]
    if prop.kind == "sometimes":
        reached = sorted(set(range(len(states))) - set(broken))
        return (f"reached {_places(reached, states)}", GOOD) if reached else ("not reached so far", OPEN)
    return (f"violated {_places(broken, states)}", BAD) if broken else ("holds so far", GOOD)


def _broken_at(prop, trace, execution):
    """The numbers of the steps that break a property of steps."""
    broken, before = [], trace.initial
    for number, (step, transition, after) in enumerate(trace.steps, start=1):
        if prop.name in execution.broken_by_step(before, transition, tuple(step.arguments.values()), after):
            broken.append(number)
        before = after
    return broken


def _awaited(prop, scope, states):
    """Whether the goal of a liveness property holds now, or since which step the behaviour waits for it."""
    waits, met = [], []
    for fixed in choices_of(prop, scope):
        goal, after = condition_of(prop.predicate, fixed), prop.after and condition_of(prop.after, fixed)
        since = None
        for number, state in enumerate(states):
            if since is None and (after is None or after.holds(state)):
                since = number
            if goal.holds(state):
                since = None
        met.append(goal.holds(states[-1]))
        if since is not None:
            of = ", ".join(f"{name}={value}" for name, value in fixed)
            waits.append(f"waiting since {f'step {since}' if since else 'the start'}" + (f" ({of})" if of else ""))
    if waits:
        return "; ".join(waits), OPEN
    return ("holds here", GOOD) if all(met) else ("nothing to wait for so far", OPEN)


def _places(numbers, states):
    """Where a property is violated or reached, in words."""
    last = len(states) - 1
    earlier = [number for number in numbers if number != last]
    texts = ["here"] if last in numbers else []
    texts += [f"first after step {earlier[0]}" if earlier[0] else "at first"] if earlier else []
    return ", ".join(texts)
