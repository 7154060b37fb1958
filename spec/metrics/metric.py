"""What a metric is, and how a system gives it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

GAUGE, COUNTER = "gauge", "counter"


@dataclass(frozen=True)
class Metric:
    """A number that an operator watches: a gauge is of a state, a counter is of all steps so far.

    `kafka` is the MBean, empty where Kafka has none; `alert` says when to worry.
    """

    name: str
    kind: str
    text: str
    kafka: str
    alert: str


@dataclass(frozen=True)
class Measure:
    """How one system gives a metric, in the little language.

    A gauge is `function(s)`. A counter is the sum of `function(before, after)`, or of 1 without a function, over
    all steps; with `of`, over the steps of the transition functions of these names; with `answers`, over those that
    were answered so.
    """

    metric: Metric
    function: Callable | None = None
    of: tuple[str, ...] = ()
    answers: tuple[str, ...] = ()

    def counts(self, transition: str, answer: str | None) -> bool:
        """Whether the counter looks at a step of a transition function that got an answer."""
        return (not self.of or transition in self.of) and (not self.answers or answer in self.answers)
