"""The metrics of a log as a table, and as JSON."""

from dataclasses import dataclass

import numpy as np
from rich.console import Console
from rich.table import Table

from kafkaproof.spec.metrics import names
from kafkaproof.spec.metrics.metric import Metric
from kafkaproof.traces.basics.times import time_of_day
from kafkaproof.traces.metrics.observer import COUNTERS, GAUGES
from kafkaproof.traces.metrics.series import Moment, Series

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
    first: Moment | None
    last: Moment | None
    seconds: float | None
    lasts: bool

    def as_json(self) -> dict:
        """The row as an object of `replay --json`."""
        found = {
            "metric": self.metric.name,
            "kind": self.metric.kind,
            "kafka": self.metric.kafka,
            "alert": self.metric.alert,
            "most": self.most,
            "first": self.first and hex(self.first.zxid),
            "last": self.last and hex(self.last.zxid),
        }
        return found if self.seconds is None else found | {"seconds": self.seconds, "lasts": self.lasts}


def rows_of(series: Series) -> list[Row]:
    """A row for each metric that is a worry in itself, in a fixed order."""
    gauges = [_gauge(series, name) for name in GAUGES if name not in INFORMING]
    return gauges + [_counter(series, name) for name in COUNTERS]


def _gauge(series, name):
    course, first, last, since, worried = series.courses[name], None, None, None, 0
    for moment, is_bad in _worries(series, name):
        if is_bad and since is None:
            first, since = first or moment, moment.time
        elif not is_bad and since is not None:
            last, worried, since = moment, worried + moment.time - since, None
    if since is not None:
        last, worried = None, worried + series.ended - since
    most = max(course.initial, max(course.values, default=course.initial))
    return Row(METRICS[name], most, first, last, worried / 1000, since is not None)


def _worries(series, name):
    """Whether a metric is a worry, from each moment on at which that changes."""
    course, epochs = series.courses[name], series.courses["controller_epoch"]
    wanted = name == "active_controllers"
    numbers = np.union1d(course.samples, epochs.samples) if wanted else np.array(course.samples)
    values = course.at(numbers)
    bad = (epochs.at(numbers) > 0) & (values == 0) if wanted else values > 0
    before = epochs.initial > 0 and course.initial == 0 if wanted else course.initial > 0
    yield Moment(0, series.began), before
    for place in np.flatnonzero(np.diff(bad, prepend=before)).tolist():
        yield series.moments[int(numbers[place])], bool(bad[place])


def _counter(series, name):
    course = series.courses[name]
    grown = np.array(course.samples)[np.diff(np.array(course.values), prepend=course.initial) > 0].tolist()
    first, last = (series.moments[grown[0]], series.moments[grown[-1]]) if grown else (None, None)
    return Row(METRICS[name], course.last, first, last, None, False)


def metrics_as_json(series: Series) -> dict:
    """The object `metrics` of `replay --json`: a sample has the metrics that its record changed."""
    samples = [{"zxid": hex(zxid), "time": time, "values": values} for zxid, time, values in series.changes]
    return {
        "summary": [row.as_json() for row in rows_of(series)],
        "unclean_by_epoch": {str(epoch): count for epoch, count in sorted(series.unclean_by_epoch.items()) if count},
        "initial": series.initial,
        "series": samples,
    }


def print_metrics(out: Console, series: Series) -> None:
    """Print a row for each metric that was ever a worry."""
    table = Table(header_style="bold")
    for name in ("metric", "most", "first at", "until", "for", "what it says"):
        table.add_column(name, justify="right" if name in ("most", "for") else "left")
    rows = [row for row in rows_of(series) if row.first]
    for row in rows:
        over = "the end" if row.lasts else _moment(row.last)
        lasted = "" if row.seconds is None else f"{row.seconds:,.1f} s"
        most = "none" if row.metric.name == "active_controllers" else f"{row.most:,}"
        table.add_row(row.metric.name, most, _moment(row.first), over, lasted, row.metric.text)
    out.print(table)
    if series.unclean_by_epoch.total():
        counts = sorted(series.unclean_by_epoch.items())
        told = ", ".join(f"{count} in epoch {epoch}" for epoch, count in counts if count)
        out.print(f"unclean elections: {told}")


def _moment(sample: Moment | None) -> str:
    """Zxid and time of day (UTC) of a record."""
    if sample is None:
        return ""
    zxid = hex(sample.zxid) if sample.zxid else "begin"
    return f"{zxid} {time_of_day(sample.time)}"
