"""Follows everything that is written to topics and for reassignments, and explains each write by a step."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import takewhile

import numpy as np

from kafkaproof.traces.evidence.streams import Evidence
from kafkaproof.traces.evidence.subjects import CLUSTER
from kafkaproof.traces.evidence.terms import ObservedTerm
from kafkaproof.traces.evidence.writes import Form, Write
from kafkaproof.traces.explain.partitions.explained import Explained, ExplainedChanges
from kafkaproof.traces.explain.partitions.ways import DELETION, REASSIGNMENT
from kafkaproof.traces.explain.topics.context import Context, Gap, Judged, unexplained
from kafkaproof.traces.explain.topics.handlers import Handlers
from kafkaproof.traces.explain.topics.history import Deletion, Made, Reassignment
from kafkaproof.traces.explain.topics.placed import is_begun
from kafkaproof.traces.explain.topics.plain_changes import PlainChanges
from kafkaproof.traces.explain.topics.topic_writes import TopicWrites
from kafkaproof.traces.zookeeper.znodes.topics import OUTSIDE, PlaceKind, topic_in


@dataclass
class Judgements:
    """Every write to topics in a stream but for changes of partition states, and what became of topics.

    `deleting`: the changes by which a deletion may have gone on while a partition of the topic was being reassigned;
    `gaps`: where nothing else of a controller may come; `threads`: the zxids of the writes of each controller, by epoch
    and session.
    """

    writes: list[Judged] = field(default_factory=list)
    made: list[Made] = field(default_factory=list)
    deletions: list[Deletion] = field(default_factory=list)
    reassignments: list[Reassignment] = field(default_factory=list)
    deleting: list[Explained] = field(default_factory=list)
    gaps: list[Gap] = field(default_factory=list)
    threads: dict[tuple[int, int], list[int]] = field(default_factory=lambda: defaultdict(list))


def explain_topics(evidence: Evidence, explained: ExplainedChanges) -> Judgements:
    """Explain all that was written in a stream, with the changes of partition states among it."""
    return Judge(evidence, explained).run()


class Judge:
    """Explains the writes of one stream in their order."""

    def __init__(self, evidence: Evidence, explained: ExplainedChanges):
        self._evidence, self._guarded = evidence, evidence.features.guarded
        self._context = Context(evidence)
        self._handlers = Handlers(self._context)
        self._topics = TopicWrites(self._context, self._handlers)
        self._explained, self._found = explained, Judgements()
        self._plain = PlainChanges(evidence, explained)

    def run(self) -> Judgements:
        """Judge all writes."""
        context, found = self._context, self._found
        self._run(self._others(), len(self._explained))
        self._handlers.close()
        context.history.close(context.world, self._evidence.owns)
        self._plain.add_threads(found.threads)
        history, found.gaps = context.history, context.gaps
        found.made, found.deletions, found.reassignments = history.made, history.deletions, history.reassignments
        return found

    def run_before(self, zxid: int) -> tuple[Context, Handlers]:
        """Judge all that comes before a record, and give what is known then, and what controllers are at."""
        earlier = takewhile(lambda each: each[1].zxid < zxid, self._others())
        self._run(earlier, int(np.searchsorted(self._evidence.changes.zxids, zxid)))
        return self._context, self._handlers

    def _run(self, others: Iterable[tuple[int, Write]], last: int) -> None:
        """Judge writes, and the changes of states among them and behind them, up to the place `last`."""
        context, first = self._context, 0
        for end, write in others:
            self._changes(first, end)
            judged, first = self._judge(write) if write.place != OUTSIDE else None, end
            if judged:
                self._found.writes.append(judged)
            context.creations.note(write)
            context.world.apply(write)
        self._changes(first, last)

    def _others(self) -> Iterator[tuple[int, Write]]:
        """The writes that change no state, each with how many changes come before it, in order.

        From 2.4 on those of the list of requests are among them, which concerns every stream.
        """
        evidence, listed = self._evidence, self._evidence.common.requests
        rows, others = evidence.other_rows, evidence.others
        if evidence.name != CLUSTER and listed:
            places = np.searchsorted(evidence.writes.zxids, [write.zxid for write in listed], "right")
            rows = np.concatenate([rows, places - 0.5])
            order = np.argsort(rows, kind="stable")
            rows, both = rows[order], [*others, *listed]
            others = [both[place] for place in order.tolist()]
        return zip(np.searchsorted(evidence.changes.rows, rows).tolist(), others)

    def _changes(self, first: int, end: int) -> None:
        """Judge changes of states: those that tell nothing more of topics in passing."""
        context, plain = self._context, self._plain
        while first < end:
            if passed := plain.pass_by(first, end, context):
                first += passed
            else:
                write = plain.write(first)
                self._judge(write, first)
                context.world.apply(write)
                first += 1

    def _judge(self, write: Write, row: int | None = None) -> Judged | None:
        """Explain one write; None for a partition's state, which is in some row among the partitions."""
        each = None if row is None else self._explained[row]
        term = self.term(write, each)
        controller = term if term and self._is_of_controller(write, each) else None
        found = self._handlers.goes_on(write, controller, each) if controller else None
        if found is None and self._is_of_another_stream(write):
            return None
        if found is None and each is None:
            found = self._topics.judge(write, controller)
        elif found is None and controller and each:
            found = self._changed(write, controller, each)
        if found and not found.kind:
            found = replace(found, text=f"{found.text}; before it {self._context.world.text(write.place)}")
        if controller:
            self._note(write, controller, each)
        if each and row is not None:
            self._settle(row, each, found)
        self._remember(write, found)
        return None if each else found

    def _is_of_another_stream(self, write: Write) -> bool:
        """Whether it is the list of requests, which only the stream of the cluster judges, from 2.4 on."""
        return (
            write.place.kind == PlaceKind.REASSIGN and self._evidence.features.kip455 and self._evidence.name != CLUSTER
        )

    def term(self, write: Write, each: Explained | None) -> ObservedTerm | None:
        """The term of the controller that wrote this, None if no controller did."""
        if self._guarded and not write.checked:
            return None
        if each and each.change.after:
            return self._evidence.terms.claimed(*each.change.term_key)
        return self._evidence.terms.of_session(write.session, write.zxid)

    def _is_of_controller(self, write: Write, each: Explained | None) -> bool:
        """Whether the thread of the controller's events wrote this, not one that serves requests, or the leader."""
        if self._guarded:
            return True
        if each:
            before, after = each.change.before, each.change.after
            return before is None or after is None or after.leader_epoch != before.leader_epoch
        if write.place.kind in (PlaceKind.DIRECTORY, PlaceKind.PARTITION, PlaceKind.STATE, PlaceKind.REASSIGN):
            return True
        if write.place.kind == PlaceKind.TOPIC and write.form == Form.SET:
            topic = topic_in(write.data)
            return topic is None or self._context.creations.expanded(write, topic) is None
        return write.form == Form.DELETE and write.place.kind != PlaceKind.ANNOUNCEMENT

    def _changed(self, write: Write, term: ObservedTerm, each: Explained) -> Judged | None:
        """A controller in the middle of nothing changes a partition's state; None where that tells nothing more."""
        queued = each.change.before is None and self._context.deletions.surely_queued(
            term, write.place.topic, write.zxid
        )
        if queued and not is_begun(self._context.features, True):
            return unexplained(write, term, "T3: the topic is queued for deletion, no partition begins")
        if each.change.before is None or each.change.after is None:
            return None
        return self._handlers.resumes(write, term, each)

    def _note(self, write: Write, term: ObservedTerm, each: Explained | None) -> None:
        """What a controller is seen to know and to have done."""
        self._context.wrote(term, write.zxid)
        if each is None or each.change.after is None:
            self._found.threads[term.key].append(write.zxid)
        if write.place.topic:
            self._context.deletions.note(term, write, each.change if each else None)
        if each and each.may_be(DELETION):
            self._context.history.take_offline(each.change, term.start)
            if self._is_reassigned(write, term):
                self._found.deleting.append(each)

    def _is_reassigned(self, write: Write, term: ObservedTerm) -> bool:
        """Whether a controller is reassigning a partition of the topic of a write."""
        name, tree = write.place.topic, self._context.world.topics[write.place.topic]
        assigned = tree.topic.partitions if tree.topic else {}
        if self._context.features.kip455:
            return any(assignment.adding or assignment.removing for assignment in assigned.values())
        listed, moving = self._context.memory(term).listed(write.zxid), self._context.history.moving
        return any((name, number) in moving and (name, number) in listed for number in assigned)

    def _settle(self, row: int, each: Explained, found: Judged | None) -> None:
        """What the handlers say of a partition's change settles which explanations are left."""
        if found and not found.kind:
            self._explained.refuse(row, found.text, found.certain)
        elif found and found.optional:
            return
        elif found or each.may_be(REASSIGNMENT):
            left = tuple(e for e in each.explanations if (e.trigger == REASSIGNMENT) == bool(found))
            if left and len(left) < len(each.explanations):
                self._explained.codes[row] = self._explained.code(left)

    def _remember(self, write: Write, found: Judged | None) -> None:
        """What becomes of topics that are deleted, and of the requests for it."""
        if write.form != Form.DELETE or write.place.kind not in (PlaceKind.TOPIC, PlaceKind.MARKER):
            return
        if write.place.kind == PlaceKind.TOPIC:
            self._context.history.delete(write)
            self._context.forget(write.place.topic)
        else:
            self._context.history.end_deletion(write, found.kind if found and found.kind else "unexplained")
