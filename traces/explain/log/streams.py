"""All streams of a log together: what is in them, what only all of them show, and what nothing explains."""

from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import NamedTuple

import numpy as np

from kafkaproof.spec.language.model import first_paragraph
from kafkaproof.spec.partition.reassignment.properties import not_deleted_while_reassigned
from kafkaproof.traces.basics.columns import ByZxid, Rows
from kafkaproof.traces.basics.tasks import Here, shown
from kafkaproof.traces.evidence.features import Features
from kafkaproof.traces.evidence.streams import Common, Gathered
from kafkaproof.traces.explain.election.result import Result
from kafkaproof.traces.explain.election.violations import Violation
from kafkaproof.traces.explain.facts.stream import facts_together
from kafkaproof.traces.explain.log.missing_writes import Owed
from kafkaproof.traces.explain.log.stream import Found, changes_in, explain_stream
from kafkaproof.traces.explain.log.view_order import Floors
from kafkaproof.traces.explain.omissions.first_writes import Missing
from kafkaproof.traces.explain.partitions.explained import Explained, is_ambiguous
from kafkaproof.traces.explain.partitions.ways import DELETION
from kafkaproof.traces.explain.topics.context import TOPIC, Gap, Judged
from kafkaproof.traces.integrity.contradictions import Contradiction, contradictions_in
from kafkaproof.traces.reading.recording import Recording

_NONE = np.zeros(0, np.int64)


class Unexplained(NamedTuple):
    """A record that no step of its stream explains; `certain`: nothing before the log could have.

    `found`: what shows it; None where that is no state of a partition or a topic.
    """

    zxid: int
    reason: str
    certain: bool
    found: Explained | Judged | Gap | Missing | None = None


def explain_streams(gathered: Gathered, work: Here = Here()) -> "Streams":
    """Explain everything that a log writes to partitions, topics and for reassignments.

    The longest stream comes first, so that no long one is left for the end.
    """
    common = work.shared(gathered.common)
    kept = sorted(gathered.streams.kept.values(), key=lambda each: each.size, reverse=True)
    found = work.each(kept, lambda each: explain_stream(each.evidence(common.value)), shown("streams"))
    return Streams(gathered, sorted(found, key=lambda each: each.name))


