"""When a partition had no leader, what became of it, and which elections were unclean."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.traces.evidence.state_changes import Change, Partition
from kafkaproof.traces.explain.topics.history import Deletion


@dataclass
class Leaderless:
    """A time in which a partition's state said that nobody leads; `isr` is that of the first such state.

    `ended` is None where the log ends first; `leader` and `unclean`: who leads after it, and whether it was outside
    of the ISR; `removed`: the partition was deleted, or its topic is queued for that.
    """

    partition: Partition
    zxid: int
    time: int
    isr: tuple[int, ...]
    ended: int | None = None
    ended_time: int | None = None
    leader: int | None = None
    unclean: bool = False
    removed: bool = False

    def as_json(self) -> dict:
        """The time as an object of `replay --json`."""
        ended = None if self.ended is None else hex(self.ended)
        return {
            "topic": self.partition[0],
            "partition": self.partition[1],
            "zxid": hex(self.zxid),
            "ended": ended,
            "ms": self.ended_time and self.ended_time - self.time,
            "isr": list(self.isr),
            "leader": self.leader,
            "unclean": self.unclean,
        }


def without_leader(changes: Iterable[Change], deletions: Iterable[Deletion]) -> list[Leaderless]:
    """All such times, in the order of their beginning. A topic counts no more from the request to delete it on.

    `changes`: all after which nobody leads, and all others but those of partitions that somebody has led before.
    """
    standing: dict[Partition, Leaderless] = {}
    found: list[Leaderless] = []
    doomed: set[str] = set()
    for zxid, time, event in sorted(_events(changes, deletions), key=lambda each: each[0]):
        if isinstance(event, Deletion):
            (doomed.add if zxid == event.zxid else doomed.discard)(event.topic)
            for partition in [p for p in standing if p[0] == event.topic]:
                _end(standing.pop(partition), zxid, time).removed = True
        elif event.after and event.after.leader == NOBODY and event.partition not in standing:
            found.append(Leaderless(event.partition, zxid, time, event.after.isr, removed=event.topic in doomed))
            standing[event.partition] = found[-1]
        elif event.after and event.after.leader != NOBODY and event.partition in standing:
            each = _end(standing.pop(event.partition), zxid, time)
            each.leader, each.unclean = event.after.leader, is_unclean(event)
    return found


def _events(changes, deletions) -> Iterator[tuple[int, int, Change | Deletion]]:
    """Changes of states, and the beginning and the end of each deletion, with their zxids and times."""
    yield from ((change.zxid, change.time, change) for change in changes)
    for deletion in deletions:
        yield deletion.zxid, deletion.time, deletion
        if deletion.ended is not None:
            yield deletion.ended, deletion.ended_time, deletion


def _end(each: Leaderless, zxid: int, time: int) -> Leaderless:
    each.ended, each.ended_time = zxid, time
    return each


def is_unclean(change: Change) -> bool:
    """Whether a change elects a leader outside of the ISR that stood."""
    before, after = change.before, change.after
    if before is None or after is None:
        return False
    return after.leader not in (NOBODY, before.leader, *before.isr)


def alone(change: Change) -> bool:
    """Whether a change that takes the leader away keeps nobody else in the ISR."""
    return set(change.written.isr) <= {change.former.leader}
