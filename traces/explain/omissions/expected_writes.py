"""What stands in a stream that a controller may have had to write anew, each for some time."""

from bisect import bisect_right
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.traces.basics.columns import Rows, groups
from kafkaproof.traces.basics.versions import NEVER, Version
from kafkaproof.traces.evidence.state_changes import Partition
from kafkaproof.traces.evidence.streams import Evidence
from kafkaproof.traces.zookeeper.znodes.topics import topic_in

_NONE = np.zeros(0, np.int64)


class Debt(NamedTuple):
    """A state that may have had to be written: in a term, the place of which is among all by their starts.

    `since`: when its controller may first have known of it; `until`: when it was written (`paid`), or not wanted any
    more;
    `gone`: of a state the member of its ISR that is not registered since `reason`, NOBODY of a first state, whose
    partition is assigned since `reason`, and of one without a leader that a new controller has written; `made`: whether
    its topic was made then; `stands`: since when the state does, -1 of a first one. Times are zxids.
    """

    term: int
    since: int
    until: int
    gone: int
    reason: int
    made: bool
    paid: bool
    stands: int
    partition: Partition


class DebtNumbers(NamedTuple):
    """The numbers of many debts, a column each, as in `Debt`."""

    term: np.ndarray
    since: np.ndarray
    until: np.ndarray
    gone: np.ndarray
    reason: np.ndarray
    made: np.ndarray
    paid: np.ndarray
    stands: np.ndarray


class Debts:
    """What the controllers of a log may have owed to a stream, and what shows that they have read of its topics.

    `rows`: each a Debt; `made`: the zxid of each first state of a new topic's partition, and of the record that made
    the topic.
    """

    def __init__(self, evidence: Evidence):
        self.rows, self.made = Rows("qqqqqqqqr", Debt), Rows("qq")
        self._terms = evidence.common.terms.by_start
        self._starts = [term.start for term in self._terms]
        self._begins = evidence.common.terms.begins
        self._states(evidence)
        self._first(evidence)

    @property
    def numbers(self) -> DebtNumbers:
        """The rows by columns."""
        return DebtNumbers(*map(self.rows.numbers, range(len(DebtNumbers._fields))))

    def _states(self, evidence: Evidence) -> None:
        """States that stand while a member of their ISR is gone."""
        changes, absent = evidence.changes, evidence.inputs.common.absences
        versions, states = changes.versions, changes.states
        held = states.held[versions.states]
        for code in np.unique(held).tolist():
            rows = np.flatnonzero(held == code)
            since, until = versions.since[rows], versions.until[rows]
            for broker in sorted(states.different[code][1]):
                gone, back = np.array(absent.get(broker, [(0, NEVER)]), np.int64).T
                for each, place in _overlapping(gone, back, since, until):
                    name = changes.names[versions.partitions[rows[place]]]
                    ended, paid = min(until[place], back[each]), bool(until[place] <= back[each])
                    self._owe(int(since[place]), int(ended), broker, int(gone[each]), name, False, paid)

    def _first(self, evidence: Evidence) -> None:
        """Partitions that are assigned and have no state."""
        stands = _by_partition(evidence)
        for topic in evidence.inputs.topics():
            for number, since, until, made in _assigned(evidence.inputs.topic_versions(topic)):
                begins = stands.get((topic, number), _NONE)
                place = np.searchsorted(begins, since, "right")
                first = int(begins[place]) if place < len(begins) else NEVER
                if made and first < until:
                    self.made.append(first, since)
                self._owe(-1, min(first, until), NOBODY, since, (topic, number), made)

    def _owe(
        self, stands: int, until: int, gone: int, reason: int, partition: Partition, made: bool, paid: bool = True
    ) -> None:
        """Note it for each term in which it stands from the time on that the controller may know of it."""
        place = max(bisect_right(self._starts, reason) - 1, 0)
        for number in range(place, len(self._terms)):
            term = self._terms[number]
            if max(term.start, self._begins) >= until:
                return
            since = max(reason, term.start)
            if stands < since < min(term.end, until):
                self.rows.append(number, since, until, gone, reason, made, paid, stands, partition)


def _overlapping(
    begins: np.ndarray, ends: np.ndarray, since: np.ndarray, until: np.ndarray
) -> Iterator[tuple[int, int]]:
    """Which of some intervals, which rise and have nothing in common, overlap with which others: both places."""
    first, last = np.searchsorted(ends, since, "right"), np.searchsorted(begins, until)
    counts = np.maximum(last - first, 0)
    others = np.repeat(np.arange(len(since)), counts)
    found = np.arange(len(others)) - np.repeat(np.cumsum(counts) - counts, counts) + first[others]
    order = np.lexsort([others, found])
    return zip(found[order].tolist(), others[order].tolist())


def _by_partition(evidence: Evidence) -> dict[Partition, np.ndarray]:
    """The zxids since which each partition has had its states, which rise."""
    versions, names = evidence.changes.versions, evidence.changes.names
    return {names[versions.partitions[rows[0]]]: np.sort(versions.since[rows]) for rows in groups(versions.partitions)}


def _assigned(versions: list[Version]) -> Iterator[tuple[int, int, int, bool]]:
    """Each partition of a topic, from when to when it is assigned (zxids), and whether the topic was made with it."""
    open_since: dict[int, tuple[int, bool]] = {}
    for zxid, data in versions:
        found = topic_in(data)
        numbers = found.partitions.keys() if found else set()
        for number in open_since.keys() - numbers:
            since, new = open_since.pop(number)
            yield number, since, zxid, new
        made = not open_since
        for number in numbers - open_since.keys():
            open_since[number] = zxid, made
    for number, (since, new) in open_since.items():
        yield number, since, NEVER, new