class Streams:
    """Every change of a partition's state, every other write to topics, and what became of them.

    They are held to what is common to them: a controller has one thread, and one view of /brokers/ids, which only moves
    forward; topic ids are unique. `gathered`: the log, taken apart; `best`: the first explanation of each change that has
    one, by zxid; `ways`: how many changes have the same explanations; `strange`: the changes without any; `kinds`: how
    many writes are of each stream and kind; `told`: the kind of each write, by its zxid; `odd`: the writes that nothing
    explains; `overlapping`: the zxids of the changes by which a deletion has gone on during a reassignment (T3).
    """

    def __init__(self, gathered: Gathered, found: list[Found]):
        self.gathered, self._found = gathered, found
        self.made = sorted((m for each in found for m in each.judged.made), key=lambda made: made.zxid)
        self.deletions = sorted((d for each in found for d in each.judged.deletions), key=lambda d: d.zxid)
        self.reassignments = sorted((r for each in found for r in each.judged.reassignments), key=lambda r: r.zxid or 0)
        self.gaps = [gap for each in found for gap in each.judged.gaps]
        self.facts = facts_together(each.facts for each in found)
        self._join_changes()
        self._join_writes()

    def stream_of(self, found: Gap | Judged) -> str:
        """The name of the stream in which a controller is in the middle of something, or which does not explain a write."""
        return next(
            each.name
            for each in self._found
            if (found in each.judged.gaps if isinstance(found, Gap) else each.odd.get(found.write.number) is found)
        )

    @property
    def common(self) -> Common:
        """What all streams share."""
        return self.gathered.common

    @property
    def features(self) -> Features:
        """What the log was held to."""
        return self.gathered.common.features

    def _join_changes(self) -> None:
        deleting = sorted((e for each in self._found for e in each.judged.deleting), key=lambda e: e.change.zxid)
        self._floors = Floors(self.gathered.common, self._found, {each.change.zxid for each in deleting})
        self.overlapping = [
            each.change.zxid for each in deleting if _is_deletion(each, self._floors.seen.get(each.change.zxid, 0))
        ]
        self.changes, self.best = len(self._floors.zxids), self._floors.best()
        self.ways: Counter = self._floors.counts()
        strange = [each for found in self._found for each in found.strange.values()]
        for number, place, text, certain in self._floors.failed:
            change = changes_in(self.gathered.streams[self._found[number].name])[place]
            strange.append(Explained(change, text=text, certain=certain))
        self.strange = sorted(strange, key=lambda each: (each.change.zxid, each.change.topic))

    def _join_writes(self) -> None:
        """Each write once, though several streams judge it: what one of them does not explain is not explained."""
        self.odd: list[Judged] = [
            judged
            for _, judged in sorted(
                {number: judged for found in self._found for number, judged in found.odd.items()}.items()
            )
        ]
        odd, seen = {judged.write.number for judged in self.odd}, set()
        self.kinds: Counter = Counter((judged.stream, None) for judged in self.odd)
        told = Rows("qr")
        shared = _numbers_in_several([found.writes.columns[0] for found in self._found])
        for found in self._found:
            for number, zxid, (stream, kind) in found.writes:
                if number in odd or number in seen:
                    continue
                if number in shared:
                    seen.add(number)
                self.kinds[stream, kind] += 1
                told.append(zxid, kind)
        self.told: ByZxid[str] = ByZxid.of(told)

    @cached_property
    def owed(self) -> Owed:
        """What controllers had to write, and did not."""
        return Owed(self.gathered, self._found, self._floors)

    @property
    def ambiguous(self) -> int:
        """How many changes have several explanations that need no more than the first."""
        return sum(count for explanations, count in self.ways.items() if is_ambiguous(explanations))

    @cached_property
    def threads(self) -> dict[tuple[int, int], np.ndarray]:
        """The zxids of the writes of each controller for which it matters, by epoch and session."""
        return {
            term_key: np.sort(np.concatenate([each.threads.get(term_key, _NONE) for each in self._found]))
            for term_key in {gap.term_key for gap in self.gaps}
        }

    @cached_property
    def partitions(self) -> list[Explained]:
        """All changes with their explanations, in the order of the log."""
        strange = {(each.change.zxid, each.change.partition): each for each in self.strange}
        found = [
            strange.get((change.zxid, change.partition)) or Explained(change, explanations)
            for number, each in enumerate(self._found)
            for change, explanations in zip(changes_in(self.gathered.streams[each.name]), self._floors.of(number))
        ]
        return sorted(found, key=lambda each: (each.change.zxid, each.change.topic))

    @cached_property
    def writes(self) -> list[Judged]:
        """All other writes and what they are, in the order of the log."""
        found = {judged.write.number: judged for judged in self.odd}
        for each in self._found:
            writes = {write.number: write for write in self.gathered.streams[each.name].writes}
            writes |= {write.number: write for write in self.gathered.common.requests}
            for number, _, (stream, kind) in each.writes:
                found.setdefault(number, Judged(writes[number], stream, kind))
        return [found[number] for number in sorted(found)]


def _numbers_in_several(columns: list) -> set[int]:
    """The numbers that are in more than one column."""
    numbers, counts = np.unique(
        np.concatenate([np.frombuffer(c, np.int64) for c in columns if c] or [_NONE]), return_counts=True
    )
    return set(numbers[counts > 1].astype(int).tolist())


