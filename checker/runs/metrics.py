"""Metrics over a trace: the value of each metric of the model in every state."""

from __future__ import annotations

from kafkaproof.checker.runs.counterexample import Trace
from kafkaproof.spec.metrics.metric import GAUGE, Metric
from kafkaproof.spec.metrics_catalogue import metrics_of


def metrics_over(trace: Trace) -> list[dict[str, int]]:
    """For each state of a trace, the initial one included, the values of the model's metrics by name."""
    measures, series, before = metrics_of(trace.model), [], None
    values = {measure.metric.name: 0 for measure in measures}
    for step, transition, state in [(None, None, trace.initial), *trace.steps]:
        values = values | {m.metric.name: _value(m, values, before, step, transition, state) for m in measures}
        series.append(values)
        before = state
    return series


def _value(measure, values, before, step, transition, state):
    if measure.metric.kind == GAUGE:
        return int(measure.function(state))
    so_far = values[measure.metric.name]
    if step is None or not measure.counts(transition.function.__name__, step.answer):
        return so_far
    return so_far + (int(measure.function(before, state)) if measure.function else 1)


def changing(series: list[dict[str, int]]) -> list[str]:
    """The names of the metrics that change within a series."""
    return [name for name in series[0] if any(values[name] != series[0][name] for values in series)]


def shown(trace: Trace) -> list[Metric]:
    """The metrics of a trace's model, in the order of their declaration."""
    return [measure.metric for measure in metrics_of(trace.model)]
