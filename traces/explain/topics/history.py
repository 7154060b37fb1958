"""What became of topics, their deletions, and reassignments in the course of a log."""

from collections.abc import Callable, Collection
from dataclasses import dataclass, field

from kafkaproof.spec.partition.reassignment.reassignment import write_assignment, write_target
from kafkaproof.traces.evidence.state_changes import Change, Partition
from kafkaproof.traces.evidence.topic_trees import World
from kafkaproof.traces.evidence.writes import Write
from kafkaproof.traces.explain.partitions.topic_steps import Step
from kafkaproof.traces.zookeeper.znodes.assignments import Assignment, origin_of, target_of
from kafkaproof.traces.zookeeper.znodes.topics import Topic

STARTED, FINISHED, CANCELLED, REPLACED = "in progress", "finished", "cancelled", "replaced"
REMOVED, WITHDRAWN, WAITING = "topic deleted", "request withdrawn", "not begun"


@dataclass(frozen=True)
class Made:
    """Partitions that somebody made: all of a new topic, or `first` and those behind it of another.

    `broker`: whose session, None for a tool's; `balanced`: as the rule assigns them, else explicitly; `id`: the
    topic's, from 2.8 on.
    """

    topic: str
    zxid: int
    time: int
    broker: int | None
    first: int
    partitions: dict[int, Assignment]
    balanced: bool
    id: str | None = None


@dataclass
class Deletion:
    """A request to delete a topic: when it was made, when the topic was gone, and when the request was dealt with.

    `removals`: how often the last member of each partition's ISR went offline for it; `terms`: of which controllers.
    """

    topic: str
    zxid: int
    time: int
    known: bool
    gone: int | None = None
    ended: int | None = None
    ended_time: int | None = None
    how: str = "waiting"
    removals: dict[int, int] = field(default_factory=dict)
    terms: set[int] = field(default_factory=set)

    @property
    def retries(self) -> int:
        """How often it was begun again, as far as ISRs show it."""
        return max(0, max([*self.removals.values(), len(self.terms)]) - 1) if self.terms else 0


@dataclass
class Reassignment:
    """A reassignment of a partition: from the first write that it takes to the last.

    `asked`: by "znode" (/admin/reassign_partitions) or "request" (2.4+); `outcome`: one of the words above; `zxid`
    is None while its controller has not begun it, and where it did so before the log; `withdrawn`: somebody has
    deleted the znode (2.3 and before), which its controller does not heed, and the next one does.
    """

    partition: Partition
    asked: str
    target: tuple[int, ...]
    zxid: int | None
    time: int | None
    before: tuple[int, ...] = ()
    outcome: str = STARTED
    ended: int | None = None
    ended_time: int | None = None
    withdrawn: bool = False


class History:
    """Collects what became of everything, in the order of the log."""

    def __init__(self, world: World):
        self.made: list[Made] = []
        self.deletions: list[Deletion] = []
        self._deleting: dict[str, Deletion] = {}
        assigned = {
            (name, n): a for name, tree in world.topics.items() if tree.topic for n, a in tree.topic.partitions.items()
        }
        self.moving = {
            p: Reassignment(p, "request", target_of(a), None, None, origin_of(a))
            for p, a in assigned.items()
            if a.adding or a.removing
        }
        self.reassignments = list(self.moving.values())

    def create(self, write: Write, first: int, topic: Topic, balanced: bool) -> None:
        """Partitions were made."""
        new = {number: a for number, a in topic.partitions.items() if number >= first}
        self.made.append(Made(write.place.topic, write.zxid, write.time, write.broker, first, new, balanced, topic.id))

    def ask_deletion(self, write: Write, known: bool) -> None:
        """The deletion of a topic was asked for."""
        deletion = Deletion(write.place.topic, write.zxid, write.time, known)
        self.deletions.append(deletion)
        self._deleting[write.place.topic] = deletion

    def take_offline(self, change: Change, term: int) -> None:
        """A replica went offline while its topic was queued for deletion, in the term that began at a zxid."""
        if deletion := self._deleting.get(change.topic):
            last = len(change.former.isr) == 1
            deletion.removals[change.number] = deletion.removals.get(change.number, 0) + last
            deletion.terms.add(term)

    def delete(self, write: Write) -> None:
        """A topic znode is gone."""
        if deletion := self._deleting.get(write.place.topic):
            deletion.gone = write.zxid
        for partition in [p for p in self.moving if p[0] == write.place.topic]:
            self._end(partition, REMOVED, write)

    def end_deletion(self, write: Write, how: str) -> None:
        """A request to delete is gone."""
        if deletion := self._deleting.pop(write.place.topic, None):
            deletion.ended, deletion.ended_time, deletion.how = write.zxid, write.time, how

    def step(
        self,
        partition: Partition,
        step: Step,
        write: Write,
        known: Assignment,
        target: tuple[int, ...],
        listed: Collection[tuple[int, ...]],
    ) -> None:
        """A controller took a step of a reassignment.

        `known`: the assignment before it; `target`: what it goes by of /admin/reassign_partitions (2.3 and before);
        `listed`: all targets that stand there.
        """
        if step.name == write_assignment.__name__ and not target:
            self._write_assignment(partition, write, known, step.written, listed)
        elif target and (partition not in self.moving or self.moving[partition].target != target):
            self._end(partition, REPLACED, write)
            self._begin(partition, "znode", target, write, origin_of(known))
        if step.name == write_target.__name__:
            self._end(partition, FINISHED, write)

    def _write_assignment(self, partition, write, known, written, listed) -> None:
        target = target_of(written)
        under_way = known.adding or known.removing
        if under_way and not written.adding and not written.removing:
            self._end(partition, CANCELLED, write)
            return
        self._end(partition, REPLACED, write)
        self._begin(partition, "znode" if target in listed else "request", target, write, origin_of(known))

    def _begin(self, partition, asked, target, write, before) -> None:
        new = Reassignment(partition, asked, target, write.zxid, write.time, before)
        self.reassignments.append(new)
        self.moving[partition] = new

    def _end(self, partition: Partition, outcome: str, write: Write) -> None:
        if known := self.moving.pop(partition, None):
            known.outcome = WITHDRAWN if known.withdrawn and outcome != FINISHED else outcome
            known.ended, known.ended_time = write.zxid, write.time

    def withdraw(self) -> None:
        """Somebody has deleted /admin/reassign_partitions (2.3 and before)."""
        for moving in self.moving.values():
            moving.withdrawn = True

    def close(self, world: World, owns: Callable[[str], bool]) -> None:
        """The log ends: what is listed of the stream's own topics, and has not begun, waits."""
        listed = world.listed or {}
        for moving in self.moving.values():
            if moving.withdrawn:
                moving.outcome = WITHDRAWN
        for partition, target in listed.items():
            if partition not in self.moving and owns(partition[0]):
                self.reassignments.append(Reassignment(partition, "znode", target, None, None, outcome=WAITING))
