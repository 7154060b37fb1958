"""Controllers at work: a write is the next step of what its controller is in the middle of, or begins something."""

from math import inf

from kafkaproof.spec.language.steps import by_name
from kafkaproof.spec.partition.phases.lists import delete_listed
from kafkaproof.spec.partition.phases.phases import write_union
from kafkaproof.spec.partition.reassignment.reassignment import write_assignment, write_target
from kafkaproof.traces.evidence.terms import ObservedTerm
from kafkaproof.traces.evidence.writes import Form, Write
from kafkaproof.traces.explain.partitions.explained import Explained
from kafkaproof.traces.explain.partitions.strategies import Elected
from kafkaproof.traces.explain.partitions.topic_steps import Scene, Step
from kafkaproof.traces.explain.partitions.ways import REASSIGNMENT as BY_REASSIGNMENT
from kafkaproof.traces.explain.topics.asked import takes_finished_off
from kafkaproof.traces.explain.topics.context import REASSIGNMENT, TOPIC, Context, Gap, Judged, unexplained
from kafkaproof.traces.explain.topics.memory import Memory
from kafkaproof.traces.explain.topics.requests import LISTED, Entries, Requests
from kafkaproof.traces.explain.topics.work_in_progress import Completing, Listing, Reassigning, Work
from kafkaproof.traces.zookeeper.znodes.assignments import Assignment
from kafkaproof.traces.zookeeper.znodes.topics import PlaceKind, Topic, text_of, topic_in

ASKED_AGAIN = "written again"
_KINDS = by_name(
    {
        write_assignment: "assignment written",
        write_union: "union written",
        write_target: "target written",
        delete_listed: LISTED,
    }
)
_DELETED = {
    PlaceKind.STATE: "partition znodes deleted",
    PlaceKind.PARTITION: "partition znodes deleted",
    PlaceKind.DIRECTORY: "partition znodes deleted",
    PlaceKind.TOPIC: "topic znode deleted",
    PlaceKind.CONFIG: "configuration deleted",
    PlaceKind.MARKER: "deletion finished",
}


