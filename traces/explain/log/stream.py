"""What became of all that was written in one stream, in few bytes a record: a task hands it to the driver."""

from array import array
from dataclasses import dataclass, replace

import numpy as np

from kafkaproof.traces.basics.columns import Repeated, Rows
from kafkaproof.traces.evidence.state_changes import Change
from kafkaproof.traces.evidence.streams import Evidence
from kafkaproof.traces.explain.facts.stream import StreamFacts, facts_in
from kafkaproof.traces.explain.omissions.expected_writes import Debts
from kafkaproof.traces.explain.omissions.first_writes import Missing, skipped
from kafkaproof.traces.explain.omissions.same_event import siblings_in
from kafkaproof.traces.explain.partitions.explained import UNEXPLAINED, Explained, ExplainedChanges
from kafkaproof.traces.explain.partitions.replay import explain_changes
from kafkaproof.traces.explain.topics.context import Judged
from kafkaproof.traces.explain.topics.replay import Judgements, explain_topics


@dataclass(frozen=True)
class Found:
    """The changes and the other writes of a stream, and what of both nothing explains.

    `changes`: zxid, term and explanations of each change of a partition's state; `strange`: those without any, by
    their places there; `writes`: number, zxid, and the kind (stream and kind) of each other write; `odd`: those that
    nothing explains, by their numbers; `threads`: the zxids that each controller wrote; `judged`: all that is rare;
    `debts`: what controllers may have owed, `skipped`: what they skipped when they began; `siblings`: what they wrote
    because a broker was gone, or shut down.
    """

    name: str
    changes: Rows
    strange: dict[int, Explained]
    writes: Rows
    odd: dict[int, Judged]
    threads: dict[tuple[int, int], array]
    judged: Judgements
    facts: StreamFacts
    debts: Debts
    skipped: list[Missing]
    siblings: Rows


def explain_stream(evidence: Evidence) -> Found:
    """Explain everything that is written in one stream."""
    explained = explain_changes(evidence)
    return found_of(evidence, explained, explain_topics(evidence, explained))


def found_of(evidence: Evidence, explained: ExplainedChanges, judged: Judgements) -> Found:
    """The judgements of a stream in columns."""
    debts = Debts(evidence)
    changes, writes = evidence.changes, Rows("qqr")
    kept = np.flatnonzero(~changes.overwritten)
    codes, claims = explained.codes[kept], evidence.claims
    terms = np.where(codes == UNEXPLAINED, len(claims.keys), claims.codes[kept])
    columns = changes.zxids[kept], Repeated.of(terms, [*claims.keys, None]), Repeated.of(codes, explained.values)
    for each in judged.writes:
        writes.append(each.write.number, each.write.zxid, (each.stream, each.kind))
    return Found(
        evidence.name,
        Rows.of(*columns),
        {place: explained[kept[place]] for place in np.flatnonzero(codes == UNEXPLAINED).tolist()},
        writes,
        {each.write.number: each for each in judged.writes if each.kind is None},
        {term_key: array("q", zxids) for term_key, zxids in judged.threads.items()},
        replace(judged, writes=[], threads={}),
        facts_in(evidence, judged.deletions),
        debts,
        skipped(evidence, debts),
        siblings_in(evidence, explained),
    )


def changes_in(evidence: Evidence) -> list[Change]:
    """The changes of a stream, in the order of the columns: what one record overwrites is no change."""
    overwritten = evidence.changes.overwritten.tolist()
    return [change for change, again in zip(evidence.changes, overwritten) if not again]
