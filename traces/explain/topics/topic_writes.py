"""Who writes what to topics, but for reassignments: each such write must be a step of somebody."""

from kafkaproof.traces.evidence.terms import ObservedTerm
from kafkaproof.traces.evidence.writes import Form, Write
from kafkaproof.traces.explain.topics.asked import may_ask_for_deletion, takes_marker_away, takes_preferred_away
from kafkaproof.traces.explain.topics.context import NOTIFICATION, REASSIGNMENT, TOPIC, Context, Judged, unexplained
from kafkaproof.traces.explain.topics.handlers import Handlers
from kafkaproof.traces.explain.topics.notifications import DELETED, Notifications
from kafkaproof.traces.explain.topics.placed import is_begun, is_restored
from kafkaproof.traces.explain.topics.work_in_progress import Completing
from kafkaproof.traces.zookeeper.znodes.topics import PlaceKind, topic_in

CREATED, ADDED = "topic created", "partitions added"
EXPLICIT = ", explicit assignment"
"""Behind these: an administrator chose it, or it follows the racks."""
UNKNOWN = "deletion of an unknown topic"
_NOT_ADDED = (
    "nobody adds partitions like this; allowed there: more partitions, numbered on, on brokers that are "
    "there, each with as many replicas as partition 0"
)


class TopicWrites:
    """Judges writes of which no controller is in the middle. `term`: that of the controller, None for anybody else."""

    def __init__(self, context: Context, handlers: Handlers):
        self._context, self._handlers = context, handlers
        self._creations, self._deletions = context.creations, context.deletions
        self._notifications = Notifications(context.evidence)

    def judge(self, write: Write, term: ObservedTerm | None) -> Judged:
        """Explain a write."""
        judges = {
            PlaceKind.TOPIC: self._topic,
            PlaceKind.DIRECTORY: self._directory,
            PlaceKind.PARTITION: self._partition,
            PlaceKind.STATE: self._deleted,
            PlaceKind.CONFIG: self._config,
            PlaceKind.MARKER: self._marker,
            PlaceKind.ANNOUNCEMENT: self._announcement,
            PlaceKind.REASSIGN: self._list,
            PlaceKind.PREFERRED: self._preferred,
            PlaceKind.ISR_CHANGE: self._notification,
            PlaceKind.LOG_DIR_EVENT: self._notification,
        }
        return judges[write.place.kind](write, term)

    def _topic(self, write: Write, term: ObservedTerm | None) -> Judged:
        if write.form == Form.DELETE:
            return self._deleted(write, term)
        if write.form == Form.CREATE:
            return self._created(write)
        topic = topic_in(write.data)
        if topic is None:
            return unexplained(write, term, "what is written is no assignment")
        if why := self._creations.why_malformed(topic):
            return unexplained(write, term, why)
        if term is not None:
            return self._rewritten(write, term, topic)
        read = self._creations.expanded(write, topic)
        if read is None:
            return unexplained(write, term, _NOT_ADDED)
        first = len(read.partitions)
        balanced = self._creations.balanced(write, topic, first)
        self._context.history.create(write, first, topic, balanced)
        return Judged(write, TOPIC, ADDED if balanced else f"{ADDED}{EXPLICIT}")

    def _created(self, write: Write) -> Judged:
        if why := self._creations.why_no_topic(write):
            return unexplained(write, None, why)
        topic = topic_in(write.data)
        if topic is None:
            return unexplained(write, None, "what is written is no assignment")
        balanced = self._creations.balanced(write, topic)
        self._context.history.create(write, 0, topic, balanced)
        return Judged(write, TOPIC, CREATED if balanced else f"{CREATED}{EXPLICIT}")

    def _rewritten(self, write: Write, term: ObservedTerm, topic) -> Judged:
        """A controller writes a topic znode: an id, without partitions that came too late, or for a reassignment."""
        known, memory = self._context.world.topics[write.place.topic], self._context.memory(term)
        before = known.topic
        if before and before.id is None and topic.id is not None and topic.partitions == before.partitions:
            kind = "topic id written"
        elif before and self._is_restored(write, term, topic, known):
            kind = "added partitions taken back"
        else:
            return self._handlers.begins(write, term, topic)
        memory.wrote(write.place.topic, write.zxid, topic)
        return Judged(write, TOPIC, kind)

    def _is_restored(self, write: Write, term: ObservedTerm, topic, known) -> bool:
        """Whether partitions are left out that were added while the topic is queued for deletion (2.0 and later)."""
        there = {number for number in known.topic.partitions if number in known.partitions}
        queued = self._deletions.queued_at(term, write.place.topic, write.zxid) is not None
        stranger = self._context.memory(term).stranger(write.place.topic, topic, None, write.zxid)
        left = set(topic.partitions) == there < set(known.topic.partitions) and stranger is None
        return left and is_restored(self._context.features, queued)

    def _directory(self, write: Write, term: ObservedTerm | None) -> Judged:
        if write.form == Form.DELETE:
            return self._deleted(write, term)
        return self._made(write, term, None)

    def _partition(self, write: Write, term: ObservedTerm | None) -> Judged:
        if write.form == Form.DELETE:
            return self._deleted(write, term)
        partition, inputs = (write.place.topic, write.place.number), self._context.evidence.inputs
        deposed = term is not None and term.end < write.zxid
        read = term is None or deposed or inputs.assignments(partition, term.start, write.zxid)
        return self._made(write, term, None if read else "the topic has no such partition")

    def _made(self, write: Write, term: ObservedTerm | None, why: str | None) -> Judged:
        """The znodes of a partition, before its first state."""
        if term is None:
            why = "only a controller creates this"
        elif self._begins_in_vain(term, write):
            why = "T3: the topic is queued for deletion, no partition begins"
        return unexplained(write, term, why) if why else Judged(write, TOPIC, "partition znodes created")

    def _begins_in_vain(self, term: ObservedTerm, write: Write) -> bool:
        """Whether the topic is queued for deletion, and none of its partitions begins therefore."""
        queued = self._deletions.surely_queued(term, write.place.topic, write.zxid)
        return queued and not is_begun(self._context.features, True)

    def _config(self, write: Write, term: ObservedTerm | None) -> Judged:
        if write.form != Form.DELETE:
            return Judged(write, TOPIC, "topic configured")
        return self._deleted(write, term)

    def _deleted(self, write: Write, term: ObservedTerm | None) -> Judged:
        """A controller begins to delete what there is of a topic."""
        context, topic = self._context, write.place.topic
        tree = context.world.topics[topic]
        if term is None:
            return unexplained(write, term, "only a controller deletes this")
        work = Completing.of(context.steps, topic, tree)
        why = self._deletions.why_not_completed(term, topic, tree, write.zxid)
        if why is None and write.place not in work.next_places(tree):
            why = f"T2: a deletion that begins here does something else first: {work.allowed(tree)}"
        if why:
            return unexplained(write, term, why)
        return self._handlers.delete(work, write, term)

    def _marker(self, write: Write, term: ObservedTerm | None) -> Judged:
        tree = self._context.world.topics[write.place.topic]
        if write.form != Form.DELETE:
            exists = tree.since is not None
            self._context.history.ask_deletion(write, exists)
            if not may_ask_for_deletion(self._context.features, exists):
                return unexplained(write, term, "nobody asks for the deletion of such a topic")
            return Judged(write, TOPIC, "deletion requested" if exists else f"{UNKNOWN} requested")
        if term is None:
            return Judged(write, TOPIC, "deletion withdrawn by hand")
        if why := self._deletions.why_marker_stays(term, write, tree):
            return unexplained(write, term, why)
        if tree.since is not None and self._deletions.knows(term, write.place.topic, tree):
            return Judged(write, TOPIC, "deletion is disabled")
        if not takes_marker_away(self._context.features):
            return unexplained(write, term, "its controller waits for a topic that it does not know")
        return Judged(write, TOPIC, UNKNOWN)

    def _announcement(self, write: Write, term: ObservedTerm | None) -> Judged:
        if write.form == Form.DELETE:
            return Judged(write, TOPIC, "announcement purged")
        if why := self._creations.why_not_announced(write):
            return unexplained(write, term, why)
        return Judged(write, TOPIC, "configuration announced")

    def _list(self, write: Write, term: ObservedTerm | None) -> Judged:
        if term is None and write.form == Form.DELETE:
            self._context.withdrawn.append(write.zxid)
            if not self._context.features.kip455:
                self._context.history.withdraw()
            return Judged(write, REASSIGNMENT, "requests withdrawn by hand")
        if term is None:
            return Judged(write, REASSIGNMENT, "reassignments requested")
        memory = self._context.memory(term)
        requests, last = self._handlers.requests, self._context.last(term)
        if why := requests.why_not(memory, write, None, last):
            return unexplained(write, term, why, REASSIGNMENT)
        return Judged(write, REASSIGNMENT, requests.kind(memory, write, last))

    def _preferred(self, write: Write, term: ObservedTerm | None) -> Judged:
        if write.form != Form.DELETE:
            return Judged(write, TOPIC, "preferred elections requested")
        if term is None:
            return Judged(write, TOPIC, "preferred elections withdrawn by hand")
        if not takes_preferred_away(self._context.features):
            return unexplained(write, term, "no controller takes away what it has dealt with")
        return Judged(write, TOPIC, "preferred elections dealt with")

    def _notification(self, write: Write, term: ObservedTerm | None) -> Judged:
        if write.form == Form.DELETE:
            return Judged(write, NOTIFICATION, DELETED)
        if why := self._notifications.why_not(write):
            return unexplained(write, term, why, NOTIFICATION)
        return Judged(write, NOTIFICATION, self._notifications.kind(write))
