"""Follows everything that is written to topics and for reassignments, and explains each write by a step."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from traces.evidence import Evidence
from traces.partitions.explanations import DELETION, REASSIGNMENT
from traces.partitions.replay import Explained
from traces.reigns import Reign
from traces.subjects import CLUSTER
from traces.topics.context import Context, Gap, Judged, unexplained
from traces.topics.handlers import Handlers
from traces.topics.history import Deletion, Made, Reassignment
from traces.topics.topic_writes import TopicWrites
from traces.writes import Write
from traces.znodes.places import topic_in


@dataclass
class Judgements:
    """Every change of a partition's state in a stream, every other write to topics, and what became of them.

    `deleting`: the changes by which a deletion may have gone on while a partition of the topic was being reassigned;
    `gaps`: where nothing else of a controller may come; `threads`: the zxids of the writes of each controller, by epoch
    and session.
    """

    partitions: list[Explained] = field(default_factory=list)
    writes: list[Judged] = field(default_factory=list)
    made: list[Made] = field(default_factory=list)
    deletions: list[Deletion] = field(default_factory=list)
    reassignments: list[Reassignment] = field(default_factory=list)
    deleting: list[Explained] = field(default_factory=list)
    gaps: list[Gap] = field(default_factory=list)
    threads: dict[tuple[int, int], list[int]] = field(default_factory=lambda: defaultdict(list))


def explain_topics(evidence: Evidence, explained: list[Explained]) -> Judgements:
    """Explain all that was written in a stream, with the changes of partition states among it."""
    return _Judge(evidence, explained).run()


class _Judge:
    """Explains the writes of one stream in their order."""

    def __init__(self, evidence: Evidence, explained: list[Explained]):
        self._evidence, self._guarded = evidence, evidence.features.guarded
        self._context = Context(evidence)
        self._handlers = Handlers(self._context)
        self._topics = TopicWrites(self._context, self._handlers)
        self._partitions = {(each.change.zxid, each.change.partition): each for each in explained}
        self._found = Judgements()

    def run(self) -> Judgements:
        """Judge all writes."""
        context, found = self._context, self._found
        for write in self._writes():
            judged = self._judge(write) if write.place else None
            if judged:
                found.writes.append(judged)
            context.creations.note(write)
            context.world.apply(write)
        self._handlers.close()
        context.history.close(context.world, self._evidence.owns)
        found.partitions, found.gaps = list(self._partitions.values()), context.gaps
        history = context.history
        found.made, found.deletions, found.reassignments = history.made, history.deletions, history.reassignments
        return found

    def _writes(self) -> Iterator[Write]:
        """The writes of the stream, and from 2.4 on those of the list of requests, which concerns every one."""
        own, listed = self._evidence.writes, self._evidence.common.requests
        if self._evidence.name == CLUSTER or not listed:
            return iter(own)
        return iter(sorted([*own, *listed], key=lambda write: write.zxid))

    def _judge(self, write: Write) -> Judged | None:
        """Explain one write; None for a partition's state, which is among the partitions."""
        each = None
        if write.place.kind == "state" and write.form != "delete":
            each = self._partitions[write.zxid, write.place.partition]
        reign = self._reign(write, each)
        controls = reign is not None and self._is_of_controller(write, each)
        found = self._handlers.goes_on(write, reign, each) if controls else None
        if found is None and self._is_of_another_stream(write):
            return None
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

    def _is_of_another_stream(self, write: Write) -> bool:
        """Whether it is the list of requests, which only the stream of the cluster judges, from 2.4 on."""
        return write.place.kind == "reassign" and self._evidence.features.kip455 and self._evidence.name != CLUSTER

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
        self._found.threads[reign.key].append(write.zxid)
        if write.place.topic:
            self._context.deletions.note(reign, write, each and each.change)
        if each and each.may_be(DELETION):
            self._context.history.take_offline(each.change, reign.start)
            if self._is_reassigned(write, reign):
                self._found.deleting.append(each)

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
        if found and not found.kind:
            settled = replace(each, explanations=(), text=found.text, certain=found.certain)
        else:
            if not found and not each.may_be(REASSIGNMENT):
                return
            left = tuple(e for e in each.explanations if (e.trigger == REASSIGNMENT) == bool(found))
            if not left or len(left) == len(each.explanations):
                return
            settled = replace(each, explanations=left)
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
