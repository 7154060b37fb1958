"""The streams of partitions, topics and reassignments: all that a log says of them, and what nothing explains."""

from collections.abc import Iterator
from typing import NamedTuple

from spec.language.model import first_paragraph
from spec.properties.topics import not_deleted_while_reassigned
from traces.evidence import Evidence
from traces.partitions.replay import Explained, explain_changes
from traces.partitions.report import change_text
from traces.recording import Recording
from traces.replay import Result
from traces.topics.replay import Streams, explain_topics
from traces.violations import Violation


class Unexplained(NamedTuple):
    """A record that no step of its stream explains; `certain`: nothing before the log could have."""

    zxid: int
    reason: str
    certain: bool


def explain_streams(evidence: Evidence) -> Streams:
    """Explain everything that a recording writes to partitions, topics and for reassignments."""
    return explain_topics(evidence, explain_changes(evidence))


def unexplained(streams: Streams) -> list[Unexplained]:
    """What nothing explains, in the order of the log."""
    return sorted([*_partitions(streams.partitions), *_writes(streams)])


def _partitions(found: list[Explained]) -> Iterator[Unexplained]:
    for each in found:
        if not each.explanations:
            yield Unexplained(each.change.zxid, f"partition {change_text(each.change)}: {each.text}", each.certain)


def _writes(streams: Streams) -> Iterator[Unexplained]:
    for judged in streams.writes:
        if judged.kind is None:
            yield Unexplained(judged.write.zxid, f"{judged.stream} stream: {judged.text}", judged.certain)


def settle(result: Result, streams: Streams, recording: Recording) -> None:
    """Let the streams count for the result of a replay: where it diverges, and what is undecided."""
    found = unexplained(streams)
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
