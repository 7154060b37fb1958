"""The deletion of topics: whether a controller may complete it, or take the request for it away."""

from collections import defaultdict

from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.traces.evidence.state_changes import Change
from kafkaproof.traces.evidence.streams import Evidence
from kafkaproof.traces.evidence.terms import ObservedTerm
from kafkaproof.traces.evidence.topic_trees import TopicTree
from kafkaproof.traces.evidence.writes import Form, Write
from kafkaproof.traces.zookeeper.znodes.topics import PlaceKind


class Deletions:
    """What each controller is seen to know of topics, and to have done for their deletion."""

    def __init__(self, evidence: Evidence):
        self._inputs, self._deleters = evidence.inputs, evidence.common.deleters
        self._known: set[tuple[int, str]] = set()
        self._offline: dict[tuple[int, str], set[int]] = defaultdict(set)
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
        leaderless = change and change.after and change.after.leader == NOBODY
        if leaderless and self.queued_at(term, write.place.topic, write.zxid):
            self._offline[key].add(write.place.number)

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
        if asked is None:
            return "T1: nobody has asked for the deletion of this topic"
        if term.unknown or tree.topic is None or not self.knows(term, topic, tree):
            return None
        there = self._inputs.brokers.between(asked, zxid)
        for number, assignment in tree.topic.partitions.items():
            absent = [r for r in assignment.replicas if not any(r in version.value for version in there)]
            if absent:
                return (
                    f"T1: the replica of partition {number} on broker {absent[0]} cannot have been deleted, the "
                    "broker has not been there since"
                )
            if self._leads_on(term, topic, tree, number, set(assignment.replicas)):
                return f"T1: the replicas of partition {number} have not been taken offline"
        return None

    def _leads_on(self, term: ObservedTerm, topic: str, tree: TopicTree, number: int, replicas: set[int]) -> bool:
        """Whether a partition has never been without a leader since this controller was to delete it.

        A state that another controller created in this term is not known to this one.
        """
        state = tree.states.get(number)
        if state is None or not replicas & set(state.isr) or number in self._offline[term.start, topic]:
            return False
        zxid, epoch = self._created.get((topic, number), (0, term.epoch))
        return zxid < term.start or epoch == term.epoch

    def why_marker_stays(self, term: ObservedTerm, write: Write, tree: TopicTree) -> str | None:
        """Why a controller that is completing nothing does not take a request to delete away (T2); None if it may."""
        topic = write.place.topic
        if tree.since is None or not self.knows(term, topic, tree):
            return None
        if write.session not in self._deleters and not self._offline[term.start, topic]:
            return None
        return "T2: the topic is still there, and its controller knows it and deletes topics"
