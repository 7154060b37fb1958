"""What a version of Kafka can do, as its own log tells: the rules of replay depend on nothing else."""

from __future__ import annotations

from typing import NamedTuple

from kafkaproof.traces.reading.recording import Recording


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
    def has_one_thread(self) -> bool:
        """Whether a controller handles one event after the other, in one thread (1.1 and later)."""
        return self.variant != "zkclient"

    @property
    def elects_what_is_deleted(self) -> bool:
        """Whether a controlled shutdown elects for topics that are queued for deletion (up to 2.0)."""
        return not self.guarded

    @property
    def takes_the_dead_offline_at_first(self) -> bool:
        """Whether a new controller takes the replicas of dead brokers out of the ISRs (2.3 and later).

        A log of 2.3 is like one of 2.2: it is not held to that.
        """
        return self.kip455


def find_features(recording: Recording, variant: str, root: str) -> Features:
    """The features of the Kafka that wrote a log: topic znodes of version 2 and later are those of KIP-455."""
    return Features(variant, variant.startswith("fenced") and root in recording.survey.reassigns)
