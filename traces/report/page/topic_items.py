"""The items of topics and partitions: leaders, ISRs, times of worry, reassignments, creations and deletions."""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator

from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.traces.evidence.state_changes import Change, Partition
from kafkaproof.traces.explain.facts.leaderless import is_unclean
from kafkaproof.traces.explain.log.streams import Streams
from kafkaproof.traces.explain.partitions.explained import Explained
from kafkaproof.traces.explain.topics.history import Deletion
from kafkaproof.traces.explain.topics.topic_writes import ADDED, CREATED, EXPLICIT
from kafkaproof.traces.metrics.rules import NOTHING
from kafkaproof.traces.metrics.series import Series
from kafkaproof.traces.reading.times import Times
from kafkaproof.traces.report.page.items import REASSIGNMENT, Item, Lane

TOPICS = "Topics and partitions"
_WORRIES = {
    "offline_partitions": ("offline", "no live leader"),
    "under_min_isr": ("under-min", "the ISR is smaller than min.insync.replicas"),
    "under_replicated": ("under-replicated", "the ISR is smaller than the replicas"),
}
_CREATED = (CREATED, ADDED, f"{CREATED}{EXPLICIT}", f"{ADDED}{EXPLICIT}")
_CONFIGURED = ("topic configured", "configuration deleted")


def lane_of(partition: Partition) -> Lane:
    """The lane of a partition."""
    topic, number = partition
    return Lane(TOPICS, f"{topic}-{number}", topic, number)


def leader_items(streams: Streams, times: Times) -> Iterator[Item]:
    """Who led each partition, from when to when."""
    gone = defaultdict(list)
    for deletion in streams.deletions:
        if deletion.gone is not None:
            gone[deletion.topic].append(deletion.gone)
    led: dict[Partition, list[tuple[int, int]]] = defaultdict(list)
    for change in (each.change for each in streams.partitions):
        spans = led[change.partition]
        if change.before and not spans:
            spans.append((change.since, change.before.leader))
        leader = change.after.leader if change.after else NOBODY
        if not spans or change.before is None or spans[-1][1] != leader:
            spans.append((change.zxid, leader))
    for partition, spans in led.items():
        for (start, leader), following in zip(spans, [*(zxid for zxid, _ in spans[1:]), None]):
            if leader != NOBODY:
                yield _leader(partition, leader, start, _first(gone[partition[0]], start, following), times)


def _first(gone: list[int], start: int, following: int | None) -> int | None:
    """What ends a leader's time first: the end of its topic, or what follows; None for neither."""
    place = bisect_left(gone, start)
    ends = [zxid for zxid in (*gone[place : place + 1], following) if zxid is not None]
    return min(ends, default=None)


def _leader(partition: Partition, leader: int, start: int, end: int | None, times: Times) -> Item:
    zxids = (start,) if end is None else (start, end)
    last = times.ended if end is None else times.at(end)
    return Item(lane_of(partition), "leader", times.at(start), f"led by {leader}", zxids, last, (leader,))


def change_items(streams: Streams) -> Iterator[Item]:
    """Elections, and what became of ISRs, each with what explains it."""
    for each in streams.partitions:
        change = each.change
        named = (change.after.leader, *change.after.isr) if change.after else ()
        brokers = tuple(dict.fromkeys(broker for broker in named if broker != NOBODY))
        yield Item(lane_of(change.partition), _kind(change), change.time, _text(each), (change.zxid,), brokers=brokers)


def _kind(change: Change) -> str:
    before, after = change.before, change.after
    if is_unclean(change):
        return "unclean"
    if after is None or after.leader == NOBODY:
        return "lost" if before and before.leader != NOBODY else "state"
    if before is None or before.leader != after.leader:
        return "election"
    old, new = set(before.isr), set(after.isr)
    return "state" if old == new else "isr-expand" if new > old else "isr-shrink"


def _text(each: Explained) -> str:
    told = each.change.text.partition(" ")[2]
    if not each.explanations:
        return f"{told}: unexplained: {each.text}"
    ways = list(dict.fromkeys(f"{e.strategy} ({e.trigger})" for e in each.explanations))
    return f"{told}: {' or '.join(ways)}"


def worry_items(series: Series) -> Iterator[Item]:
    """When partitions had no live leader, or too small an ISR: by what each counts for in the metrics."""
    standing: dict[tuple[Partition, str], tuple[int, int]] = {}
    for zxid, time, partition, counted in [*series.counted, *_nothing(series)]:
        for name, (kind, text) in _WORRIES.items():
            key = partition, name
            if getattr(counted, name) and key not in standing:
                standing[key] = zxid, time
            elif not getattr(counted, name) and key in standing:
                begun, since = standing.pop(key)
                yield Item(lane_of(partition), kind, since, text, tuple(z for z in (begun, zxid) if z), time)


def _nothing(series: Series) -> Iterator[tuple]:
    """At the end of the log nothing counts any more."""
    for partition in dict.fromkeys(each[2] for each in series.counted):
        yield 0, series.ended, partition, NOTHING


def reassignment_items(streams: Streams, times: Times) -> Iterator[Item]:
    """Each reassignment from the first write that it takes to the last; one that is not begun at the end of the log."""
    for each in streams.reassignments:
        start = times.ended if each.zxid is None or each.time is None else each.time
        end = times.ended if each.ended_time is None else each.ended_time
        yield Item(
            lane_of(each.partition),
            REASSIGNMENT,
            min(start, end),
            f"from {list(each.before)} to {list(each.target)}, asked for by {each.asked}: {each.outcome}",
            tuple(zxid for zxid in (each.zxid, each.ended) if zxid is not None),
            end,
            tuple(dict.fromkeys((*each.before, *each.target))),
        )


def topic_items(streams: Streams, times: Times) -> Iterator[Item]:
    """What was written to topics but for states: creations, deletions from the request on, configurations."""
    for judged in streams.writes:
        write = judged.write
        if write.place.topic:
            kind = "created" if judged.kind in _CREATED else "config" if judged.kind in _CONFIGURED else "topic-write"
            brokers = () if write.broker is None else (write.broker,)
            text = f"{judged.kind}: {write.text}" if judged.kind else f"unexplained: {judged.text}"
            yield Item(
                Lane(TOPICS, write.place.topic, write.place.topic),
                kind,
                write.time,
                text,
                (write.zxid,),
                brokers=brokers,
            )
    for deletion in streams.deletions:
        yield _deletion(deletion, times)


def _deletion(each: Deletion, times: Times) -> Item:
    end = times.ended if each.ended_time is None else each.ended_time
    again = f", begun again {each.retries:,} times" if each.retries else ""
    zxids = tuple(zxid for zxid in (each.zxid, each.gone, each.ended) if zxid is not None)
    return Item(Lane(TOPICS, each.topic, each.topic), "deletion", each.time, f"{each.how}{again}", zxids, end)
