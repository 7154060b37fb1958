"""What happened in one stream of a log, and in all of them together."""

from collections.abc import Iterable
from dataclasses import dataclass

from traces.evidence import Evidence
from traces.facts.expectations import EXPECTATIONS, Broken, broken_by
from traces.facts.leaderless import Leaderless, alone, is_unclean, loses_leader, without_leader
from traces.facts.reigns import Written, written_by
from traces.partitions.changes import Change
from traces.topics.history import Deletion


@dataclass
class StreamFacts:
    """Unclean elections, times without a leader, what controllers wrote, what might be expected and was not so.

    `lost`: how many states took the leader from a partition; `kept_alone`: how many kept only that leader in the ISR.
    """

    unclean: list[Change]
    leaderless: list[Leaderless]
    lost: int
    kept_alone: int
    written: list[Written]
    broken: list[Broken]


def facts_in(evidence: Evidence, deletions: list[Deletion]) -> StreamFacts:
    """The facts of one stream, of whose topics these are the deletions."""
    changes = evidence.changes.all
    lost = [change for change in changes if loses_leader(change)]
    written = written_by(evidence.controllers, changes, [])
    return StreamFacts(
        [change for change in changes if is_unclean(change)], without_leader(changes, deletions), len(lost),
        sum(alone(change) for change in lost), [each for each in written if each.states], broken_by(evidence))


def facts_together(found: Iterable[StreamFacts]) -> StreamFacts:
    """The facts of all streams, in the order of the log."""
    whole = StreamFacts([], [], 0, 0, [], [])
    written: dict[tuple[int, int | None], Written] = {}
    broken: dict[str, Broken] = {}
    for each in found:
        whole.unclean += each.unclean
        whole.leaderless += each.leaderless
        whole.lost, whole.kept_alone = whole.lost + each.lost, whole.kept_alone + each.kept_alone
        for reign in each.written:
            written.setdefault((reign.epoch, reign.session), reign.nothing()).add(reign)
        for one in each.broken:
            known = broken.setdefault(one.text, Broken(one.text, one.zxid))
            known.zxid, known.count = min(known.zxid, one.zxid), known.count + one.count
    whole.unclean.sort(key=lambda change: (change.zxid, change.topic))
    whole.leaderless.sort(key=lambda time: time.zxid)
    whole.written, whole.broken = list(written.values()), [broken[text] for text in EXPECTATIONS if text in broken]
    return whole
