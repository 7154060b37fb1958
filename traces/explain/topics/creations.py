"""Topics as administrators and brokers make them: their configuration, their assignment, more partitions."""

from bisect import bisect_left
from collections import defaultdict
from functools import lru_cache
from itertools import permutations, product

from kafkaproof.spec.kafka.replica_lists import assign_replicas, is_numbered
from kafkaproof.traces.basics.versions import Version
from kafkaproof.traces.evidence.streams import Evidence
from kafkaproof.traces.evidence.writes import Form, Write
from kafkaproof.traces.explain.partitions.topic_steps import TopicSteps
from kafkaproof.traces.explain.topics.placed import replicas_added, replicas_created
from kafkaproof.traces.zookeeper.znodes.assignments import Assignment
from kafkaproof.traces.zookeeper.znodes.topics import Topic, entity_in, topic_in

READ_WITHIN = 60_000
"""How many ms before it creates a topic a broker may have heard of other brokers, by requests of the controller."""
_UNSEEN = 4
"""The order of up to so many brokers is tried in all ways."""


class Creations:
    """Judges what is written to topics by who is no controller."""

    def __init__(self, evidence: Evidence, steps: TopicSteps):
        self._features, self._inputs, self._steps = evidence.features, evidence.inputs, steps
        self._writes, self._earlier_sessions = evidence.writes, evidence.sessions
        self._timeouts = evidence.timeouts
        self._configured: dict[int, set[str]] = defaultdict(set)

    def note(self, write: Write) -> None:
        """Remember which configurations a session has written."""
        if write.path.startswith("/config/") and write.form != Form.DELETE:
            self._configured[write.session].add(write.path)

    def why_no_topic(self, write: Write) -> str | None:
        """Why nobody creates a topic znode like this; None where somebody may."""
        topic = topic_in(write.data)
        if topic is None:
            return "what is written is no assignment"
        numbers, sizes = list(topic.partitions), {len(a.replicas) for a in topic.partitions.values()}
        if self._features.numbers_partitions and not is_numbered(numbers):
            return f"its partitions are {numbers}, which do not count up from 0"
        if len(sizes) != 1:
            return "its partitions have different numbers of replicas"
        if text := self.why_malformed(topic):
            return text
        if any(a.adding or a.removing for a in topic.partitions.values()):
            return "nothing can be reassigned in a new topic"
        config = f"/config/topics/{write.place.topic}"
        if self._began_with_the_log(write) and config not in self._configured[write.session]:
            return f"its creator has not written {config}, which comes first"
        return None

    def why_malformed(self, topic: Topic) -> str | None:
        """Why an assignment is none that there can be (T6); None where it is one."""
        for number, assignment in topic.partitions.items():
            ids = (*assignment.replicas, *assignment.adding, *assignment.removing)
            if not self._steps.well_formed(assignment) or min(ids) < 0:
                return f"T6: partition {number} has a replica twice, or adds or removes one that it does not have"
        return None

    def expanded(self, write: Write, topic: Topic) -> Topic | None:
        """The topic as it was read by who adds partitions in this way; None where nobody does.

        All that was there stays as it was read; what is new counts on, on brokers that are there, with as many
        replicas as partition 0 has. Who stands still for longer between reading and writing than the session lasts
        does not write any more.
        """
        within = self._timeouts.get(write.session, READ_WITHIN)
        there = self._inputs.common.registered_since(write.time - within, write.zxid)
        known = self._inputs.topic_versions(write.place.topic, self._before(write, within), write.zxid - 1)
        for version in reversed(known):
            read = topic_in(version.value)
            if version.value is None or read is None:
                return None
            new = {n: a for n, a in topic.partitions.items() if n not in read.partitions}
            kept = {n: a for n, a in topic.partitions.items() if n in read.partitions}
            if kept == read.partitions and topic.id == read.id and self._adds(read, new, there):
                return read
        return None

    def _adds(self, read: Topic, new: dict[int, Assignment], there: list[Version]) -> bool:
        first = len(read.partitions)
        counts_on = list(new) == list(range(first, first + len(new)))
        moving = any(a.adding or a.removing for a in read.partitions.values())
        size = len(read.partitions[0].replicas) if 0 in read.partitions else 0
        if not new or not size or not counts_on or self.why_malformed(Topic(new, None)):
            return False
        return any(self._adds_on(brokers.value, new, size, moving) for brokers in there if brokers.value)

    def _adds_on(self, brokers: frozenset[int], new: dict[int, Assignment], size: int, moving: bool) -> bool:
        """Whether these partitions are added to a topic by who has read these brokers."""
        replicas = replicas_added(self._features, len(brokers), size, moving)
        return all(
            len(a.replicas) == replicas and not a.adding and not a.removing and set(a.replicas) <= brokers
            for a in new.values()
        )

    def balanced(self, write: Write, topic: Topic, first: int = 0) -> bool:
        """Whether the assignment from partition `first` on is the rule's, for brokers that may have been there.

        Another one was asked for explicitly, or follows the racks.
        """
        wanted = [list(topic.partitions[number].replicas) for number in sorted(topic.partitions)]
        n, replicas = len(wanted), len(wanted[-1])
        for version in self._inputs.common.registered_since(write.time - READ_WITHIN, write.zxid):
            size = len(version.value)
            if size and set().union(*wanted[first:]) <= version.value and self._may_have(size, replicas):
                for brokers in _orders(version.value, wanted):
                    begins = _begins(tuple(brokers), first, replicas).get(tuple(wanted[first]), ())
                    if any(_assigned(tuple(brokers), n - first, replicas, *c, first) == wanted[first:] for c in begins):
                        return True
        return False

    def _may_have(self, brokers: int, replicas: int) -> bool:
        """Whether a topic is created with so many replicas when so many brokers are there."""
        return replicas_created(self._features, brokers, replicas) == replicas

    def why_not_announced(self, write: Write) -> str | None:
        """Why nobody announces a change of configuration like this; None where somebody may."""
        entity = entity_in(write.data)
        if entity is None:
            return "it names no configuration"
        if self._began_with_the_log(write) and entity not in self._configured[write.session]:
            return f"its session has not written {entity}"
        return None

    def _began_with_the_log(self, write: Write) -> bool:
        """Whether all that the session did is in the log (up to 1.0 a client goes on in another session)."""
        return write.session not in self._earlier_sessions and self._features.keeps_to_its_session

    def _before(self, write: Write, milliseconds: int) -> int:
        """The zxid of the last write of the stream that is by so much older than another, 0 without one."""
        place = bisect_left(self._writes.times, write.time - milliseconds)
        return int(self._writes.zxids[place - 1]) if place else 0


