"""The page of metrics says what the specification says, row by row."""

from pathlib import Path

from kafkaproof.spec.metrics import names
from kafkaproof.spec.metrics.metric import Metric
from kafkaproof.spec.metrics_catalogue import SYSTEMS
from kafkaproof.traces.metrics.observer import COUNTERS, GAUGES

PAGE = Path(__file__).parents[2] / "docs" / "metrics.md"


def row(metric: Metric) -> str:
    """A metric as a row of the page."""
    where = [system for system, measures in SYSTEMS.items() if metric in [measure.metric for measure in measures]]
    where += ["replay"] if metric.name in (*GAUGES, *COUNTERS) else []
    kafka = metric.kafka or "none"
    return f"| `{metric.name}` | {metric.kind} | {metric.text} | {kafka} | {metric.alert} | {', '.join(where)} |"


def test_every_metric_has_its_row():
    rows = [row(value) for value in vars(names).values() if isinstance(value, Metric)]
    page = PAGE.read_text(encoding="utf-8").splitlines()
    assert [line for line in page if line.startswith("| `")] == rows
