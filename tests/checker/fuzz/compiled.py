"""What compiled code says of a program, against the truth."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy as np

from kafkaproof.checker.basics.errors import UserError
from kafkaproof.checker.check.local import explore_here
from kafkaproof.checker.compile.expansion import Expansion
from kafkaproof.checker.compile.kernel import Kernel
from kafkaproof.checker.compile.text import NUMBER
from kafkaproof.checker.explore import reference
from kafkaproof.checker.model.execution import Execution, ExecutionError
from kafkaproof.spec.language.plain import Plain
from tests.checker.alone import Alone, OutOfRange, records
from tests.checker.fuzz.truth import OUTSIDE, REFUSED, WRONG, Left, Truth, values_within


def alone(truth: Truth, states: list) -> Iterator[str]:
    """Differences of transitions and predicates compiled one by one, at some states."""
    model, scope = truth.model, truth.scope
    transitions = [(t.function, [model.state] + [NUMBER] * len(t.arguments)) for t in model.transitions]
    asked = [p for p in model.properties if p.kind != "step"]
    compiled = Alone(scope, transitions + [(p.predicate, [model.state]) for p in asked])
    for key in states:
        before = records(model.state, scope, [truth.states[key]])
        for which, transition in enumerate(model.transitions):
            for arguments in transition.choices(scope):
                yield from _step_alone(truth, compiled, which, transition, arguments, key, before)
        for which, prop in enumerate(asked, len(transitions)):
            yield from _differ(f"{prop.name} of {key}", truth.judged[key, prop.name], _called(compiled, which, before))


def _called(compiled, which, *arguments):
    try:
        return bool(compiled.call(which, *arguments))
    except OutOfRange:
        return WRONG


def _step_alone(truth, compiled, which, transition, arguments, key, before):
    wanted, after = truth.steps[key, transition.name, arguments], before.copy()
    found = _called(compiled, which, after, *arguments)
    where = f"{transition.name}{arguments} of {key}"
    yield from _differ(where, wanted if wanted in (WRONG, REFUSED) else True, REFUSED if found is False else found)
    if isinstance(wanted, Left) and found is True:
        expected = records(truth.model.state, truth.scope, [_state(truth, wanted.after)])
        if expected.tobytes() != after.tobytes():
            yield f"{where}: Python leads to {wanted.after}, compiled to {after.view(np.int32).tolist()}"


def _state(truth: Truth, key) -> Plain:
    return Execution(truth.model, truth.scope).from_values(key)


def expanded(truth: Truth) -> Iterator[str]:
    """Differences of the explorer's kernel: each state by itself, and the exploration as a whole."""
    kernel = Kernel(truth.model, truth.scope, truth.model.properties)
    expansion = Expansion(kernel.compiled, 1, speed=0)
    for key, state in truth.states.items():
        yield from _expansion(truth, kernel, expansion, key, state)
    if truth.complete:
        yield from _explored(truth) if not truth.goes_wrong else _stopped(truth)


def _expansion(truth, kernel, expansion, key, state):
    expansion.clear()
    found, leaves = {}, kernel.packing.leaves
    for successors, _, numbers in expansion.run(np.array([kernel.packing.pack(state)])):
        for words, number in zip(successors, numbers):
            transition, arguments = kernel.step(int(number))
            found[transition.name, arguments] = tuple(kernel.packing.unpack(words))
    steps = {at[1:]: step for at, step in truth.steps.items() if at[0] == key}
    asked = {at[1:]: holds for at, holds in truth.broken.items() if at[0] == key}
    wrong = any(step in (OUTSIDE, WRONG) for step in steps.values())
    wrong = wrong or any(truth.judged[key, p.name] == WRONG for p in truth.model.properties if p.kind != "step")
    if wrong or WRONG not in asked.values():
        yield from _differ(f"an error at {key}", wrong, bool(expansion.fault[0] >= 0))
    if WRONG in [*steps.values(), *asked.values(), *(truth.judged.get((key, p.name)) for p in truth.model.properties)]:
        return
    expected = {at: s.after for at, s in steps.items() if isinstance(s, Left) and values_within(leaves, s.after)}
    yield from _differ(f"steps of {key}", expected, found)
    cuts = Counter(s.bound for s in steps.values() if isinstance(s, Left) and s.bound)
    yield from _differ(
        f"cuts of {key}",
        {b: cuts[b] for b in kernel.compiled.bounds},
        dict(zip(kernel.compiled.bounds, expansion.cuts.tolist())),
    )
    goals = {p.name: p.kind == "sometimes" for p in truth.model.properties}
    yield from _differ(
        f"properties of {key}",
        {n: truth.judged[key, n] == goals[n] for n in kernel.compiled.state_names},
        dict(zip(kernel.compiled.state_names, (expansion.judged == 0).tolist())),
    )
    broken = {at[-1] for at, holds in asked.items() if holds is False}
    yield from _differ(
        f"properties of the steps of {key}",
        {n: n in broken for n in kernel.compiled.step_names},
        dict(zip(kernel.compiled.step_names, (expansion.broken[:, 0] == 0).tolist())),
    )


def _explored(truth):
    outcome = explore_here(truth.model, truth.scope)
    found = outcome.outcome
    cuts = Counter(step.bound for step in truth.steps.values() if isinstance(step, Left) and step.bound)
    taken = sum(isinstance(step, Left) and not step.bound for step in truth.steps.values())
    first = sum(depth == 1 for depth in truth.depths.values())
    yield from _differ("distinct states", len(truth.states), found.distinct)
    yield from _differ("depth", max(truth.depths.values()), found.depth)
    yield from _differ("generated", first + taken, found.generated)
    yield from _differ("violated", truth.violated(), {name: t.states for name, t in outcome.traces.items()})
    yield from _differ("reached", truth.reached(), set(found.reached))
    yield from _differ("cuts", dict(cuts), {b: n for b, n in found.cuts.items() if n})
    slow = reference.explore(truth.model, truth.scope)
    yield from _differ(
        "of the reference",
        (len(truth.states), truth.violated(), truth.reached(), +cuts),
        (slow.distinct, slow.violated, slow.reached, slow.cuts),
    )


def _stopped(truth):
    """Both explorers must tell the error that plain Python runs into."""
    try:
        reference.explore(truth.model, truth.scope)
        yield "Python runs into an error, and the reference does not say so"
    except ExecutionError:
        pass
    try:
        if explore_here(truth.model, truth.scope).outcome.fault is None and not truth.violated():
            yield "Python runs into an error, and compiled exploration does not say so"
    except UserError:
        pass


def _differ(what, python, compiled):
    if python != compiled:
        yield f"{what}: Python {python}, compiled {compiled}"
