"""Follows everything that is written to topics and for reassignments, and explains each write by a step."""

from dataclasses import replace
from typing import NamedTuple

from traces.evidence import Evidence
from traces.partitions.explanations import DELETION, REASSIGNMENT
from traces.partitions.replay import Explained
from traces.reigns import Reign
from traces.topics.context import Context, Judged, unexplained
from traces.topics.handlers import Handlers
from traces.topics.history import History
from traces.topics.topic_writes import TopicWrites
from traces.topics.writes import Write
from traces.topics.znodes import topic_in


class Streams(NamedTuple):
    """Every change of a partition's state, every other write to topics, and what became of them.

    `overlapping`: the zxids at which a deletion went on while a partition of the topic was being reassigned (T3).
    """

    partitions: list[Explained]
    writes: list[Judged]
    history: History
    overlapping: list[int]


def explain_topics(evidence: Evidence, explained: list[Explained]) -> Streams:
    """Explain all that was written to topics and for reassignments, with the changes of partition states among it."""
    return _Judge(evidence, explained).run()


class _Judge:
    """Explains the writes of one log in their order."""

    def __init__(self, evidence: Evidence, explained: list[Explained]):
        self._evidence, self._guarded = evidence, evidence.features.guarded
        self._context = Context(evidence, explained)
        self._handlers = Handlers(self._context)
        self._topics = TopicWrites(self._context, self._handlers)
        self._partitions = {(each.change.zxid, each.change.partition): each for each in explained}
        self._overlapping: list[int] = []

    def run(self) -> Streams:
        """Judge all writes."""
        context, judged = self._context, []
        for write in self._evidence.writes.all:
            found = self._judge(write) if write.place else None
            judged += [found] if found else []
            context.creations.note(write)
            context.world.apply(write)
        context.history.close(context.world)
        return Streams(list(self._partitions.values()), judged, context.history, self._overlapping)

    def _judge(self, write: Write) -> Judged | None:
        """Explain one write; None for a partition's state, which is among the partitions."""
        each = None
        if write.place.kind == "state" and write.form != "delete":
            each = self._partitions[write.zxid, (write.place.topic, write.place.number)]
        reign = self._reign(write, each)
        controls = reign is not None and self._is_of_controller(write, each)
        found = self._handlers.goes_on(write, reign, each) if controls else None
        if found is None and each is None:
            found = self._topics.judge(write, reign if controls else None)
        elif found is None and controls:
            found = self._changed(write, reign, each)
        if found and not found.kind:
            found = replace(found, text=f"{found.text}; before it {self._context.world.text(write.place)}")
        if controls:
            self._note(write, reign, each)
        if each:
            self._settle(each, found)
        self._remember(write, found)
        return None if each else found

    def _reign(self, write: Write, each: Explained | None) -> Reign | None:
        """The reign of the controller that wrote this, None if no controller did."""
        if self._guarded and not write.checked:
            return None
        if each and each.change.after:
            return self._evidence.reigns.claimed(*each.change.reign)
        return self._evidence.reigns.of_session(write.session, write.zxid)

    def _is_of_controller(self, write: Write, each: Explained | None) -> bool:
        """Whether the thread of the controller's events wrote this, not one that serves requests, or the leader."""
        if self._guarded:
            return True
        if each:
            before, after = each.change.before, each.change.after
            return before is None or after is None or after.leader_epoch != before.leader_epoch
        if write.place.kind in ("directory", "partition", "state", "reassign"):
            return True
        if write.place.kind == "topic" and write.form == "set":
            topic = topic_in(write.data)
            return topic is None or self._context.creations.expanded(write, topic) is None
        return write.form == "delete" and write.place.kind != "announcement"

    def _changed(self, write: Write, reign: Reign, each: Explained) -> Judged | None:
        """A controller in the middle of nothing changes a partition's state; None where that tells nothing more."""
        if each.change.before is None and self._context.deletions.surely_queued(reign, write.place.topic, write.zxid):
            return unexplained(write, reign, "T3: the topic is queued for deletion, no partition begins")
        if each.change.before is None or each.change.after is None:
            return None
        return self._handlers.resumes(write, reign, each)

    def _note(self, write: Write, reign: Reign, each: Explained | None) -> None:
        """What a controller is seen to know and to have done."""
        self._context.wrote(reign, write.zxid)
        if write.place.topic:
            self._context.deletions.note(reign, write, each and each.change)
        triggers = [e.trigger for e in each.explanations] if each else []
        if DELETION in triggers:
            self._context.history.take_offline(each.change, reign.start)
            if triggers[0] == DELETION and not each.ambiguous and self._is_reassigned(write, reign):
                self._overlapping.append(write.zxid)

    def _is_reassigned(self, write: Write, reign: Reign) -> bool:
        """Whether a controller is reassigning a partition of the topic of a write."""
        name, tree = write.place.topic, self._context.world.topics[write.place.topic]
        assigned = tree.topic.partitions if tree.topic else {}
        if self._context.features.kip455:
            return any(assignment.adding or assignment.removing for assignment in assigned.values())
        listed, moving = self._context.memory(reign).listed(write.zxid), self._context.history.moving
        return any((name, number) in moving and (name, number) in listed for number in assigned)

    def _settle(self, each: Explained, found: Judged | None) -> None:
        """What the handlers say of a partition's change settles which explanations are left."""
        if found is None:
            others = tuple(e for e in each.explanations if e.trigger != REASSIGNMENT)
            settled = replace(each, explanations=others or each.explanations)
        elif found.kind:
            own = tuple(e for e in each.explanations if e.trigger == REASSIGNMENT)
            settled = replace(each, explanations=own or each.explanations)
        else:
            settled = replace(each, explanations=(), text=found.text, certain=found.certain)
        self._partitions[each.change.zxid, each.change.partition] = settled

    def _remember(self, write: Write, found: Judged | None) -> None:
        """What becomes of topics that are deleted, and of the requests for it."""
        if write.form != "delete" or write.place.kind not in ("topic", "marker"):
            return
        if write.place.kind == "topic":
            self._context.history.delete(write)
            self._context.forget(write.place.topic)
        else:
            self._context.history.end_deletion(write, found.kind or "unexplained")
