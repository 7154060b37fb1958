"""Histories: a trace as the pictures draw it, with lanes, arrows, words and the full state of each step."""

from __future__ import annotations

import re

from checker.counterexample import Trace
from checker.metrics import changing, metrics_over
from checker.liveness.lasso import reasons
from spec.language.domains import named
from spec.language.model import Property, Transition
from spec.language.plain import to_json
from spec.language.steps import Step
from spec.metrics.catalogue import metrics_of


def history_of(trace: Trace, violated: Property | None) -> dict:
    """The history of a trace whose last step, or loop, violates `violated` (see `pictures.history` for its form)."""
    model, scope = trace.model, trace.scope
    lanes = model.lanes(scope)
    steps = [{**step_drawn(step, transition, lanes), "state": to_json(model.state, after, scope)}
             for step, transition, after in trace.steps]
    if violated and steps and trace.loop is None:
        steps[-1]["violates"] = [violated.name]
    lasso = {} if trace.loop is None else {"loop": trace.loop, "reasons": reasons(trace, violated)}
    return {
        "format": 1,
        "title": f"{model.system}, variant {model.variant}",
        "system": model.system,
        "variant": model.variant,
        "scope": dict(scope),
        "property": {"name": violated.name, "text": violated.text} if violated else None,
        "story": model.story,
        "lanes": lanes,
        "metrics": _metrics(trace),
        "initial": to_json(model.state, trace.initial, scope),
        "steps": steps,
        **lasso,
    }


def _metrics(trace):
    """The metrics that change in the course of a trace."""
    series = metrics_over(trace)
    texts = {measure.metric.name: measure.metric.text for measure in metrics_of(trace.model)}
    return [
        {"name": name, "text": texts[name], "values": [values[name] for values in series]} for name in changing(series)
    ]


def step_drawn(step: Step, transition: Transition, lanes: list[str]) -> dict:
    """A step of a history without the state after it: text, lane, words and arrows."""
    values = {**step.arguments, "answer": step.answer or ""}
    arrows = [
        {
            "from": lanes.index(arrow.source.format(**values)),
            "to": lanes.index(arrow.target.format(**values)),
            "label": arrow.label.format(**values),
            "kind": arrow.kind,
        }
        for arrow in transition.arrows
        if arrow.source.format(**values) != arrow.target.format(**values)
    ]
    lane = transition.lane.format(**values)
    return {
        "text": str(step),
        "lane": lanes.index(lane) if lane in lanes else 0,
        "words": words_of(transition, step.arguments),
        "arrows": arrows,
    }


def words_of(transition, arguments):
    """What the transition does, with arguments in the place of their names: ``Broker 1 registers``."""

    def value(match):
        name = match[1]
        return str(named(transition.arguments[name], arguments[name])) if name in arguments else match[0]

    return re.sub(r"`(\w+)`", value, transition.words)
