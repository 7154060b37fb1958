"""What ZooKeeper's log tells of controllers and of partition states: when each was written, in ms."""

from bisect import bisect_right
from collections import defaultdict

from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.traces.broker_logs.claims import Held, State
from kafkaproof.traces.evidence.controllers import winners
from kafkaproof.traces.evidence.state_changes import Change, Partition
from kafkaproof.traces.evidence.streams import Evidence, Gathered
from kafkaproof.traces.explain.facts.leaderless import is_unclean
from kafkaproof.traces.reading.recording import Recording
from kafkaproof.traces.zookeeper.znodes.contents import state_in
from kafkaproof.traces.zookeeper.znodes.topics import PlaceKind, place_of

AHEAD = 10_000
"""So many ms may the clock of a broker be behind that of ZooKeeper."""
LONG_AGO = 0
_DURING_DELETION = -2


class History:
    """When each epoch began, by whom, and when each state was written.

    `terms`: broker and time by epoch; `states`: the time by partition, leader and leader epoch; `first`, `last`:
    between which times the log is; `whole`: it begins with the first record ever.
    """

    def __init__(self, gathered: Gathered, recording: Recording):
        times = {transaction.zxid: transaction.time for transaction in recording.transactions}
        self.first, self.last = recording.transactions[0].time, recording.transactions[-1].time
        self.whole = recording.start is None
        self.terms = {
            winner.epoch: (winner.broker, times.get(winner.zxid, LONG_AGO))
            for winner in winners(gathered.common.controllers.all)
        }
        self.states: dict[Partition, dict[tuple[int, int], int]] = defaultdict(dict)
        self._gathered, self._changes = gathered, {}
        self._stream: tuple[str | None, Evidence | None] = None, None
        for evidence in gathered.streams.values():
            for path, node in evidence.nodes.items():
                place = place_of(path)
                if place and place.kind == PlaceKind.STATE and (state := state_in(node.data)):
                    self.states[place.partition][state.leader, state.leader_epoch] = LONG_AGO
            for change in evidence.changes:
                if change.after:
                    written = change.after.leader, change.after.leader_epoch
                    self.states[change.partition].setdefault(written, change.time)

    def why_not(self, claim: Held, time: int) -> str | None:
        """Why a claim cannot be true; None where it can."""
        term = None if claim.epoch is None else self.terms.get(claim.epoch)
        if claim.epoch is not None and term is None:
            return f"nobody ever wrote controller epoch {claim.epoch}"
        if term and term[0] != claim.broker:
            return f"controller epoch {claim.epoch} is broker {term[0]}'s"
        if term and time < term[1] - AHEAD:
            return f"controller epoch {claim.epoch} was written only {(term[1] - time) / 1000:.0f} s later"
        return self._why_no_state(claim, time) if isinstance(claim, State) else None

    def _why_no_state(self, claim: State, time: int) -> str | None:
        topic, number = claim.partition
        written = self.states.get(claim.partition, {}).get((claim.leader, claim.leader_epoch))
        state = f"leader {claim.leader} in leader epoch {claim.leader_epoch} of {topic}-{number}"
        if written is None:
            return f"{state} was never written"
        return f"{state} was written only {(written - time) / 1000:.0f} s later" if time < written - AHEAD else None

    def knows(self, claim: Held, time: int) -> bool:
        """Whether the log tells of the time of a claim, and of all that it may speak of."""
        if not self.first - AHEAD <= time <= self.last + AHEAD:
            return False
        if isinstance(claim, State) and claim.leader == _DURING_DELETION:
            return False
        if self.whole:
            return True
        if isinstance(claim, State):
            known = [epoch for _, epoch in self.states.get(claim.partition, ())]
            if not known or claim.leader_epoch < min(known):
                return False
        return claim.epoch is None or claim.epoch >= min(self.terms, default=0)

    # Who ruled

    def epoch_at(self, time: int) -> int:
        """The controller epoch at a time, -1 where none is known."""
        return max((epoch for epoch, (_, since) in self.terms.items() if since <= time), default=-1)

    def epoch_of(self, broker: int, time: int) -> int | None:
        """The last epoch that a broker has won by a time, None where it has none."""
        own = [epoch for epoch, (winner, since) in self.terms.items() if winner == broker and since <= time + AHEAD]
        return max(own, default=None)

    # What a partition's state was

    def changes_of(self, partition: Partition) -> list[Change]:
        """All changes of a partition's state, in the order of the log."""
        if partition not in self._changes:
            name = self._gathered.common.subjects.of_topic(partition[0])
            if name != self._stream[0]:
                self._stream = name, self._gathered.streams[name] if name in self._gathered.streams.kept else None
            changes = self._stream[1] and self._stream[1].changes
            self._changes[partition] = changes.at(changes.of(partition)) if changes else []
        return self._changes[partition]

    def state_at(self, partition: Partition, time: int) -> Change | None:
        """The change that wrote what a partition's state was at a time, None where it is not in the log."""
        changes = self.changes_of(partition)
        place = bisect_right(changes, time, key=lambda change: change.time)
        return changes[place - 1] if place else None

    def after(self, change: Change) -> Change | None:
        """The next change of the same partition."""
        return next((each for each in self.changes_of(change.partition) if each.zxid > change.zxid), None)

    def ends(self, change: Change) -> tuple[int | None, str]:
        """When the state that a change wrote, or the term that it was in, is over (None: never), and by what."""
        following = self.after(change)
        terms = [
            (since, f"until broker {broker} was elected")
            for broker, since in self.terms.values()
            if since > change.time
        ]
        written = [(following.time, f"until {following.zxid:#x}")] if following else []
        return min([*terms, *written], default=(None, "to the end of the log"))

    def unclean_before(self, partition: Partition, time: int) -> Change | None:
        """The last election of a leader by a time, if it was unclean."""
        elected = [
            each
            for each in self.changes_of(partition)
            if each.time <= time
            and each.before
            and each.after
            and each.after.leader not in (NOBODY, each.before.leader)
        ]
        return elected[-1] if elected and is_unclean(elected[-1]) else None
