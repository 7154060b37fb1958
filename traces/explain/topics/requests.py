"""The requests to reassign in /admin/reassign_partitions, as controllers take them away."""

from kafkaproof.traces.evidence.state_changes import Partition
from kafkaproof.traces.evidence.writes import Form, Write
from kafkaproof.traces.explain.topics.asked import takes_request_off
from kafkaproof.traces.explain.topics.context import Context
from kafkaproof.traces.explain.topics.listed import is_taken_off
from kafkaproof.traces.explain.topics.memory import Memory
from kafkaproof.traces.zookeeper.znodes.assignments import Assignment
from kafkaproof.traces.zookeeper.znodes.json_parts import entries_in

LISTED, LISTED_AGAIN = "request list written", "request list written again"
Entries = dict[Partition, tuple[int, ...]]


class Requests:
    """Judges what controllers write to the list."""

    def __init__(self, context: Context):
        self._context = context

    @staticmethod
    def entries(write: Write) -> Entries:
        """What a write leaves in the list."""
        return {} if write.form == Form.DELETE else entries_in(write.data)

    @staticmethod
    def text(entries: Entries) -> str:
        """A list in words."""
        return ", ".join(f"{topic}-{number} {list(target)}" for (topic, number), target in entries.items()) or "nothing"

    def stood(self, first: int, end: int) -> bool:
        """Whether there was a list all the time from zxid `first` to before `end`."""
        return all(version.value for version in self._context.evidence.inputs.common.requests(first, end - 1))

    @staticmethod
    def remain(memory: Memory, zxid: int, own: Partition) -> bool:
        """Whether a controller that is done with a partition knows of other requests, so that it writes the list."""
        return bool(memory.listed(zxid).keys() - {own})

    def why_not(self, memory: Memory, write: Write, own: Partition | None, begun: int) -> str | None:
        """Why a controller does not write this list when it is done with a partition (`own`); None where it does.

        `begun`: the zxid from which it may have been at it. From 2.4 on it takes out what it read in the list, before
        that it writes what it remembers; what is new there it may not have read.
        """
        left = self.entries(write)
        if (write.form == Form.DELETE) != (not left):
            return "an empty list is deleted, another one is not"
        if self._context.features.kip455:
            standing = self._context.world.listed or {}
            added = [p for p, target in left.items() if standing.get(p) != target]
            return f"it puts {self.text({p: left[p] for p in added})} into the list" if added else None
        known = memory.listed(write.zxid)
        strange = {p: target for p, target in left.items() if target not in known.get(p, ()) or p == own}
        if strange:
            return f"its controller does not know {self.text(strange)} as requested and unfinished"
        gone = {p: targets[0] for p, targets in known.items() if p not in left and p != own}
        kept = {
            p: target
            for p, target in gone.items()
            if not self._may_be_unread(memory, p, write.zxid, begun) and not self._is_taken_off(memory, p, write, begun)
        }
        return f"{self.text(kept)} is taken out before its reassignment is finished" if kept else None

    def kind(self, memory: Memory, write: Write, begun: int) -> str:
        """What a list is that a controller writes which is done with no partition in particular: by a step, or once more."""
        left = self.entries(write)
        gone = (p for p in memory.listed(write.zxid) if p not in left)
        taken = takes_request_off(self._context.features) or any(
            self._is_taken_off(memory, p, write, begun) for p in gone
        )
        return LISTED if taken else LISTED_AGAIN

    def _may_be_unread(self, memory: Memory, partition: Partition, zxid: int, begun: int) -> bool:
        """Whether a controller may not have read a request: it is new, or comes behind a list that somebody deleted."""
        asked = memory.asked_at(partition, zxid)
        return asked > begun or any(memory.term.start < other < asked for other in self._context.withdrawn)

    def _is_taken_off(self, memory: Memory, partition: Partition, write: Write, begun: int) -> bool:
        """Whether a controller that takes up a request takes it off the list at once (up to 2.3)."""
        context, (topic, number) = self._context, partition
        tree = context.world.topics.get(topic)
        exists = tree is not None and tree.topic is not None and number in tree.topic.partitions
        asked = context.deletions.queued_at(memory.term, topic, write.zxid) is not None
        scene = context.reassignments.scene(memory.term, partition, write, begun)
        remembered: list[Assignment | None] = [*memory.of(partition, write.zxid)]
        return any(
            is_taken_off(context.steps, known, target, scene, queued, exists)
            for known in remembered or [None]
            for target in memory.listed(write.zxid)[partition]
            for queued in (False, True)[: 1 + asked]
        )
