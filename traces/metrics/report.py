"""The metrics of a log as a table, and as JSON."""

from dataclasses import dataclass
from datetime import datetime, timezone

from rich.console import Console
from rich.table import Table

from spec.metrics import names
from spec.metrics.metric import Metric
from traces.metrics.series import COUNTERS, GAUGES, Sample, Series

METRICS: dict[str, Metric] = {each.name: each for each in vars(names).values() if isinstance(each, Metric)}
INFORMING = ("controller_epoch", "brokers", "topics", "partitions")
"""Gauges whose value is no worry in itself; they are in the series."""


@dataclass(frozen=True)
class Row:
    """One metric over a log.

    Of a gauge `most` is the greatest value, and `seconds` for how long it was a worry: above 0, or, of
    active_controllers, 0 after the first election. Of a counter `most` is the count. `first` and `last` are the records
    of the first and the last worry, or count; `lasts`: it is a worry at the end.
    """

    metric: Metric
    most: int
    first: Sample | None
    last: Sample | None
    seconds: float | None
    lasts: bool

    def as_json(self) -> dict:
        """The row as an object of `replay --json`."""
        found = {
            "metric": self.metric.name, "kind": self.metric.kind, "kafka": self.metric.kafka,
            "alert": self.metric.alert, "most": self.most, "first": self.first and hex(self.first.zxid),
            "last": self.last and hex(self.last.zxid),
        }
        return found if self.seconds is None else found | {"seconds": self.seconds, "lasts": self.lasts}


def rows_of(series: Series) -> list[Row]:
    """A row for each metric that is a worry in itself, in a fixed order."""
    gauges = [_gauge(series, name) for name in GAUGES if name not in INFORMING]
    return gauges + [_counter(series, name) for name in COUNTERS]


def _gauge(series, name):
    states = [Sample(0, series.began, series.initial), *series.samples]
    times = [state.time for state in states[1:]] + [series.ended]
    bad = [_is_worry(state, name) for state in states]
    worried = sum(end - state.time for state, end, is_bad in zip(states, times, bad) if is_bad)
    begun = [state for state, is_bad in zip(states, bad) if is_bad]
    ended = [state for state, was_bad, is_bad in zip(states[1:], bad, bad[1:]) if was_bad and not is_bad]
    last = None if bad[-1] or not ended else ended[-1]
    most = max(state.values[name] for state in states)
    return Row(METRICS[name], most, begun[0] if begun else None, last, worried / 1000, bad[-1])


def _is_worry(state, name):
    if name == "active_controllers":
        return state.values["controller_epoch"] > 0 and state.values[name] == 0
    return state.values[name] > 0


def _counter(series, name):
    values = [series.initial, *(sample.values for sample in series.samples)]
    grown = [s for s, before in zip(series.samples, values) if s.values[name] > before[name]]
    first, last = (grown[0], grown[-1]) if grown else (None, None)
    return Row(METRICS[name], values[-1][name], first, last, None, False)


def metrics_as_json(series: Series) -> dict:
    """The object `metrics` of `replay --json`: a sample has the metrics that its record changed."""
    before, samples = series.initial, []
    for sample in series.samples:
        changed = {name: value for name, value in sample.values.items() if value != before[name]}
        samples.append({"zxid": hex(sample.zxid), "time": sample.time, "values": changed})
        before = sample.values
    return {
        "summary": [row.as_json() for row in rows_of(series)],
        "unclean_by_epoch": {str(epoch): count for epoch, count in sorted(series.unclean_by_epoch.items()) if count},
        "initial": series.initial,
        "series": samples,
    }


def print_metrics(out: Console, series: Series) -> None:
    """Print a row for each metric that was ever a worry."""
    table = Table(header_style="bold")
    for name in ("metric", "most", "first at", "over at", "for", "what it says"):
        table.add_column(name, justify="right" if name in ("most", "for") else "left")
    rows = [row for row in rows_of(series) if row.first]
    for row in rows:
        over = "not over" if row.lasts else _moment(row.last)
        lasted = "" if row.seconds is None else f"{row.seconds:,.1f} s"
        most = "none" if row.metric.name == "active_controllers" else f"{row.most:,}"
        table.add_row(row.metric.name, most, _moment(row.first), over, lasted, row.metric.text)
    out.print(table)
    if series.unclean_by_epoch.total():
        counts = sorted(series.unclean_by_epoch.items())
        told = ", ".join(f"{count} in epoch {epoch}" for epoch, count in counts if count)
        out.print(f"unclean elections: {told}")


def _moment(sample: Sample | None) -> str:
    """Zxid and time of day (UTC) of a record."""
    if sample is None:
        return ""
    moment = datetime.fromtimestamp(sample.time / 1000, timezone.utc)
    zxid = hex(sample.zxid) if sample.zxid else "begin"
    return f"{zxid} {moment:%H:%M:%S}.{sample.time % 1000:03d}"
