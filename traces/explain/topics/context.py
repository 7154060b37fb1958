"""What the judges of topics and reassignments share: the evidence, the world, what each controller may be at."""

from collections.abc import Iterable
from dataclasses import dataclass

from kafkaproof.traces.evidence.state_changes import Change
from kafkaproof.traces.evidence.streams import Evidence
from kafkaproof.traces.evidence.terms import ObservedTerm, TermKey
from kafkaproof.traces.evidence.writes import Write
from kafkaproof.traces.explain.partitions.topic_steps import steps_of
from kafkaproof.traces.explain.topics.creations import Creations
from kafkaproof.traces.explain.topics.deletions import Deletions
from kafkaproof.traces.explain.topics.history import History
from kafkaproof.traces.explain.topics.memory import Memory
from kafkaproof.traces.explain.topics.reassignments import Reassignments
from kafkaproof.traces.explain.topics.work_in_progress import Work

TOPIC, REASSIGNMENT, NOTIFICATION = "topic", "reassignment", "notification"
"""The streams of writes. What a controller is in the middle of in the stream of topics is the deletion of one."""


@dataclass(slots=True)
class Judged:
    """A write, and what it is: `kind` is None where nothing explains it, and `text` says why.

    `stream`: TOPIC, REASSIGNMENT or NOTIFICATION; `certain`: nothing that was before the log could have
    explained it; `optional`: it may be something else as well.
    """

    write: Write
    stream: str
    kind: str | None
    text: str = ""
    certain: bool = True
    optional: bool = False


@dataclass(frozen=True)
class Gap:
    """Between two records a controller is in the middle of something: nothing else of it comes there.

    `before` is infinite where the log has no next step; `text`: what it is at.
    """

    term_key: TermKey
    after: int
    before: float
    stream: str
    text: str


class Context:
    """The state of one judgement of a stream.

    `gaps`: where nothing else of a controller may come between; `works`: what each controller may be in the middle of,
    by the zxid at which its term began; `withdrawn`: the zxids at which somebody else deleted
    /admin/reassign_partitions.
    """

    def __init__(self, evidence: Evidence):
        self.evidence, self.features, self.world = evidence, evidence.features, evidence.world
        self.steps = steps_of(evidence.features, frozenset(evidence.brokers))
        self.creations, self.deletions = Creations(evidence, self.steps), Deletions(evidence)
        self.reassignments = Reassignments(evidence, self.steps)
        self.history = History(evidence.world)
        self.works: dict[int, list[Work]] = {}
        self._terms: dict[int, ObservedTerm] = {}
        self.gaps: list[Gap] = []
        self.withdrawn: list[int] = []
        self._last: dict[int, int] = {}
        self._memories: dict[int, Memory] = {}

    def memory(self, term: ObservedTerm) -> Memory:
        """What the controller of a term knows."""
        if term.start not in self._memories:
            self._memories[term.start] = Memory(term, self.evidence.inputs)
        return self._memories[term.start]

    def term(self, start: int) -> ObservedTerm:
        """The term that began with a record, of a controller that has written something in the stream."""
        return self._terms[start]

    def last(self, term: ObservedTerm) -> int:
        """The zxid of the latest write of a controller in the stream, or of the one that began its term."""
        return self._last.get(term.start, term.start)

    def wrote(self, term: ObservedTerm, zxid: int) -> None:
        """A controller has written something."""
        self._terms[term.start] = term
        self._last[term.start] = zxid

    def pass_by(self, written: Iterable[tuple[int, Change]], left: list[Change]) -> None:
        """States of partitions have been written, which tells nothing more of topics.

        `written`: the last change of each topic by each controller, with the zxid at which its term began, and by
        leaders, with some other number; `left`: the last change of each partition; both in the order of the log.
        """
        for start, change in written:
            self._last[start] = change.zxid
            self.deletions.written(start, change.topic)
        for change in left:
            self.world.topics[change.topic].states[change.number] = change.after

    def may_have_failed(self, session: int, first: int, last: int, stream: str) -> bool:
        """Whether a controller's write of a stream may have failed between two records of its session."""
        return self.evidence.failures.failed(session, first, last, self.features.guarded, stream == TOPIC)

    def forget(self, topic: str) -> None:
        """A topic has been deleted."""
        for memory in self._memories.values():
            memory.forget(topic)


def unexplained(write: Write, term: ObservedTerm | None, why: str, stream: str = TOPIC) -> Judged:
    """A write that nothing explains; what a term before the log had read is not known."""
    return Judged(write, stream, None, f"{write.text}: {why}", term is None or not term.unknown)
