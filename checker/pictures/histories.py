"""Histories: a trace as the pictures draw it, with lanes, arrows, words and the full state of each step."""

from __future__ import annotations

from pathlib import Path

from kafkaproof.checker.liveness.lasso import reasons
from kafkaproof.checker.runs.counterexample import Trace
from kafkaproof.checker.runs.metrics import changing, metrics_over
from kafkaproof.spec.language.drawn import step_drawn
from kafkaproof.spec.language.model import Property
from kafkaproof.spec.language.plain import to_json
from kafkaproof.spec.metrics_catalogue import metrics_of

HISTORY = Path("recording") / "history.json"
"""Where a cluster's directory keeps the history of real brokers that were driven along a counterexample."""


def history_of(trace: Trace, violated: Property | None) -> dict:
    """The history of a trace whose last step, or loop, violates `violated` (its form: `pictures.history`)."""
    model, scope = trace.model, trace.scope
    lanes = model.lanes(scope)
    steps = [
        {**step_drawn(step, transition, lanes), "state": to_json(model.state, after, scope)}
        for step, transition, after in trace.steps
    ]
    if violated and steps and trace.loop is None:
        steps[-1]["violates"] = [violated.name]
    why = reasons(trace, violated) if violated and trace.loop is not None else []
    lasso = {} if trace.loop is None else {"loop": trace.loop, "reasons": why}
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
    """The metrics that change during a trace."""
    series = metrics_over(trace)
    texts = {measure.metric.name: measure.metric.text for measure in metrics_of(trace.model)}
    return [
        {"name": name, "text": texts[name], "values": [values[name] for values in series]} for name in changing(series)
    ]
