"""A played scenario as a history for pictures, and as JSON."""

from __future__ import annotations

from kafkaproof.checker.pictures.histories import history_of
from kafkaproof.checker.scenarios.parse import Scenario
from kafkaproof.checker.scenarios.play import Told


def history_of_part(scenario: Scenario, told: Told) -> dict:
    """The history of a part (see `pictures.history`), with the scenario's story and notes."""
    history = history_of(told.trace, None)
    history["title"] = f"{scenario.title or scenario.name} ({told.trace.model.variant})"
    history["story"] = " ".join(filter(None, (scenario.story, told.part.story)))
    for step, moment in zip(history["steps"], told.moments[1:]):
        step["violates"] = [prop.name for prop in moment.violates]
        step["notes"] = [f"{prop.name}: {prop.text}" for prop in moment.violates] + moment.notes
        if moment.story:
            step["story"] = moment.story
    return history


def part_as_json(scenario: Scenario, told: Told) -> dict:
    """A part as an object of ``scenario --json``; `show` can draw its `trace`."""
    series = told.metrics
    moments = [
        {
            "step": str(step),
            "story": moment.story,
            "metrics": values,
            "violates": [prop.name for prop in moment.violates],
            "notes": moment.notes,
        }
        for (step, _, _), moment, values in zip(told.trace.steps, told.moments[1:], series[1:])
    ]
    return {
        "system": told.trace.model.system,
        "variant": told.trace.model.variant,
        "model": told.trace.model.origin or None,
        "scope": dict(told.trace.scope),
        "failure": told.failure,
        "initial": series[0],
        "moments": moments,
        "trace": [moment["step"] for moment in moments],
    }


def where_they_part(one: Told, other: Told) -> str | None:
    """The first steps in which two parts differ, in words; None if one is a prefix of the other."""
    both = [[str(step) for step, _, _ in told.trace.steps] for told in (one, other)]
    for number, (left, right) in enumerate(zip(*both), start=1):
        if left != right:
            return f"they part at step {number}: {left} in {one.part.variant}, {right} in {other.part.variant}"
    return None
