"""The requests to reassign in /admin/reassign_partitions, as controllers take them away."""

from kafkaproof.traces.evidence.state_changes import Partition
from kafkaproof.traces.evidence.writes import Form, Write
from kafkaproof.traces.explain.topics.context import Context
from kafkaproof.traces.explain.topics.memory import Memory
from kafkaproof.traces.zookeeper.znodes.json_parts import entries_in

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
        kept = {p: t for p, t in gone.items() if not self._is_idle(memory, p, t, write.zxid, begun)}
        return f"{self.text(kept)} is taken out before its reassignment is finished" if kept else None

    def _is_idle(self, memory: Memory, partition: Partition, target: tuple[int, ...], zxid: int, begun: int) -> bool:
        """Whether a request needs nothing, cannot be carried out, or may not have been read (up to 2.3).

        Once somebody else has deleted the list, its controller does not hear of the next: the watch is not armed again.
        """
        topic, number = partition
        tree = self._context.world.topics.get(topic)
        known = memory.of(partition, zxid)
        if not known or any(assignment.replicas == target for assignment in known):
            return True
        state = tree.states.get(number) if tree else None
        newer = state is not None and state.controller_epoch > memory.term.epoch
        queued = self._context.deletions.queued_at(memory.term, topic, zxid) is not None
        asked = memory.asked_at(partition, zxid)
        unread = asked > begun or any(memory.term.start < other < asked for other in self._context.withdrawn)
        return state is None or newer or queued or unread
