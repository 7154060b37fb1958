"""What each controller remembers of the assignments, and of the requests to reassign."""

from collections import defaultdict

from kafkaproof.traces.evidence.state_changes import Partition
from kafkaproof.traces.evidence.terms import ObservedTerm
from kafkaproof.traces.evidence.topic_inputs import Inputs
from kafkaproof.traces.zookeeper.znodes.assignments import Assignment
from kafkaproof.traces.zookeeper.znodes.topics import Topic


class Memory:
    """What the controller of one term knows.

    It writes the topic znode from its memory, whatever stands there. So with each of its writes its memory of the topic
    is known; before the first it is any version that stood in its term.
    """

    def __init__(self, term: ObservedTerm, inputs: Inputs):
        self.term, self._inputs = term, inputs
        self._written: dict[str, tuple[int, Topic]] = {}
        self._finished: dict[Partition, int] = defaultdict(int)

    def wrote(self, name: str, zxid: int, topic: Topic) -> None:
        """The controller has written a topic znode."""
        self._written[name] = zxid, topic

    def repeats(self, name: str, topic: Topic, last: int) -> bool:
        """Whether its latest write, that of zxid `last`, was of this topic znode, and wrote the same."""
        return self._written.get(name) == (last, topic)

    def forget(self, name: str) -> None:
        """The topic has been deleted."""
        self._written.pop(name, None)

    def of(self, partition: Partition, zxid: int) -> list[Assignment]:
        """The assignments that it may remember of a partition before a record, the newest first."""
        name, number = partition
        since, topic = self._written.get(name, (self.term.start, None))
        if topic and number in topic.partitions:
            return [topic.partitions[number]]
        versions = self._inputs.assignments(partition, since, zxid - 1)
        return list(dict.fromkeys(version.value for version in reversed(versions)))

    def may_miss(self, partition: Partition, zxid: int) -> bool:
        """Whether it may not know of a partition: it was added since the controller last read the topic."""
        name, number = partition
        since, topic = self._written.get(name, (self.term.start, None))
        if topic:
            return number not in topic.partitions
        return any(number not in numbers for numbers in self._inputs.numbers(name, since, zxid - 1))

    def stranger(self, name: str, topic: Topic, own: int | None, zxid: int) -> int | None:
        """A partition whose assignment in a write is none that it remembers, other than `own`; None if all fit."""
        for number, assignment in topic.partitions.items():
            if number != own and assignment not in self.of((name, number), zxid):
                return number
        present = next(reversed(self._inputs.numbers(name, zxid - 1, zxid - 1)), ())
        return next((n for n in present if n not in topic.partitions and not self.may_miss((name, n), zxid)), None)

    def finish(self, partition: Partition, zxid: int) -> None:
        """A reassignment is finished: requests that were made before are dealt with."""
        self._finished[partition] = zxid

    def listed(self, zxid: int) -> dict[Partition, list[tuple[int, ...]]]:
        """The reassignments that it may know from /admin/reassign_partitions, each with its targets, newest first."""
        found: dict[Partition, list[tuple[int, ...]]] = defaultdict(list)
        for version in reversed(self._inputs.common.requests(self.term.start, zxid - 1)):
            for partition, target in version.value.items():
                if target and max(version.zxid, self.term.start) > self._finished[partition]:
                    if target not in found[partition]:
                        found[partition].append(target)
        return found

    def asked_at(self, partition: Partition, zxid: int) -> int:
        """The zxid at which a reassignment of a partition was last asked for in this term before a record, or 0."""
        versions = self._inputs.common.requests(self.term.start, zxid - 1)
        zxids = [
            version.zxid
            for before, version in zip(versions, versions[1:])
            if partition in version.value and partition not in before.value
        ]
        return max(zxids, default=0)
