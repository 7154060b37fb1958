"""What the releases that may have written a log can do: the rules of replay depend on nothing else.

The only place of replay that names variants. Which releases have a rule is a fact that the specification's function
states (`kafkaproof.spec.facts`).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import NamedTuple

from kafkaproof.spec.election import election, session
from kafkaproof.spec.facts import Fact, fact_of
from kafkaproof.spec.kafka.replica_lists import is_numbered
from kafkaproof.spec.language.releases import Releases
from kafkaproof.spec.partition import progress, verdicts
from kafkaproof.spec.partition.metadata import halting
from kafkaproof.spec.partition.model import MODELS as PRESENT
from kafkaproof.spec.partition.reassignment import reassignment
from kafkaproof.spec.partition.releases.model import MODELS as FORMER
from kafkaproof.spec.replica.model import MODELS as REPLICAS
from kafkaproof.spec.requests.history.stops import is_later, whenever_it_was
from kafkaproof.spec.topics.model import MODELS as TOPICS
from kafkaproof.spec.topics.releases.model import MODELS as TOPICS_BEFORE

OF_TOPICS = (*TOPICS_BEFORE, *TOPICS)
"""The variants of *topics*, the oldest first."""


class Features(NamedTuple):
    """Releases whose logs are alike, and the variants that such a log is held to.

    `variant`: of *election*; of *partition*: `electing`, for a batch of elections, `handling`, for what an event has to
    write, `reassigning`, for reassignments and deletions.
    """

    releases: Releases
    variant: str
    electing: str
    handling: str
    reassigning: str

    @property
    def explaining(self) -> tuple[str, ...]:
        """The variants of *partition* any of which a controller may have followed, the newest first."""
        own = [m.variant for m in (*FORMER, *PRESENT) if m.releases and m.releases.overlaps(self.releases)]
        return tuple(reversed(own)) or (self.handling,)

    @property
    def making(self) -> tuple[str, ...]:
        """The variants of *topics* any of which a controller may have followed where topics are created or expanded, the
        newest first; the oldest where none is as old.
        """
        own = [m.variant for m in OF_TOPICS if m.releases and m.releases.overlaps(self.releases)]
        return tuple(reversed(own)) or (OF_TOPICS[0].variant,)

    @property
    def replicating(self) -> tuple[str, ...]:
        """The variants of *replica* any of which brokers may have followed, the newest first; the nearest where none is of
        these releases.
        """
        known = [(m.variant, m.releases) for m in REPLICAS if m.releases]
        own = [variant for variant, releases in known if releases.overlaps(self.releases)]
        earlier = [variant for variant, releases in known if releases < self.releases]
        later = [variant for variant, releases in known if self.releases < releases]
        return tuple(reversed(own or earlier[-1:] + later[:1]))

    @property
    def stopping(self) -> tuple[Callable, ...]:
        """By what a broker may tell whether a StopReplica comes too late, in one of the releases."""
        rules = halting.is_in_time, is_later, whenever_it_was
        return tuple(each for each in rules if any(r.overlaps(self.releases) for r in _fact(each).releases))

    @property
    def granting(self) -> str:
        """The variant by which a controller grants the ISR that a leader asks for (2.7 and later)."""
        return "fenced" if self.refuses_ineligible else "kip497"

    @property
    def writing(self) -> str:
        """The variant by which a leader writes its ISR itself (up to 2.6)."""
        return "removal-at-start" if self.guarded else self.electing

    @property
    def refuses_ineligible(self) -> bool:
        """Whether a controller refuses an ISR with a broker that is not live (3.3 and later)."""
        return _all_have(self.releases, verdicts.are_eligible)

    @property
    def guarded(self) -> bool:
        """Whether each write of a controller is checked against the epoch (2.1 and later)."""
        return _all_have(self.releases, election.register)

    @property
    def kip455(self) -> bool:
        """Whether the topic znode says what is added and removed (2.4 and later), else only
        /admin/reassign_partitions tells of a reassignment.
        """
        return _all_have(self.releases, reassignment.write_assignment)

    @property
    def numbers_partitions(self) -> bool:
        """Whether a topic is refused whose partitions are not numbered from 0 on (2.3 and later)."""
        return _all_have(self.releases, is_numbered)

    @property
    def has_one_thread(self) -> bool:
        """Whether a controller handles one event after the other, in one thread.

        A log of 0.11 or 1.0, where that is so too, is like one of 0.10: nothing is said of it.
        """
        return _all_have(self.releases, progress.give_up)

    @property
    def keeps_to_its_session(self) -> bool:
        """Whether a client whose session is over makes no request in the next one on its own (1.1 and later)."""
        return _all_have(self.releases, session.register_broker)

    @property
    def elects_uncleanly_unless_told(self) -> bool:
        """Whether unclean.leader.election.enable is true where nothing sets it (up to 0.10.2; KIP-106)."""
        return Releases("0.9", "0.10.2").overlaps(self.releases)


RANGES = (
    Features(Releases("0.9", "1.0"), "zkclient", "kip112", "zkclient", "phases-checked"),
    Features(Releases("1.1", "2.0"), "legacy", "legacy", "legacy", "phases-checked"),
    Features(Releases("2.1", "2.3"), "fenced", "removal-at-start", "kip380", "phases-checked"),
    Features(Releases("2.4", "3.9"), "fenced", "fenced", "fenced", "altering"),
)
"""All releases whose logs are replayed, by what their logs show: how a controller is elected, and the topic znode.

A log of 2.3, which takes the replicas of dead brokers out of ISRs when a term begins, is like one of 2.2: it is not
held to that.
"""


def of_release(release: str) -> Features:
    """The features of one release, such as ``2.8`` or ``2.8.2``. Raises ValueError where replay knows no such release."""
    own = Releases(release, release)
    for each in RANGES:
        if own.known and own.known[0] in each.releases:
            return each._replace(releases=own)
    raise ValueError(f"replay has {RANGES[0].releases.first} to {RANGES[-1].releases.last}")


@cache
def _all_have(releases: Releases, rule: Callable) -> bool:
    return _fact(rule).holds_in(releases)


def _fact(rule: Callable) -> Fact:
    fact = fact_of(rule)
    assert fact, rule
    return fact
