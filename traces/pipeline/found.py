"""What became of all that was written in one stream, in few bytes a record: a task hands it to the driver."""

from array import array
from dataclasses import dataclass, replace

from traces.evidence import Evidence
from traces.facts.stream import StreamFacts, facts_in
from traces.partitions.changes import Change
from traces.partitions.replay import Explained, explain_changes
from traces.pipeline.columns import Rows
from traces.topics.context import Judged
from traces.topics.replay import Judgements, explain_topics


@dataclass(frozen=True)
class Found:
    """The changes and the other writes of a stream, and what of both nothing explains.

    `changes`: zxid, reign and explanations of each change of a partition's state; `strange`: those without any, by
    their places there; `writes`: number, zxid, and the kind (stream and kind) of each other write; `odd`: those that
    nothing explains, by their numbers; `threads`: the zxids that each controller wrote; `judged`: all that is rare.
    """

    name: str
    changes: Rows
    strange: dict[int, Explained]
    writes: Rows
    odd: dict[int, Judged]
    threads: dict[tuple[int, int], array]
    judged: Judgements
    facts: StreamFacts


def explain_stream(evidence: Evidence) -> Found:
    """Explain everything that is written in one stream."""
    return found_of(evidence, explain_topics(evidence, explain_changes(evidence)))


def found_of(evidence: Evidence, judged: Judgements) -> Found:
    """The judgements of a stream in columns."""
    changes, writes, reigns = Rows("qrr"), Rows("qqr"), {}
    for each in judged.partitions:
        reign = each.change.reign if each.explanations else None
        changes.append(each.change.zxid, reigns.setdefault(reign, reign), each.explanations)
    for each in judged.writes:
        writes.append(each.write.number, each.write.zxid, (each.stream, each.kind))
    return Found(
        evidence.name, changes, {place: e for place, e in enumerate(judged.partitions) if not e.explanations},
        writes, {each.write.number: each for each in judged.writes if each.kind is None},
        {reign: array("q", zxids) for reign, zxids in judged.threads.items()},
        replace(judged, partitions=[], writes=[], threads={}), facts_in(evidence, judged.deletions))


def changes_in(evidence: Evidence) -> list[Change]:
    """The changes of a stream, in the order of the columns."""
    return list({(change.zxid, change.partition): change for change in evidence.changes.all}.values())
