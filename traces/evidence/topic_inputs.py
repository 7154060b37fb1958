"""What the log shows of a controller's inputs that are of topics: the versions of their znodes, each with its zxid."""

import re
from collections import defaultdict
from collections.abc import Iterable

import numpy as np

from kafkaproof.traces.basics.versions import NEVER, Version, Versions
from kafkaproof.traces.evidence.cluster_inputs import CommonInputs
from kafkaproof.traces.evidence.state_changes import Partition
from kafkaproof.traces.zookeeper.snapshot import Znode
from kafkaproof.traces.zookeeper.znodes.assignments import PARTS, Assignment, assignment_in
from kafkaproof.traces.zookeeper.znodes.json_parts import ids_in, is_number, json_in, part_of

_TOPIC, _MARKER, _CONFIG = "/brokers/topics/", "/admin/delete_topics/", "/config/topics/"
_OF_TOPIC = re.compile(rf"({_TOPIC}|{_MARKER}|{_CONFIG})[^/]+")
_LAST = 1 << 64
_UNCLEAN = "unclean.leader.election.enable"


class Inputs:
    """The inputs that are of some topics, collected write by write, with those of the cluster at hand.

    Asked afterwards, when all of the stream is known.
    """

    def __init__(self, common: CommonInputs, nodes: Iterable[tuple[str, Znode]]):
        """`nodes`: the znodes of these topics before the first record, by their paths as brokers know them."""
        self.common = common
        self.brokers = common.brokers
        self._znodes: dict[str, Versions[bytes | None]] = defaultdict(lambda: Versions(None))
        for path, node in nodes:
            self.note(0, path, node.data or b"")

    def note(self, zxid: int, path: str, data: bytes | None) -> None:
        """A znode has these data from a record on, or (None) is gone."""
        if _OF_TOPIC.fullmatch(path):
            self._znodes[path].add(zxid, data)

    def assignments(self, partition: Partition, first: int, last: int) -> list[Version]:
        """The assignments that the topic znode gave a partition, oldest first, since the topic was created."""
        topic, number = partition
        found: list[Version] = []
        for zxid, data in self._znodes[_TOPIC + topic].between(first, last):
            if assignment := assignment_in(data, number):
                found.append(Version(zxid, assignment))
            else:
                found.clear()
        return found

    def assigned(self, partition: Partition, zxid: int) -> Assignment | None:
        """The assignment that the topic znode gave a partition after the record of that zxid."""
        topic, number = partition
        return assignment_in(self._znodes[_TOPIC + topic].at(zxid), number)

    def exists(self, topic: str, zxid: int) -> bool:
        """Whether a topic was there after the record of that zxid."""
        return self._znodes[_TOPIC + topic].at(zxid) is not None

    def deletions(self, topic: str, first: int, last: int) -> list[bool]:
        """Whether the deletion of a topic was requested, at each time that this changed."""
        return [v.value is not None for v in self._znodes[_MARKER + topic].between(first, last)]

    def numbers(self, topic: str, first: int, last: int) -> list[list[int]]:
        """The numbers of the partitions in each version of a topic znode, oldest first, since the topic was created."""
        found: list[list[int]] = []
        for version in self._znodes[_TOPIC + topic].between(first, last):
            listed = part_of(json_in(version.value), "partitions")
            numbers = sorted(int(name) for name in listed if is_number(name))
            found = [] if version.value is None else [*found, numbers]
        return found

    def assigned_brokers(self) -> set[int]:
        """The ids of all brokers that some assignment names."""
        contents = [
            json_in(v.value)
            for path, versions in self._znodes.items()
            if path.startswith(_TOPIC)
            for v in versions.between(0, _LAST)
        ]
        parts = [part_of(content, name) for content in contents for name in PARTS]
        return {broker for part in parts for ids in part.values() for broker in ids_in(ids)}

    def topics(self) -> list[str]:
        """The topics of the stream that had a znode at some time."""
        return [path.removeprefix(_TOPIC) for path in self._znodes if path.startswith(_TOPIC)]

    def topic_versions(self, topic: str, first: int = 0, last: int = _LAST) -> list[Version]:
        """The contents of a topic znode, oldest first, None where there was none."""
        return self._znodes[_TOPIC + topic].between(first, last)

    def moments(self, topics: Iterable[str]) -> np.ndarray:
        """The zxids at which requests to delete topics, configurations or failed log directories may have changed."""
        own = [self._znodes[path + topic] for topic in topics for path in (_MARKER, _CONFIG)]
        zxids = {version.zxid for versions in (*own, self.common.default_config) for version in versions}
        return np.array(sorted(zxids | self.common.failures_of_directories()), np.int64)

    def marked(self, topic: str, first: int, last: int) -> int | None:
        """The zxid since which the deletion of a topic was asked for at some time from `first` on, None if never."""
        versions = self._znodes[_MARKER + topic].between(first, last)
        return next((max(v.zxid, first) for v in versions if v.value is not None), None)

    def first_marked(self, topic: str) -> int:
        """The zxid at which the deletion of a topic was first asked for, one behind all others if it never was."""
        return next((version.zxid for version in self._znodes[_MARKER + topic] if version.value is not None), NEVER)

    def unclean(self, topic: str, first: int, last: int) -> list[Version]:
        """unclean.leader.election.enable of a topic, else the cluster's default: True, False, None if neither says."""
        own, default = self._znodes[_CONFIG + topic], self.common.default_config
        zxids = sorted({max(v.zxid, first) for versions in (own, default) for v in versions.between(first, last)})
        pairs = [(zxid, unclean_in(own.at(zxid)), unclean_in(default.at(zxid))) for zxid in zxids]
        return [Version(zxid, general if special is None else special) for zxid, special, general in pairs]


def unclean_in(data: bytes | None) -> bool | None:
    """What a config znode says of unclean elections, None for nothing."""
    value = part_of(json_in(data), "config").get(_UNCLEAN)
    return None if value is None else str(value).lower() == "true"
