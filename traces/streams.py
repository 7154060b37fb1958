"""All streams of a log together: what is in them, what only all of them show, and what nothing explains."""

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import replace
from heapq import merge
from typing import NamedTuple

from spec.language.model import first_paragraph
from spec.properties.topics import not_deleted_while_reassigned
from traces.evidence import Common, Evidence, Gathered
from traces.partitions.explanations import DELETION
from traces.partitions.replay import Explained, explain_changes
from traces.partitions.report import change_text
from traces.recording import Recording
from traces.replay import Result
from traces.topics.context import Gap, Judged
from traces.topics.replay import Streams, explain_topics
from traces.violations import Violation


class Unexplained(NamedTuple):
    """A record that no step of its stream explains; `certain`: nothing before the log could have."""

    zxid: int
    reason: str
    certain: bool


def explain_streams(gathered: Gathered) -> Streams:
    """Explain everything that a log writes to partitions, topics and for reassignments."""
    return together(gathered.common, [explain_stream(evidence) for evidence in gathered.streams.values()])


def explain_stream(evidence: Evidence) -> Streams:
    """Explain everything that is written in one stream."""
    return explain_topics(evidence, explain_changes(evidence))


def together(common: Common, found: list[Streams]) -> Streams:
    """One out of many: in the order of the log, and held to what is common to them.

    A controller has one thread, and one view of /brokers/ids, which only moves forward. Topic ids are unique.
    """
    streams = Streams(
        partitions=sorted((e for each in found for e in each.partitions),
                          key=lambda e: (e.change.zxid, e.change.topic)),
        writes=sorted((w for each in found for w in each.writes), key=lambda judged: judged.write.zxid),
        made=sorted((m for each in found for m in each.made), key=lambda made: made.zxid),
        deletions=sorted((d for each in found for d in each.deletions), key=lambda deletion: deletion.zxid),
        reassignments=sorted((r for each in found for r in each.reassignments), key=lambda r: r.zxid or 0),
        deleting=sorted((e for each in found for e in each.deleting), key=lambda e: e.change.zxid),
        gaps=[gap for each in found for gap in each.gaps],
    )
    for each in found:
        for reign, zxids in each.threads.items():
            streams.threads[reign] = list(merge(streams.threads[reign], zxids))
    streams.partitions, floors = forward(common, streams.partitions)
    streams.overlapping = [each.change.zxid for each in streams.deleting
                           if _is_deletion(each, floors.get(each.change.zxid, 0))]
    streams.writes = _once(streams.writes)
    return streams


def _is_deletion(each: Explained, floor: int) -> bool:
    """Whether nothing but the deletion of its topic explains a change by views that are not older than `floor`."""
    admissible = tuple(e for e in each.explanations if e.view is None or e.view >= floor)
    if not admissible or admissible[0].trigger != DELETION:
        return False
    return not replace(each, explanations=admissible).ambiguous


def forward(common: Common, changes: Iterable[Explained]) -> tuple[list[Explained], dict[int, int]]:
    """Keep the explanations by views not older than what the controller had seen before: these, by zxid, too."""
    found, floors, seen, brokers = [], {}, {}, common.inputs.brokers
    for each in changes:
        views = [e.view for e in each.explanations]
        if not views or each.change.after is None or views == [None] * len(views):
            found.append(each)
            continue
        reign = each.change.reign
        term = common.terms.claimed(*reign)
        floor = floors.get(reign) or brokers.between(term.start, term.start)[0].zxid
        admissible = tuple(e for e in each.explanations if e.view is None or e.view >= floor)
        seen[each.change.zxid] = floor
        if admissible:
            floors[reign] = max(floor, min(floor if e.view is None else e.view for e in admissible))
            found.append(replace(each, explanations=admissible) if len(admissible) < len(views) else each)
        else:
            why = f"its controller had seen the /brokers/ids of {floor:#x} before; each explanation needs an older one"
            found.append(replace(each, explanations=(), text=why, certain=not term.unknown))
    return found, seen


def _once(writes: list[Judged]) -> list[Judged]:
    """Each write once, though several streams judge it: what one of them does not explain is not explained."""
    found: dict[tuple[int, str], Judged] = {}
    for judged in writes:
        key = judged.write.zxid, judged.write.path
        if key not in found or judged.kind is None:
            found[key] = judged
    return list(found.values())


def unexplained(common: Common, streams: Streams) -> list[Unexplained]:
    """What nothing explains, in the order of the log."""
    return sorted([
        *_partitions(streams.partitions), *_writes(streams), *_interruptions(common, streams), *_same_ids(streams)])


def _partitions(found: list[Explained]) -> Iterator[Unexplained]:
    for each in found:
        if not each.explanations:
            yield Unexplained(each.change.zxid, f"partition {change_text(each.change)}: {each.text}", each.certain)


def _writes(streams: Streams) -> Iterator[Unexplained]:
    for judged in streams.writes:
        if judged.kind is None:
            yield Unexplained(judged.write.zxid, f"{judged.stream} stream: {judged.text}", judged.certain)


def _interruptions(common: Common, streams: Streams) -> Iterator[Unexplained]:
    """Writes of controllers that are in the middle of something in another stream."""
    for gap in streams.gaps:
        zxid = _first_inside(gap, streams.threads[gap.reign])
        if zxid is not None and not common.failures.failed(gap.reign[1], gap.after, zxid):
            yield Unexplained(zxid, f"{gap.stream} stream: a write elsewhere: {gap.text}", True)


def _first_inside(gap: Gap, zxids: list[int]) -> int | None:
    place = bisect_right(zxids, gap.after)
    return zxids[place] if place < len(zxids) and zxids[place] < gap.before else None


def _same_ids(streams: Streams) -> Iterator[Unexplained]:
    seen: set[str] = set()
    for made in streams.made:
        if made.id is not None and made.first == 0:
            if made.id in seen:
                yield Unexplained(
                    made.zxid, f"topic stream: topic id {made.id} of {made.topic} is another topic's", True)
            seen.add(made.id)


def settle(common: Common, result: Result, streams: Streams, recording: Recording) -> None:
    """Let the streams count for the result of a replay: where it diverges, and what is undecided."""
    found = unexplained(common, streams)
    certain = [each for each in found if each.certain]
    if certain and (result.divergence is None or certain[0].zxid < result.divergence[0]):
        transaction = next(t for t in recording.transactions if t.zxid == certain[0].zxid)
        result.diverge(transaction, certain[0].reason)
    elif found and not result.divergence and not result.undecided:
        result.undecided = f"{found[0].zxid:#x}: what was before the log is unknown, {found[0].reason}"
    result.told = {judged.write.zxid: judged.kind for judged in streams.writes if judged.kind}
    best = {each.change.zxid: each.explanations[0] for each in streams.partitions if each.explanations}
    result.told |= {zxid: f"{first.strategy}: {first.trigger}" for zxid, first in best.items()}


def flaws(streams: Streams) -> list[Violation]:
    """Properties that no version of Kafka keeps, as the specification's models do not, and that these records break."""
    zxids = streams.overlapping
    return [Violation("T3", first_paragraph(not_deleted_while_reassigned), zxids[0], len(zxids))] if zxids else []