def _is_deletion(each: Explained, floor: int) -> bool:
    """Whether nothing but the deletion of its topic explains a change by views that are not older than `floor`."""
    admissible = tuple(e for e in each.explanations if e.view is None or e.view >= floor)
    if not admissible or admissible[0].trigger != DELETION:
        return False
    return not is_ambiguous(admissible)


def unexplained(common: Common, streams: Streams) -> list[Unexplained]:
    """What nothing explains, in the order of the log; of one record that another is missing before it comes first."""
    found = [
        *(Unexplained(each.zxid, each.text, True, each) for each in streams.owed.missing),
        *sorted(
            [*_partitions(streams), *_writes(streams), *_interruptions(common, streams), *_same_ids(streams)],
            key=lambda each: each[:3],
        ),
    ]
    return sorted(found, key=lambda each: each.zxid)


def _partitions(streams: Streams) -> Iterator[Unexplained]:
    for each in streams.strange:
        yield Unexplained(each.change.zxid, f"partition {each.change.text}: {each.text}", each.certain, each)


def _writes(streams: Streams) -> Iterator[Unexplained]:
    for judged in streams.odd:
        yield Unexplained(judged.write.zxid, f"{judged.stream} stream: {judged.text}", judged.certain, judged)


def _interruptions(common: Common, streams: Streams) -> Iterator[Unexplained]:
    """Writes of controllers that are in the middle of something in another stream."""
    for gap in streams.gaps:
        zxid = _first_inside(gap, streams.threads[gap.term_key])
        session, guarded, deleting = gap.term_key[1], common.features.guarded, gap.stream == TOPIC
        if zxid is not None and not common.failures.failed(session, gap.after, zxid, guarded, deleting):
            yield Unexplained(zxid, f"{gap.stream} stream: a write elsewhere: {gap.text}", True, gap)


def _first_inside(gap: Gap, zxids: np.ndarray) -> int | None:
    place = np.searchsorted(zxids, gap.after, "right")
    return int(zxids[place]) if place < len(zxids) and zxids[place] < gap.before else None


def _same_ids(streams: Streams) -> Iterator[Unexplained]:
    seen: set[str] = set()
    for made in streams.made:
        if made.id is not None and made.first == 0:
            if made.id in seen:
                yield Unexplained(
                    made.zxid, f"topic stream: topic id {made.id} of {made.topic} is another topic's", True
                )
            seen.add(made.id)


def settle(
    common: Common, result: Result, streams: Streams, recording: Recording, contradictions: Iterable[Contradiction] = ()
) -> None:
    """Let the streams count for the result of a replay: where it diverges, and what is undecided.

    So do records that cannot have been written: those that the recording shows, and other `contradictions`. Only of the
    former no missing record can be the reason.
    """
    certainly = contradictions_in(recording, common.members)
    wrong = min([*certainly, *contradictions], default=None)
    if wrong and (result.divergence is None or wrong.zxid <= result.divergence[0]):
        result.diverge(next(t for t in recording.transactions if t.zxid >= wrong.zxid), wrong.text, by_a_state=False)
    found = unexplained(common, streams)
    certain = [each for each in found if each.certain]
    if certain and (result.divergence is None or certain[0].zxid < result.divergence[0]):
        transaction = next(t for t in recording.transactions if t.zxid == certain[0].zxid)
        result.diverge(transaction, certain[0].reason)
    elif found and not result.divergence and not result.undecided:
        result.undecided = f"{found[0].zxid:#x}: what was before the log is unknown, {found[0].reason}"
    if result.divergence and result.divergence not in certainly and (missing := recording.missing_before(result.last)):
        result.doubt(missing)
    result.told = streams.best.mapped(lambda best: f"{best.strategy}: {best.trigger}").over(streams.told)


def flaws(streams: Streams) -> list[Violation]:
    """Properties that no version of Kafka keeps, as the specification's models do not, and that these records break."""
    zxids = streams.overlapping
    return [Violation("T3", first_paragraph(not_deleted_while_reassigned), zxids[0], len(zxids))] if zxids else []