class Handlers:
    """Follows the handlers of all controllers, each of which runs in one thread."""

    def __init__(self, context: Context):
        self._context, self._works = context, context.works
        self.requests = Requests(context)

    def goes_on(self, write: Write, term: ObservedTerm, each: Explained | None) -> Judged | None:
        """A write of a controller in the middle of something: its next step, or no step; None when that is over."""
        works = self._works.pop(term.start, [])
        if not works:
            return None
        last = self._context.last(term)
        scenes = [self.scene(work, write, term, last) for work in works]
        demands = [self._demand(work, scene, write, term, last) for work, scene in zip(works, scenes)]
        stream = _stream(works)
        wanted = [demand for demand in demands if demand]
        all_wanted = len(wanted) == len(demands)
        pressing = all_wanted and not self._context.may_have_failed(write.session, last, write.zxid, stream)
        middle = self._middle(works, wanted, term) if pressing else ""
        if pressing:
            self._context.gaps.append(Gap(term.key, last, write.zxid, stream, middle))
        if write.previous > last:
            return unexplained(write, term, middle, stream) if pressing else None
        found = [self._take(work, scene, write, term, each) for work, scene in zip(works, scenes)]
        if taken := [judged for judged in found if judged]:
            return taken[0]
        if self._asks_again(write, term, last):
            self._works[term.start] = works
            return Judged(write, stream, ASKED_AGAIN)
        return unexplained(write, term, middle, stream) if pressing else None

    def _asks_again(self, write: Write, term: ObservedTerm, last: int) -> bool:
        """Whether a controller writes the topic znode as it has just done: the answer was lost, and no version is asked
        for, so that it lands once more (KafkaZkClient.setTopicAssignmentRaw, retryRequestsUntilConnected).
        """
        if write.place.kind != PlaceKind.TOPIC or write.form != Form.SET:
            return False
        topic = topic_in(write.data)
        return topic is not None and self._context.memory(term).repeats(write.place.topic, topic, last)

    def at_work(self, term: ObservedTerm) -> list[Work]:
        """What a controller may be in the middle of."""
        return self._works.get(term.start, [])

    def close(self) -> None:
        """The stream ends: what a controller is in the middle of then, it would have gone on with first."""
        for start, works in self._works.items():
            term = self._context.term(start)
            last = self._context.last(term)
            end = self._context.evidence.end
            demands = [self._demand(work, self.scene(work, end, term, last), end, term, last) for work in works]
            wanted = [demand for demand in demands if demand]
            if works and len(wanted) == len(demands):
                middle = self._middle(works, wanted, term)
                self._context.gaps.append(Gap(term.key, last, inf, _stream(works), middle))

    @staticmethod
    def _middle(works: list[Work], demands: list[str], term: ObservedTerm) -> str:
        """What a controller is at, and what comes next."""
        at = " or ".join(work.text for work in works)
        return f"the controller of epoch {term.epoch} is in the middle of {at}; allowed there: {' or '.join(demands)}"

    def scene(self, work: Work, write: Write, term: ObservedTerm, last: int) -> Scene | None:
        """What a controller may go by that is reassigning a partition, None where it is doing something else."""
        if isinstance(work, Reassigning):
            return self._context.reassignments.scene(term, work.partition, write, last)
        return None

    def _demand(self, work: Work, scene: Scene | None, write: Write, term: ObservedTerm, last: int) -> str | None:
        """What has to come next, at any time since the last write; None where nothing has to."""
        if isinstance(work, Completing):
            tree = self._context.world.topics[work.topic]
            return work.allowed(tree) if work.next_places(tree) else None
        if isinstance(work, Listing):
            rest = self._rest(work)
            if rest is None or not self.requests.stood(last, write.zxid):
                return None
            return f"/admin/reassign_partitions with {self.requests.text(rest)}"
        assert scene is not None  # a reassignment has one
        memory, end = self._context.memory(term), min(write.zxid, last + 1)
        unlisted = work.awaits_list(scene) and not (
            self.requests.stood(last, write.zxid) or self.requests.remain(memory, end, work.partition)
        )
        return None if work.optional or unlisted or work.may_end(scene) else work.allowed(scene)

    def _take(
        self, work: Work, scene: Scene | None, write: Write, term: ObservedTerm, each: Explained | None
    ) -> Judged | None:
        """What a write is to a handler, None where it is no step of it."""
        if isinstance(work, Completing):
            return self.deletes(work, write, term)
        if isinstance(work, Listing):
            return self._lists(work, write)
        assert scene is not None  # a reassignment has one
        return self._reassigns(work, scene, write, term, each)

    def _reassigns(self, work: Reassigning, scene: Scene, write: Write, term: ObservedTerm, each: Explained | None):
        place, memory = write.place, self._context.memory(term)
        written: Assignment | Elected | None
        if place.kind == PlaceKind.TOPIC and write.form == Form.SET:
            topic = topic_in(write.data)
            fits = place.topic == work.partition[0] and topic and self._fits(memory, write, topic, work.partition[1])
            written = topic.partitions.get(work.partition[1]) if topic and fits else None
        elif each and each.change.partition == work.partition:
            fits, written = each.change.after is not None, elected(each)
        else:
            fits = place.kind == PlaceKind.REASSIGN and not self.requests.why_not(
                memory, write, work.partition, work.begun
            )
            written = None
        taken = work.take(scene, written) if fits else []
        return self._taken(work, taken[0], write, term) if taken else None

    def _fits(self, memory: Memory, write: Write, topic: Topic, own: int) -> bool:
        """Whether all but one partition of a topic znode is as its controller remembers it, and the id as it is."""
        known = self._context.world.topics[write.place.topic].topic
        stranger = memory.stranger(write.place.topic, topic, own, write.zxid)
        return stranger is None and known is not None and topic.id == known.id

    def _taken(self, work: Reassigning, step: Step, write: Write, term: ObservedTerm) -> Judged:
        """A step was taken: what its controller knows now, and what comes next."""
        context, memory = self._context, self._context.memory(term)
        works = self._works.setdefault(term.start, [])
        known = memory.of(work.partition, write.zxid)[0]
        listed = memory.listed(write.zxid).get(work.partition, ())
        context.history.step(work.partition, step, write, known, context.steps.requested(step.after), listed)
        if write.place.kind == PlaceKind.TOPIC and (topic := topic_in(write.data)):
            memory.wrote(write.place.topic, write.zxid, topic)
        if step.name == write_target.__name__:
            memory.finish(work.partition, write.zxid)
            target = step.written.replicas if isinstance(step.written, Assignment) else ()
            works.append(Listing(work.partition, target) if context.features.kip455 else work)
        elif step.name != delete_listed.__name__:
            works.append(work)
        kind = _KINDS.get(step.name, "step of a reassignment")
        return Judged(write, REASSIGNMENT, kind, optional=work.optional)

    def deletes(self, work: Completing, write: Write, term: ObservedTerm) -> Judged | None:
        """The next deletion of a topic's znodes, None where it is another write."""
        tree = self._context.world.topics[work.topic]
        if write.form != Form.DELETE or write.place not in work.next_places(tree):
            return None
        return self.delete(work, write, term)

    def delete(self, work: Completing, write: Write, term: ObservedTerm) -> Judged:
        """A deletion that is the next one of a topic's znodes."""
        work.take(write.place)
        self._works[term.start] = [work]
        return Judged(write, TOPIC, _DELETED[write.place.kind])

    def _lists(self, work: Listing, write: Write) -> Judged | None:
        """The partition is taken out of the list, if there is one; nothing else comes first."""
        taken_out = write.place.kind == PlaceKind.REASSIGN and self.requests.entries(write) == self._rest(work)
        return Judged(write, REASSIGNMENT, LISTED) if taken_out else None

    def _rest(self, work: Listing) -> Entries | None:
        """What is left of the list without the partition; None where there is no list."""
        listed = self._context.world.listed
        if listed is None:
            return None
        own = listed.get(work.partition)
        taken = own and takes_finished_off(self._context.features, work.target, own)
        return {p: target for p, target in listed.items() if not taken or p != work.partition}

    def begins(self, write: Write, term: ObservedTerm, topic: Topic) -> Judged:
        """A write of the topic znode by a controller that is in the middle of nothing."""
        context, memory = self._context, self._context.memory(term)
        name, last = write.place.topic, context.last(term)
        queued = context.deletions.surely_queued(term, name, write.zxid)
        found = context.reassignments.by_topic(memory, write, topic, last, queued)
        if not found and queued and context.reassignments.by_topic(memory, write, topic, last, False):
            return unexplained(
                write, term, "T3: the topic is queued for deletion, no reassignment begins", REASSIGNMENT
            )
        tree = context.world.topics[name]
        if not found or tree.topic is None or topic.id != tree.topic.id:
            return unexplained(write, term, self._why_not(memory, write, topic), REASSIGNMENT)
        return [self._taken(*each, write, term) for each in found][0]

    def resumes(self, write: Write, term: ObservedTerm, each: Explained) -> Judged | None:
        """A write of a partition's state that begins or resumes a reassignment; None where it need not."""
        if not each.may_be(BY_REASSIGNMENT):
            return None
        context = self._context
        found = context.reassignments.by_state(context.memory(term), write, each, context.last(term))
        others = [e for e in each.explanations if e.trigger != BY_REASSIGNMENT]
        if found:
            found[0].optional = bool(others) and others[0].tokens <= each.explanations[0].tokens
            return self._taken(*found, write, term)
        if each.explanations and not others:
            return unexplained(write, term, "no reassignment of this partition is at such a step", REASSIGNMENT)
        return None

    def _why_not(self, memory: Memory, write: Write, topic: Topic) -> str:
        """Why no reassignment writes this topic znode."""
        name, known = write.place.topic, self._context.world.topics[write.place.topic].topic
        if known and topic.id != known.id:
            return f"a controller leaves the topic id as it is: {known.id}"
        first = memory.stranger(name, topic, None, write.zxid)
        second = None if first is None else memory.stranger(name, topic, first, write.zxid)
        if second is not None:
            return f"partitions {first} and {second} are not as its controller knows them; it changes one at a time"
        number = min(topic.partitions) if first is None else first
        remembered = " or ".join(map(text_of, memory.of((name, number), write.zxid))) or "nothing"
        if number not in topic.partitions:
            return f"partition {number} is left out, though its controller knows of it: {remembered}"
        asked = [list(target) for target in memory.listed(write.zxid).get((name, number), ())]
        return (
            f"no step of a reassignment writes {text_of(topic.partitions[number])} for partition {number}; its "
            f"controller knows {remembered}, and {asked or 'nothing'} as asked for in /admin/reassign_partitions"
        )


def elected(each: Explained) -> Elected | None:
    """The leader and the ISR that were written, None where that was no state."""
    after = each.change.after
    return Elected(after.leader, frozenset(after.isr)) if after else None


def _stream(works: list[Work]) -> str:
    """The stream to which a controller's handlers belong."""
    return TOPIC if isinstance(works[0], Completing) else REASSIGNMENT
