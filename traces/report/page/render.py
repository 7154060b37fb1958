"""Puts the page together: the items of a report, the records behind them, metrics, and the words on top."""

from collections.abc import Iterator
from pathlib import Path

from kafkaproof.checker.pictures.page import filled
from kafkaproof.traces.groups.replay import Groups
from kafkaproof.traces.metrics.observer import COUNTERS, GAUGES
from kafkaproof.traces.metrics.series import Series
from kafkaproof.traces.reading.times import Times
from kafkaproof.traces.report.log import Followed, Report
from kafkaproof.traces.report.metrics import INFORMING, METRICS
from kafkaproof.traces.report.page.bounds import bounded_items, bounded_lanes
from kafkaproof.traces.report.page.cluster_items import broker_items, controller_items, found_items, request_items
from kafkaproof.traces.report.page.group_items import group_items, group_lines, group_sentence
from kafkaproof.traces.report.page.incidents import Clusters, clusters_as_json, incidents_as_json
from kafkaproof.traces.report.page.items import KINDS, Item, Lane
from kafkaproof.traces.report.page.records import chosen_records, glossary, records_as_json
from kafkaproof.traces.report.page.summary import lines, sentence
from kafkaproof.traces.report.page.topic_items import (
    change_items,
    leader_items,
    reassignment_items,
    topic_items,
    worry_items,
)
from kafkaproof.traces.report.page.wire_lines import wire_lines, wire_sentence
from kafkaproof.traces.wire.verdicts import Judged

OTHER = "Other records"
MOST_POINTS = 2_000
"""So many points of a metric at most."""
SECTIONS = (
    "Found",
    "Controllers",
    "Brokers",
    "Metrics",
    "Topics and partitions",
    "Groups",
    "Requests",
    "More metrics",
    OTHER,
)


def render(
    report: Report, groups: Groups | None = None, clusters: Clusters | None = None, wire: Judged | None = None
) -> str:
    """The page of a report, with its groups where they were followed, the cluster at moments where it is known, and the
    traffic that was judged.
    """
    times = Times(report.recording)
    kept, lost = bounded_lanes([*(group_items(groups, times) if groups else ()), *items_of(report, times)])
    items, cell, raised = bounded_items(kept, times.began, times.ended)
    records = records_as_json(report, chosen_records(items), times.began)
    verdict, weight = sentence(report)
    told = list(lines(report))
    if groups:
        more, grave = group_sentence(groups)
        verdict, weight = verdict + more, max(weight, grave)
        told = sorted([*told, *group_lines(groups)], key=lambda line: -line.weight)
    if wire:
        more, grave = wire_sentence(wire)
        verdict, weight = verdict + more, max(weight, grave)
        told = sorted([*told, *wire_lines(wire)], key=lambda line: -line.weight)
    transactions = report.recording.transactions
    data = {
        "source": str(report.recording.directory),
        "incidents": incidents_as_json(report.incidents),
        "clusters": clusters and clusters_as_json(clusters, report),
        "sentence": verdict,
        "weight": weight,
        "lines": [_line(line) for line in told],
        "problems": [*report.problems, *(_problems(groups) if groups else ()), *(wire.problems if wire else ())],
        "began": times.began,
        "ended": times.ended,
        "count": len(transactions),
        "zxids": [f"{t.zxid:#x}" for t in ((transactions[0], transactions[-1]) if transactions else ())],
        "kinds": [{"id": name, **kind._asdict()} for name, kind in KINDS.items()],
        "sections": SECTIONS,
        **_columns(items, times.began),
        "records": records,
        "glossary": glossary(report),
        "metrics": _metrics(report.metrics, times.began) if report.metrics else [],
        "notes": list(_notes(lost, cell, raised, len(records), len(transactions))),
    }
    return filled(Path(__file__).parent / "report.html", data)


