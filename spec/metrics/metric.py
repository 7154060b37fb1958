"""What a metric is, and how a system gives it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from kafkaproof.spec.language.model import first_paragraph

GAUGE, COUNTER = "gauge", "counter"


@dataclass(frozen=True)
class Metric:
    """A number that an operator watches: a gauge of a state, or a counter over all steps so far.

    `kafka` is the MBean, empty if Kafka has none; `alert` says when to worry.
    """

    name: str
    kind: str
    text: str
    kafka: str
    alert: str


@dataclass(frozen=True)
class Measure:
    """How one system computes a metric, in the little language.

    A gauge is `function(s)`. A counter is the sum of `function(before, after)`, or of 1 without a function, over all
    steps; with `of`, over the steps of the transition functions with these names; with `answers`, over the steps that
    got one of these answers.
    """

    metric: Metric
    function: Callable | None = None
    of: tuple[str, ...] = ()
    answers: tuple[str, ...] = ()

    def counts(self, transition: str, answer: str | None) -> bool:
        """Whether the counter counts a step of a transition function that got an answer."""
        return (not self.of or transition in self.of) and (not self.answers or answer in self.answers)


def gauge(function: Callable, alert: str = "") -> Measure:
    """A metric of a model of one's own that is `function(s)` in each state; `alert` says when to worry."""
    return Measure(_metric(GAUGE, function, alert), function)


def counter(function: Callable, of: tuple[str, ...] = (), alert: str = "") -> Measure:
    """A metric of a model of one's own that grows by `function(before, after)` with each step, or with each step of the
    transition functions named in `of`; `alert` says when to worry.
    """
    return Measure(_metric(COUNTER, function, alert), function, of)


def _metric(kind: str, function: Callable, alert: str) -> Metric:
    return Metric(function.__name__, kind, first_paragraph(function).rstrip("."), "", alert)
