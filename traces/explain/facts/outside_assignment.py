"""When the ISR of a partition had members that are not assigned: they count for every commit, and cannot be elected."""

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from kafkaproof.traces.basics.columns import distinct
from kafkaproof.traces.basics.versions import NEVER
from kafkaproof.traces.evidence.state_changes import Partition
from kafkaproof.traces.evidence.streams import Evidence
from kafkaproof.traces.explain.facts.remarks import OUTSIDE, STANDS, Remark
from kafkaproof.traces.zookeeper.znodes.assignments import assignment_in


@dataclass
class Outside:
    """A time in which an ISR was not within the assignment; `last`: the ISR at its end.

    `ended` is None where the log ends first; `time` and `lasted` are in ms.
    """

    partition: Partition
    zxid: int
    time: int
    isr: tuple[int, ...]
    last: tuple[int, ...]
    replicas: tuple[int, ...]
    ended: int | None
    lasted: int

    def remark(self) -> Remark:
        """What is told of it."""
        end = f"until {self.ended:#x}" if self.ended else "to the end of the log"
        later = "" if self.last == self.isr else f", at last {list(self.last)}"
        return Remark(
            OUTSIDE,
            self.time,
            self.partition,
            (
                f"ISR {list(self.isr)}{later}, assignment {list(self.replicas)}, for {self.lasted / 1000:,.0f} s, {end}: "
                "who is not assigned is waited for at every commit, and is never elected, not even uncleanly"
            ),
            self.zxid,
        )


def outside_in(evidence: Evidence) -> list[Outside]:
    """All such times in a stream that lasted: a reassignment that is cancelled has one for a moment."""
    changes, versions = evidence.changes, evidence.changes.versions
    held = changes.states.held[versions.states]
    first = evidence.assigned.places(versions.partitions, versions.since)
    last = evidence.assigned.places(versions.partitions, versions.until - 1)
    rows, kinds = distinct(held, first, last)
    is_outside = [
        any(
            assignment is not None and not changes.states.different[code][1] <= {*assignment.replicas}
            for assignment in evidence.assigned.versions[start : end + 1]
        )
        for code, start, end in zip(held[rows].tolist(), first[rows].tolist(), last[rows].tolist())
    ]
    found = np.flatnonzero(np.array(is_outside, bool)[kinds]).tolist()
    times = [each for row in found for each in _times(evidence, row)]
    return [each for each in _joined(times) if each.lasted >= STANDS]


def _joined(times: list[Outside]) -> list[Outside]:
    """What follows one another at once is one time."""
    found: list[Outside] = []
    for each in sorted(times, key=lambda each: (each.partition, each.zxid)):
        if found and (found[-1].partition, found[-1].ended) == (each.partition, each.zxid):
            found[-1].ended, found[-1].last = each.ended, each.last
            found[-1].lasted += each.lasted
        else:
            found.append(each)
    return found


def _times(evidence: Evidence, row: int) -> Iterator[Outside]:
    """The times in which a version of a state was outside, one for each version of the assignment."""
    changes, versions = evidence.changes, evidence.changes.versions
    partition = changes.names[versions.partitions[row]]
    state, since, until = changes.states[versions.states[row]], int(versions.since[row]), int(versions.until[row])
    topics = evidence.inputs.topic_versions(partition[0], since, until - 1)
    for place, version in enumerate(topics):
        assignment = assignment_in(version.value, partition[1])
        begin = max(version.zxid, since)
        end = topics[place + 1].zxid if place + 1 < len(topics) else until
        if assignment and state and not {*state.isr} <= {*assignment.replicas}:
            time, ended = _time_of(evidence, begin), None if end == NEVER else end
            yield Outside(
                partition, begin, time, state.isr, state.isr, assignment.replicas, ended, _time_of(evidence, end) - time
            )


def _time_of(evidence: Evidence, zxid: int) -> int:
    """When a record of the stream was written; the first time for what is before it, the last for what is behind."""
    if zxid == NEVER:
        return evidence.common.inputs.last_time
    place = bisect_right(evidence.writes.zxids, zxid) - 1
    return int(evidence.writes.times[max(place, 0)])
