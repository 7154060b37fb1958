"""Which reassignment a write of a controller begins or resumes, by the transitions of the specification."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from functools import cache
from itertools import combinations

from kafkaproof.spec.language.plain import Plain
from kafkaproof.traces.evidence.state_changes import Partition
from kafkaproof.traces.evidence.streams import Evidence
from kafkaproof.traces.evidence.terms import ObservedTerm
from kafkaproof.traces.evidence.writes import Write
from kafkaproof.traces.explain.partitions.explained import Explained
from kafkaproof.traces.explain.partitions.strategies import Elected
from kafkaproof.traces.explain.partitions.topic_steps import BATCHES, Scene, Step, TopicSteps
from kafkaproof.traces.explain.topics.memory import Memory
from kafkaproof.traces.explain.topics.work_in_progress import Reassigning
from kafkaproof.traces.zookeeper.znodes.assignments import Assignment, target_of
from kafkaproof.traces.zookeeper.znodes.topics import Topic

_SUBSETS = 3
"""Of up to so many brokers that may be leaving each set is tried, of more none and all."""


class Reassignments:
    """Finds the handlers that controllers may be in, and what these may go by."""

    def __init__(self, evidence: Evidence, steps: TopicSteps):
        self._evidence, self._steps, self._world = evidence, steps, evidence.world
        self._leaving = evidence.leaving
        self._versions = cache(self._versions_of)
        self._first = {
            (name, number): state.isr
            for name, tree in evidence.world.topics.items()
            for number, state in tree.states.items()
            if state
        }

    def scene(self, term: ObservedTerm, partition: Partition, write: Write, last: int) -> Scene:
        """What a controller may go by when it writes something of a partition; `last`: its last write before.

        A term that began before the log may be anywhere.
        """
        topic, number = partition
        state = self._world.topics[topic].states.get(number)
        isrs = self._isrs(partition, write.zxid, last) + [tuple(self._evidence.brokers)] * term.unknown
        return Scene(term.epoch, state, isrs, self._lives(term, write))

    def _stuck(self, term: ObservedTerm) -> list[tuple[str, ...]]:
        """The batches that may be STUCK in a term, which no log shows: in a process that has ruled before, and of a state
        machine that is not seen to write in this term.
        """
        used = set() if term.unknown else self._evidence.common.census.used.get(term.key, set())
        possible = [batch for machine, batch in BATCHES.items() if term.again and machine not in used]
        return [part for size in range(len(possible) + 1) for part in combinations(possible, size)]

    def _isrs(self, partition: Partition, zxid: int, last: int) -> list[tuple[int, ...]]:
        """The ISRs that a controller may have read since its last write, the newest first."""
        zxids, isrs = self._versions(partition)
        first, end = max(bisect_right(zxids, last) - 1, 0), bisect_left(zxids, zxid)
        before = [self._first[partition]] if partition in self._first and (not zxids or last < zxids[0]) else []
        return list(dict.fromkeys([*reversed(isrs[first:end]), *before])) or [()]

    def _versions_of(self, partition: Partition) -> tuple[list[int], list[tuple[int, ...]]]:
        """The zxids at which a partition's state was written, and the ISRs."""
        changes = self._evidence.changes
        rows = changes.of(partition)
        return changes.zxids[rows].tolist(), changes.states.isrs(changes.after[rows])

    def _lives(self, term: ObservedTerm, write: Write) -> list[frozenset[int]]:
        """Whom the controller may take for live: views, without those who may be shutting down or without a disk."""
        found = []
        for view in self._evidence.inputs.brokers.between(term.view_at(write.zxid), write.zxid):
            doubtful = [b for b in sorted(view.value) if self._may_be_offline(b, view.zxid, term, write)]
            sizes = range(len(doubtful) + 1) if len(doubtful) <= _SUBSETS else (0, len(doubtful))
            found += [view.value - set(part) for size in sizes for part in combinations(doubtful, size)]
        return list(dict.fromkeys(found))

    def _may_be_offline(self, broker: int, view: int, term: ObservedTerm, write: Write) -> bool:
        failed = self._evidence.inputs.common.lost_a_log_directory(broker, write.zxid)
        return failed or self._leaving.gone_soon(broker, view, write.time, write.zxid, term.key)

    def by_topic(
        self, memory: Memory, write: Write, topic: Topic, last: int, queued: bool
    ) -> list[tuple[Reassigning, Step]]:
        """The handlers of which a write of the topic znode may be the first, each with its step.

        `queued`: the controller knows that the topic is to be deleted.
        """
        found = []
        for work, scene in self.tried(memory, write, topic, last, queued):
            if taken := work.take(scene, topic.partitions[work.partition[1]]):
                found.append((work, taken[0]))
        return found

    def tried(
        self, memory: Memory, write: Write, topic: Topic, last: int, queued: bool
    ) -> Iterator[tuple[Reassigning, Scene]]:
        """The handlers that may begin with a write of the topic znode, each with what its controller may go by."""
        name = write.place.topic
        for number in self._candidates(memory, name, topic, write.zxid):
            if memory.stranger(name, topic, number, write.zxid) is not None:
                continue
            partition, wanted = (name, number), topic.partitions[number]
            scene = self.scene(memory.term, partition, write, last)
            states = [
                state
                for known in memory.of(partition, write.zxid)
                for state in self._beginnings(memory, partition, known, wanted, scene, write, queued)
            ]
            yield Reassigning(self._steps, partition, last, states), scene

    def _candidates(self, memory: Memory, name: str, topic: Topic, zxid: int) -> list[int]:
        """The partitions that a write of the topic znode may be about: the one that is changed, or any."""
        known = {number: memory.of((name, number), zxid) for number in topic.partitions}
        changed = [number for number, assignment in topic.partitions.items() if assignment not in known[number]]
        return changed[:1] if changed else list(topic.partitions)

    def _beginnings(
        self,
        memory: Memory,
        partition: Partition,
        known: Assignment,
        wanted: Assignment,
        scene: Scene,
        write: Write,
        queued: bool,
    ) -> Iterator[Plain]:
        """The states in which a controller that remembers an assignment may look at a partition."""
        yield from self._resumed(memory, partition, known, scene, write)
        if self._steps.kip455 and wanted != known:
            for stuck in self._stuck(memory.term):
                s = self._steps.at_work(known, scene.state, scene.epoch, stuck=stuck)
                target = target_of(wanted)
                if not wanted.adding and not wanted.removing and (known.adding or known.removing):
                    yield self._steps.cancelled(s, queued)
                listed = target in memory.listed(write.zxid).get(partition, ())
                for live in [frozenset(wanted.replicas)] if listed else scene.lives:
                    if (asked := self._steps.asked(s, target, live, queued)) is not None:
                        yield asked
                        break

    def _resumed(
        self, memory: Memory, partition: Partition, known: Assignment, scene: Scene, write: Write
    ) -> Iterator[Plain]:
        """The states in which a controller looks again at what it knows to be reassigned."""
        for stuck in self._stuck(memory.term):
            if self._steps.kip455:
                yield self._steps.at_work(known, scene.state, scene.epoch, stuck=stuck)
            else:
                for target in memory.listed(write.zxid).get(partition, ()):
                    yield self._steps.at_work(known, scene.state, scene.epoch, target, stuck)

    def by_state(self, memory: Memory, write: Write, each: Explained, last: int) -> tuple[Reassigning, Step] | None:
        """The handler of which a write of a partition's state is the first, and its step."""
        partition, after = each.change.partition, each.change.written
        scene = self.scene(memory.term, partition, write, last)
        for known in memory.of(partition, write.zxid):
            states = list(self._resumed(memory, partition, known, scene, write))
            work = Reassigning(self._steps, partition, last, states)
            if taken := work.take(scene, Elected(after.leader, frozenset(after.isr))):
                return work, taken[0]
        return None
