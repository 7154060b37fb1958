"""The deletion of topics: whether a controller may complete it, or take the request for it away."""

from collections import defaultdict
from collections.abc import Iterator

from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.traces.evidence.state_changes import Change, Partition
from kafkaproof.traces.evidence.streams import Evidence
from kafkaproof.traces.evidence.terms import ObservedTerm
from kafkaproof.traces.evidence.topic_trees import TopicTree
from kafkaproof.traces.evidence.writes import Form, Write
from kafkaproof.traces.explain.partitions.strategies import Elected
from kafkaproof.traces.explain.topics.deleted_replicas import Doomed, course_of
from kafkaproof.traces.zookeeper.znodes.contents import PartitionState
from kafkaproof.traces.zookeeper.znodes.topics import PlaceKind


class Deletions:
    """What each controller is seen to know of topics, and to have done for their deletion.

    Of what it took offline for that the state before is remembered, by how much the leader epoch was raised, and that it
    knew of the state.
    """

    def __init__(self, evidence: Evidence):
        self._inputs, self._deleters, self._features = evidence.inputs, evidence.common.deleters, evidence.features
        self._known: set[tuple[int, str]] = set()
        self._offline: dict[tuple[int, str], dict[int, tuple[Elected | None, int, bool]]] = defaultdict(dict)
        self._created: dict[tuple[str, int], tuple[int, int]] = {}

    def note(self, term: ObservedTerm, write: Write, change: Change | None) -> None:
        """Remember that a controller has written something of a topic, and whether it took a partition offline."""
        key = term.start, write.place.topic
        self._known.add(key)
        if write.form == Form.CREATE and write.place.kind == PlaceKind.STATE:
            self._created[write.place.topic, write.place.number] = write.zxid, term.epoch
        if write.form == Form.DELETE and write.place.kind == PlaceKind.TOPIC:
            self._known.discard(key)
            self._offline.pop(key, None)
        leaderless = change and change.before and change.after and change.after.leader == NOBODY
        if change and leaderless and self.queued_at(term, write.place.topic, write.zxid):
            raised = change.written.leader_epoch - change.former.leader_epoch
            self._offline[key][write.place.number] = _elected(change.before), raised, True

    def written(self, start: int, topic: str) -> None:
        """Remember that a controller, named by the zxid at which its term began, has written states of a topic."""
        self._known.add((start, topic))

    def queued_at(self, term: ObservedTerm, topic: str, zxid: int) -> int | None:
        """The zxid from which a controller may have known that a topic is to be deleted, None if it cannot know."""
        return self._inputs.marked(topic, term.start, zxid)

    def surely_queued(self, term: ObservedTerm, topic: str, zxid: int) -> bool:
        """Whether topic and request stood when the term began, and ever since: the controller has read both."""
        there = self._inputs.topic_versions(topic, term.start, zxid - 1)
        asked = self._inputs.deletions(topic, term.start, zxid - 1)
        return not term.unknown and all(asked) and all(version.value is not None for version in there)

    def knows(self, term: ObservedTerm, topic: str, tree: TopicTree) -> bool:
        """Whether a controller must know of a topic: it has read all when its term began, or has written to it."""
        return tree.since is not None and tree.since <= term.start or (term.start, topic) in self._known

    def why_not_completed(self, term: ObservedTerm, topic: str, tree: TopicTree, zxid: int) -> str | None:
        """Why a controller cannot have had all replicas of a topic deleted (T1); None where it can."""
        asked = self.queued_at(term, topic, zxid)
        if asked is not None and (term.unknown or tree.topic is None or not self.knows(term, topic, tree)):
            return None
        views = () if asked is None else self._inputs.brokers.between(asked, zxid)
        there = None if asked is None else frozenset().union(*(version.value for version in views))
        for number, assignment in tree.topic.partitions.items() if tree.topic else ():
            if why := self._why_not_deleted(term, (topic, number), assignment.replicas, tree.states.get(number), there):
                return f"T1: {why}"
        return "T1: nobody has asked for the deletion of this topic" if asked is None else None

    def _why_not_deleted(
        self,
        term: ObservedTerm,
        partition: Partition,
        replicas: tuple[int, ...],
        state: PartitionState | None,
        there: frozenset[int] | None,
    ) -> str | None:
        """Why a controller cannot have had all replicas of a partition deleted; None where it can."""
        number, standing = partition[1], _elected(state)
        courses = [
            course_of(self._features, Doomed(replicas, standing, before, raised, is_known, there))
            for before, raised, is_known in self._beginnings(term, partition, standing)
        ]
        if any(course.begins and course.fits and course.undeleted is None for course in courses):
            return None
        if not any(course.begins for course in courses):
            return "nobody has asked for the deletion of this topic"
        if undeleted := courses[0].undeleted:
            return (
                f"the replica of partition {number} on broker {undeleted[0]} cannot have been deleted, the "
                "broker has not been there since"
            )
        return f"the replicas of partition {number} have not been taken offline"

    def _beginnings(
        self, term: ObservedTerm, partition: Partition, standing: Elected | None
    ) -> Iterator[tuple[Elected | None, int, bool]]:
        """From where a controller may have taken a partition's replicas offline: the state before, by how much it has raised
        the leader epoch, and whether it knows of the state.

        It need not have written anything; one that another controller created in this term it does not know.
        """
        topic, number = partition
        yield standing, 0, True
        if removed := self._offline[term.start, topic].get(number):
            yield removed
        zxid, epoch = self._created.get(partition, (0, term.epoch))
        if zxid >= term.start and epoch != term.epoch:
            yield standing, 0, False

    def why_marker_stays(self, term: ObservedTerm, write: Write, tree: TopicTree) -> str | None:
        """Why a controller that is completing nothing does not take a request to delete away (T2); None if it may."""
        topic = write.place.topic
        if tree.since is None or not self.knows(term, topic, tree):
            return None
        if write.session not in self._deleters and not self._offline[term.start, topic]:
            return None
        return "T2: the topic is still there, and its controller knows it and deletes topics"


def _elected(state: PartitionState | None) -> Elected | None:
    """Leader and ISR of a state, None without one."""
    return Elected(state.leader, frozenset(state.isr)) if state else None
