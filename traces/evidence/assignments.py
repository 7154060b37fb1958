"""Which assignments of its partitions a stream has shown at which time, for many changes at once."""

from collections.abc import Sequence

import numpy as np

from kafkaproof.traces.basics.columns import distinct
from kafkaproof.traces.evidence.topic_inputs import Inputs, Partition
from kafkaproof.traces.zookeeper.znodes.assignments import Assignment, assignment_in


class Assigned:
    """The assignments that the topic znodes gave each partition. `versions`: all, one partition after the other."""

    def __init__(self, inputs: Inputs, partitions: Sequence[Partition]):
        """`partitions`: those whose codes the methods are given."""
        topics = {topic: inputs.topic_versions(topic) for topic in dict.fromkeys(topic for topic, _ in partitions)}
        self._moments = np.unique([version.zxid for versions in topics.values() for version in versions])
        self.versions: list[Assignment | None] = []
        owners, zxids = [], []
        for code, (topic, number) in enumerate(partitions):
            for place, version in enumerate(topics[topic]):
                assignment = assignment_in(version.value, number)
                if place == 0 or assignment != self.versions[-1]:
                    self.versions.append(assignment)
                    owners.append(code)
                    zxids.append(version.zxid)
        self._keys = self._key(np.array(owners, np.int64), np.array(zxids, np.int64))

    def places(self, partitions: np.ndarray, zxids: np.ndarray) -> np.ndarray:
        """Which of all versions each partition had after the record of a zxid."""
        return np.searchsorted(self._keys, self._key(partitions, zxids), "right") - 1

    def ranges(self, first: np.ndarray, last: np.ndarray) -> np.ndarray:
        """The same number for each row of which the versions from one place to another are the same."""
        rows, codes = distinct(first, last)
        known: dict[tuple[Assignment | None, ...], int] = {}
        parts = (tuple(self.versions[start : end + 1]) for start, end in zip(first[rows].tolist(), last[rows].tolist()))
        return np.array([known.setdefault(part, len(known)) for part in parts], np.int64)[codes]

    def _key(self, partitions: np.ndarray, zxids: np.ndarray) -> np.ndarray:
        return partitions * (len(self._moments) + 1) + np.searchsorted(self._moments, zxids, "right")
