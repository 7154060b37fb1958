"""The control of a counterexample: the same schedule without its decisive step, which ends without the violation.

The decisive step is the last fault, or message that is delivered, without which the specification takes the remaining
steps, those that are still possible, and the property holds throughout. A request or answer that is lost is not lost
in the control. Answers are those that the specification gives then. What clients can no longer do as in the
counterexample they ask of the other brokers. Of a behaviour that ends it is not known whether a property of liveness
holds: there the decisive step is the last request or answer that was lost, or the last fault where none was; for
brokers that leave it is the last ISR that is written as its leader has proposed it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from kafkaproof.impl.harness.real.behaviour import WHEN_LEFT, Behaviour, answered, followed
from kafkaproof.impl.harness.real.moves import DEEDS, PROPOSED
from kafkaproof.spec.cluster import control, data_plane
from kafkaproof.spec.errors import UserError
from kafkaproof.spec.kafka.zookeeper import ANSWERED, LOST_APPLIED
from kafkaproof.spec.language.model import LIVENESS, SAFETY, Property
from kafkaproof.spec.language.plain import Plain
from kafkaproof.spec.language.steps import Step, names

CLIENTS = names(data_plane.produce, data_plane.consume)
GOAL = "sometimes"
"""The kind of a property that the counterexample reaches, and the control does not."""
DELIVERED = names(control.leader_and_isr, data_plane.serve_fetch, data_plane.receive_answer, data_plane.learn_isr)
"""The steps that deliver a message which may as well never arrive."""


@dataclass(frozen=True)
class Control:
    """A behaviour without the violation: of a counterexample without the step `number`, `omitted`.

    `skipped`: the later steps that are not possible any more.
    """

    behaviour: Behaviour
    number: int
    omitted: Step
    skipped: list[Step]

    @property
    def text(self) -> str:
        """What is left out, in words."""
        lost = f"; not possible without it: {', '.join(map(str, self.skipped))}" if self.skipped else ""
        return f"control, without step {self.number}, {self.omitted}{lost}"


def control_of(behaviour: Behaviour) -> Control:
    """The control of a counterexample; raises UserError where its model does not ask its property, or there is none."""
    asked = [
        prop
        for prop in behaviour.model.properties
        if prop.name == behaviour.violated and prop.kind in (*SAFETY, *LIVENESS, GOAL)
    ]
    if not asked:
        raise UserError(
            f"--control: {behaviour.model.system} asks nothing of states or steps that is called {behaviour.violated}"
        )
    lossless = all(_is_answered(step) for step in behaviour.steps)
    for number in reversed(range(1, len(behaviour.steps) + 1)):
        step = behaviour.steps[number - 1]
        proposed = behaviour.violated in WHEN_LEFT and step.name in PROPOSED
        if asked[0].kind in LIVENESS and _is_answered(step) and not lossless:
            continue
        for instead in [[]] if proposed else _instead_of(step):
            if found := _tried(behaviour, number, instead, asked[0]):
                return found
    raise UserError(
        f"--control: without any one fault or message the counterexample of {behaviour.violated} still violates it"
    )


def _is_answered(step: Step) -> bool:
    """Whether neither a request nor an answer of a step is lost."""
    return step.arguments.get("delivery", ANSWERED) == ANSWERED


def _instead_of(step: Step) -> list[list[Step]]:
    """What a control may have in the place of a step: nothing, or the same without its fault."""
    if not _is_answered(step):
        answer = "OK" if step.arguments["delivery"] == LOST_APPLIED else None
        return [[replace(step, arguments=step.arguments | {"delivery": ANSWERED}, answer=answer)]]
    name = step.name
    return [[]] if name in DELIVERED or name in DEEDS and name not in CLIENTS else []


def _tried(behaviour: Behaviour, number: int, instead: list[Step], asked: Property) -> Control | None:
    kept, skipped = [*behaviour.steps[: number - 1], *instead], []
    for step in behaviour.steps[number:]:
        (kept if followed(behaviour.model, behaviour.initial, [*kept, step]) else skipped).append(step)
    states = followed(behaviour.model, behaviour.initial, kept)
    if states is None or not _holds(asked, behaviour, [behaviour.initial, *states], kept):
        return None
    found = replace(behaviour, steps=answered(behaviour.model, behaviour.initial, kept), states=states)
    return Control(found, number, behaviour.steps[number - 1], skipped)


def _holds(asked: Property, behaviour: Behaviour, states: list[Plain], steps: list[Step]) -> bool:
    if asked.kind in LIVENESS:
        return True
    if asked.kind == GOAL:
        return not any(asked.predicate(state) for state in states)
    if asked.kind == "always":
        return all(asked.predicate(state) for state in states)
    for before, step, after in zip(states, steps, states[1:]):
        transition = behaviour.model.transition(step.transition)
        values = [step.arguments[name] for name in transition.arguments] if asked.of else []
        if asked.concerns(transition) and not asked.predicate(before, after, *values):
            return False
    return True