def items_of(report: Report, times: Times) -> list[Item]:
    """All items of a report: each record is behind one at least."""
    if (followed := report.followed) is None:
        lane = Lane(OTHER, "all records")
        return [Item(lane, "other", t.time, t.form(), (t.zxid,)) for t in report.recording.transactions]
    found = [
        *found_items(followed, times),
        *controller_items(followed, times),
        *broker_items(followed, times),
        *request_items(followed),
        *topic_items(followed.streams, times),
        *leader_items(followed.streams, times),
        *change_items(followed.streams),
        *worry_items(followed.metrics),
        *reassignment_items(followed.streams, times),
    ]
    return [*found, *_others(report, followed, {zxid for item in found for zxid in item.zxids})]


def _others(report: Report, followed: Followed, shown: set[int]) -> Iterator[Item]:
    """The records that are behind nothing else, by what they are."""
    for transaction in report.recording.transactions:
        if transaction.zxid not in shown:
            account = followed.audit.accounts.get(transaction.zxid)
            name = "not followed" if account is None else account.name
            broker = followed.result.controllers.broker_of(transaction.session)
            yield Item(
                Lane(OTHER, name),
                "other",
                transaction.time,
                transaction.form(),
                (transaction.zxid,),
                brokers=() if broker is None else (broker,),
            )


def _problems(groups: Groups) -> Iterator[str]:
    yield from groups.problems
    yield from (damage.reason for damage in groups.damage)


def _line(line) -> dict:
    return {"text": line.text, "weight": line.weight, "zxid": None if line.zxid is None else f"{line.zxid:#x}"}


def _columns(items: list[Item], began: int) -> dict:
    """Lanes, texts and items as lists: an item names its lane, kind and text by their places."""
    lanes: dict[Lane, int] = {}
    texts: dict[str, int] = {}
    kinds = {name: place for place, name in enumerate(KINDS)}
    for lane in sorted({item.lane for item in items}, key=_rank):
        lanes[lane] = len(lanes)
    rows = [
        [
            lanes[item.lane],
            kinds[item.kind],
            item.start - began,
            -1 if item.end is None else item.end - item.start,
            texts.setdefault(item.text, len(texts)),
            [f"{zxid:#x}" for zxid in item.zxids],
            item.brokers,
            item.count,
            item.records,
        ]
        for item in sorted(items, key=lambda item: item.start)
    ]
    return {"lanes": [list(vars(lane).values()) for lane in lanes], "texts": list(texts), "items": rows}


def _rank(lane: Lane) -> tuple:
    partition = -1 if lane.partition is None else lane.partition
    return SECTIONS.index(lane.section), lane.topic or "", partition, len(lane.name), lane.name


def _metrics(series: Series, began: int) -> list[dict]:
    """The metrics that ever changed: name, words, points (ms since `began`, value), whether any value is a worry."""
    found = []
    for name in (*GAUGES, *COUNTERS):
        course = series.courses[name]
        points = [[series.began - began, course.initial]]
        points += [[series.moments[n].time - began, value] for n, value in zip(course.samples, course.values)]
        if len(points) > 1:
            metric = METRICS[name]
            found.append(
                {
                    "name": name,
                    "text": metric.text,
                    "alert": metric.alert,
                    "kafka": metric.kafka,
                    "worry": name not in (*INFORMING, *COUNTERS),
                    "points": _thinned(points),
                }
            )
    return found


def _thinned(points: list[list[int]]) -> list[list[int]]:
    """Not more than MOST_POINTS: of each stretch the first, the least, the greatest and the last."""
    if len(points) <= MOST_POINTS:
        return points
    size = -(-len(points) // (MOST_POINTS // 4))
    found = []
    for start in range(0, len(points), size):
        part = points[start : start + size]
        places = {0, len(part) - 1, *(pick(range(len(part)), key=lambda i: part[i][1]) for pick in (min, max))}
        found += [part[place] for place in sorted(places)]
    return found


def _notes(lost: int, cell: int, raised: bool, embedded: int, records: int) -> Iterator[str]:
    """What the page leaves out, and where it is."""
    if lost:
        yield f"{lost:,} lanes with the least trouble are left out"
    if cell:
        yield f"marks that are less than {cell:,} ms apart in their lane are one"
    if raised:
        yield "elections, ISR changes and under-replicated times of partitions are in the lanes of their topics"
    if embedded < records:
        yield (
            f"{embedded:,} of {records:,} records are in this page: kafkaproof replay DIR --events OUT writes "
            "each operation of all of them"
        )
