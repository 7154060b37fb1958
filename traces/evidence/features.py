"""What a version of Kafka can do, as its own log tells: the rules of replay depend on nothing else.

Which releases have a rule is a fact that the specification's function states (`kafkaproof.spec.facts`).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import NamedTuple

from kafkaproof.spec.catalogue import find
from kafkaproof.spec.facts import Fact, fact_of
from kafkaproof.spec.language.releases import Releases
from kafkaproof.spec.partition import brokers, elections, progress
from kafkaproof.spec.partition.history import leader_zk, triggers
from kafkaproof.traces.reading.recording import Recording

GUARDED = "fenced"
"""The variant of the election whose controllers check each write, and the beginning of the names of those like it."""
BEFORE_KIP455, SINCE_KIP455 = Releases("2.1", "2.3"), Releases("2.4", "3.9")
"""The releases of that variant, by the form of their topic znodes."""


class Features(NamedTuple):
    """A variant of the election system, and how the log's controllers reassign.

    `kip455`: the topic znode says what is added and removed (2.4 and later), else only /admin/reassign_partitions
    tells of a reassignment.
    """

    variant: str
    kip455: bool

    @property
    def releases(self) -> Releases:
        """The releases that may have written such a log."""
        if self.guarded:
            return SINCE_KIP455 if self.kip455 else BEFORE_KIP455
        releases = find("election", self.variant)[0].releases
        assert releases, self.variant
        return releases

    @property
    def guarded(self) -> bool:
        """Whether each write of a controller is checked against the epoch (2.1 and later)."""
        return self.variant.startswith(GUARDED)

    @property
    def partition_variant(self) -> str:
        """A variant of the partition system of the last of these releases."""
        if self.guarded:
            return "fenced" if self.kip455 else "removal-at-start"
        return "kip112" if self.variant == "zkclient" else "legacy"

    @property
    def has_one_thread(self) -> bool:
        """Whether a controller handles one event after the other, in one thread (0.11 and later).

        A log of 0.11 or 1.0 is like one of 0.10: nothing is said of it.
        """
        return self.variant != "zkclient"

    @property
    def elects_what_is_deleted(self) -> bool:
        """Whether a controlled shutdown elects for topics that are queued for deletion."""
        return not _all_have(self.releases, brokers.is_moved_away)

    @property
    def empties_isrs(self) -> bool:
        """Whether the last member of an ISR may be taken out of it."""
        return not _all_have(self.releases, elections.isr_without)

    @property
    def elects_whom_it_has(self) -> bool:
        """Whether a preferred election may be held, and written, though the preferred replica leads."""
        asked = _some_have(self.releases, leader_zk.needs_any_election)
        return asked and not _all_have(self.releases, triggers.chosen_leader_if_needed)

    @property
    def takes_the_dead_offline_at_first(self) -> bool:
        """Whether a new controller takes the replicas of dead brokers out of the ISRs.

        A log of 2.3, which does, is like one of 2.2: it is not held to that.
        """
        return _all_have(self.releases, progress.dead_hosts)


def find_features(recording: Recording, variant: str, root: str) -> Features:
    """The features of the Kafka that wrote a log: topic znodes of version 2 and later are those of KIP-455."""
    return Features(variant, variant.startswith(GUARDED) and root in recording.survey.reassigns)


@cache
def _all_have(releases: Releases, rule: Callable) -> bool:
    return _fact(rule).holds_in(releases)


@cache
def _some_have(releases: Releases, rule: Callable) -> bool:
    return any(each.overlaps(releases) for each in _fact(rule).releases)


def _fact(rule: Callable) -> Fact:
    fact = fact_of(rule)
    assert fact, rule
    return fact
