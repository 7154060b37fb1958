"""The incidents on the page of a replay, and the cluster at each of them, at the end, and at a moment that was asked for."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from kafkaproof.traces.reading.recording import Recording
from kafkaproof.traces.report.incidents import SHOWN, Incident, by_kind
from kafkaproof.traces.report.log import Report
from kafkaproof.traces.report.moment import HEADINGS, ClusterAt, Placed, clusters_at

MOST_MOMENTS, MOST_ROWS = 24, 20_000
"""So many moments at most, and so many partitions of all of them."""


@dataclass(frozen=True)
class Clusters:
    """What is to be read to show the cluster: the whole recording, its chroot, the record that was asked for, the partitions."""

    recording: Recording
    root: str
    asked: int | None
    wanted: Callable[[Placed], bool]


def incidents_as_json(incidents: Iterable[Incident]) -> list[dict]:
    """Each kind with its incidents, those that are told at first and the others, and its ways out."""
    return [
        {
            "kind": of_kind.kind,
            "incidents": [{"line": each.line, **each.as_json()} for each in of_kind.incidents],
            "first": SHOWN,
            "ways_out": of_kind.ways_out,
        }
        for of_kind in by_kind(incidents)
    ]


def clusters_as_json(clusters: Clusters, report: Report) -> dict:
    """The cluster at each moment of the page, in the order of time; `asked` and `last` are places among them."""
    names: dict[int, str] = {}
    for each in report.incidents:
        if each.began.zxid and len(names) < MOST_MOMENTS:
            names.setdefault(each.began.zxid, each.kind)
    last = int(clusters.recording.zxids[-1])
    names[last] = "the last record"
    if clusters.asked is not None:
        names[clusters.asked] = "asked for"
    found = list(clusters_at(clusters.recording, clusters.root, names, clusters.wanted))
    chosen = last if clusters.asked is None else clusters.asked
    return {
        "headings": HEADINGS,
        "moments": [_moment(each, names[each.zxid], MOST_ROWS // len(found)) for each in found],
        "chosen": f"{chosen:#x}",
        "asked": clusters.asked is not None,
    }


def _moment(cluster: ClusterAt, name: str, most: int) -> dict:
    """The cluster at a moment; of too many partitions those with trouble first."""
    placed = cluster.partitions
    if len(placed) > most:
        placed = sorted(placed, key=lambda each: not each.trouble(cluster.brokers))[:most]
    return {
        "zxid": f"{cluster.zxid:#x}",
        "name": name,
        "time": cluster.time,
        "lines": cluster.lines,
        "rows": [cluster.row(each) for each in placed],
        "left_out": len(cluster.partitions) - len(placed),
    }