_assigned = lru_cache(10_000)(assign_replicas)
"""Creations of a cluster are alike: few sets of brokers, numbers of partitions and beginnings."""


@lru_cache(100)
def _begins(brokers: tuple[int, ...], first: int, replicas: int) -> dict[tuple[int, ...], list[tuple[int, int]]]:
    """By what is assigned to partition `first`: all that the rule may have been given at random for that."""
    found: dict[tuple[int, ...], list[tuple[int, int]]] = defaultdict(list)
    numbers = range(len(brokers))
    for chosen in product(numbers, numbers):
        found[tuple(assign_replicas(brokers, 1, replicas, *chosen, first)[0])].append(chosen)
    return dict(found)


def _orders(brokers: frozenset[int], wanted: list[list[int]]) -> list[list[int]]:
    """The orders in which Kafka may have taken the brokers: by id, or (2.0 and before) as its cache had them.

    The first replicas of the first partitions go round the brokers, which tells the order, or the beginning of it.
    """
    begins = [replicas[0] for replicas in wanted[: len(brokers)]]
    others = sorted(brokers - set(begins))
    if len(set(begins)) < len(begins) or len(others) > _UNSEEN:
        return [sorted(brokers)]
    return [sorted(brokers), *([*begins, *rest] for rest in permutations(others))]
