"""What the controller of a term goes by about one partition: which versions of its state it has written, read or heard of."""

from __future__ import annotations

from collections.abc import Iterator
from math import inf

from kafkaproof.traces.evidence.features import Features
from kafkaproof.traces.explain.partitions.explanations import Explanation
from kafkaproof.traces.explain.partitions.leader_changes import BY_LEADER
from kafkaproof.traces.explain.partitions.sent import Sent
from kafkaproof.traces.explain.partitions.strategies import Strategy
from kafkaproof.traces.explain.partitions.ways import REASSIGNMENT
from kafkaproof.traces.wire.control.asked import Asked
from kafkaproof.traces.wire.control.runs import Runs
from kafkaproof.traces.wire.history import History, Reign, Version

_REMEMBERED = "0"
"""By so much the leader epoch is raised where a run tells of what was remembered before it."""


class Knowing(Runs):
    """What the controller of a term goes by. `versions`: those that it can know; `end`: the record from which it knows no more."""

    def __init__(self, history: History, features: Features, asked: Asked, reign: Reign, partition: tuple[str, int]):
        super().__init__(history, features, asked, reign, partition)
        self.end = reign.end if features.guarded else inf
        self.versions = [each for each in history.states[partition] if each.zxid < self.end or self.is_own(each)]

    def is_own(self, version: Version) -> bool:
        """Whether the controller wrote a version in this term, and not its broker as the leader, of which it is yet to hear."""
        found = self.explained(version)
        if found and all(each.trigger == BY_LEADER for each in found):
            return False
        return version.session == self.reign.session and version.state.controller_epoch == self.reign.epoch

    def until(self, place: int) -> float:
        """The zxid from which the controller knows a later version."""
        known = (v.zxid for v in self.versions[place + 1 :] if self.is_own(v) and not self.is_not_remembered(v))
        return next(known, self.end)

    def is_not_remembered(self, version: Version) -> bool:
        """Whether the controller wrote a raised leader epoch, and goes on telling of what it has remembered before."""
        if not any(each.strategy == Strategy.EPOCH_BUMP for each in self.explained(version)):
            return False
        return any(sent.raised == _REMEMBERED for run in self.runs_of(version) for sent in run)

    def explained(self, version: Version) -> tuple[Explanation, ...]:
        """By what a version may have been written."""
        return self._history.explained.get((version.zxid, self.partition), ())

    def is_first(self, place: int) -> bool:
        """Whether it is the version that stood when the term began."""
        later = self.versions[place + 1 : place + 2]
        return self.versions[place].zxid <= self.reign.zxid and all(each.zxid > self.reign.zxid for each in later)

    def runs_of(self, version: Version, trigger: str = REASSIGNMENT) -> list[tuple[Sent, ...]]:
        """What each run sends that writes a version."""
        own = [each for each in self.explained(version) if each.trigger == trigger]
        oldest = min((each.view or 0 for each in own), default=0)
        return list(self.writing(trigger, version, {each.strategy for each in own}, oldest))

    def remembered(self, place: int) -> Iterator[Version]:
        """What the controller may remember when it writes a version: an earlier one that it wrote or read at the beginning, or
        what it may have read since.
        """
        for earlier in range(place - 1, -1, -1):
            yield self.versions[earlier]
            version = self.versions[earlier]
            if self.is_first(earlier) or (self.is_own(version) and not self.is_not_remembered(version)):
                return


def with_remembered(run: tuple[Sent, ...], version: Version, base: int) -> tuple[Sent, ...]:
    """A run that tells of this version, in place of the one that was just there, as what the controller remembers."""
    state, raised = version.elected, str(version.state.leader_epoch - base)
    return tuple(
        each._replace(leader=state.leader, isr=state.isr, raised=raised) if each.raised == _REMEMBERED else each
        for each in run
    )
