"""What a version of Kafka can do, as its own log tells: the rules of replay depend on nothing else."""

from __future__ import annotations

import re
from typing import NamedTuple

from traces.cluster import below, json_in
from traces.recording import Recording

_TOPIC = re.compile(r"/brokers/topics/[^/]+")


class Features(NamedTuple):
    """A variant of the election system, and how the log's controllers reassign.

    `kip455`: the topic znode says what is added and removed (2.4 and later), else only /admin/reassign_partitions
    tells of a reassignment.
    """

    variant: str
    kip455: bool

    @property
    def guarded(self) -> bool:
        """Whether each write of a controller is checked against the epoch (2.1 and later)."""
        return self.variant.startswith("fenced")

    @property
    def elects_what_is_deleted(self) -> bool:
        """Whether a controlled shutdown elects for topics that are queued for deletion (up to 2.2)."""
        return not self.kip455


def find_features(recording: Recording, variant: str, root: str) -> Features:
    """The features of the Kafka that wrote a log: topic znodes of version 2 and later are those of KIP-455."""
    nodes = recording.start.nodes if recording.start else {}
    written = [(path, node.data) for path, node in nodes.items()]
    written += [(o.path, o.data) for t in recording.transactions for o in t.operations if hasattr(o, "data")]
    return Features(variant, variant.startswith("fenced") and any(
        _TOPIC.fullmatch(below(root, path) or "") and json_in(data).get("version", 1) != 1 for path, data in written))
