"""Which of what brokers' logs tell is in ZooKeeper's history, and what contradicts it."""

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain
from statistics import median

from traces.broker_logs.reading import ELECTED, SHUTTING_DOWN, STATE, Claim, Read
from traces.evidence import Gathered
from traces.partitions.explanations import SHUTDOWN
from traces.partitions.leaving import LEAVES_WITHIN
from traces.recording import Recording
from traces.streams import Streams
from traces.znodes.contents import state_in
from traces.znodes.places import place_of

AHEAD = 10_000
"""So many ms may the clock of a broker be behind that of ZooKeeper."""
_QUARTER = 15 * 60 * 1000
_DURING_DELETION = -2
_LONG_AGO = 0
EXPLAINED = "changes explained by a controlled shutdown"
CONFIRMED, CONTRADICTED, OUTSIDE = "confirmed", "contradicted", "not in this log's time"


@dataclass
class Checked:
    """What became of the claims, by kind; `offset`: ms by which the brokers' clock face is ahead of UTC.

    `contradictions`: each with why.
    """

    read: Read
    offset: int
    counts: dict[str, Counter] = field(default_factory=lambda: defaultdict(Counter))
    contradictions: list[tuple[Claim, str]] = field(default_factory=list)


class History:
    """What ZooKeeper's log tells of controllers and of partition states: when each was written, in ms."""

    def __init__(self, gathered: Gathered, recording: Recording):
        times = {transaction.zxid: transaction.time for transaction in recording.transactions}
        self.first, self.last = recording.transactions[0].time, recording.transactions[-1].time
        self.whole = recording.start is None
        self.reigns = {c.epoch: (c.broker, times.get(c.epoch_zxid, _LONG_AGO))
                       for c in gathered.common.controllers.all if c.epoch is not None}
        self.states: dict[tuple[str, int], dict[tuple[int, int], int]] = defaultdict(dict)
        for evidence in gathered.streams.values():
            for path, node in evidence.nodes.items():
                if place_of(path).kind == "state" and (state := state_in(node.data)):
                    self.states[place_of(path).partition][state.leader, state.leader_epoch] = _LONG_AGO
            for change in evidence.changes:
                if change.after:
                    written = change.after.leader, change.after.leader_epoch
                    self.states[change.partition].setdefault(written, change.time)

    def why_not(self, claim: Claim, time: int) -> str | None:
        """Why a claim cannot be true; None where it can."""
        reign = self.reigns.get(claim.epoch)
        if claim.epoch is not None and reign is None:
            return f"nobody ever wrote controller epoch {claim.epoch}"
        if reign and reign[0] != claim.broker:
            return f"controller epoch {claim.epoch} is broker {reign[0]}'s"
        if reign and time < reign[1] - AHEAD:
            return f"controller epoch {claim.epoch} was written only {(reign[1] - time) / 1000:.0f} s later"
        return self._why_no_state(claim, time) if claim.what == STATE else None

    def _why_no_state(self, claim: Claim, time: int) -> str | None:
        topic, number = claim.partition
        written = self.states.get(claim.partition, {}).get((claim.leader, claim.leader_epoch))
        state = f"leader {claim.leader} in leader epoch {claim.leader_epoch} of {topic}-{number}"
        if written is None:
            return f"{state} was never written"
        return f"{state} was written only {(written - time) / 1000:.0f} s later" if time < written - AHEAD else None

    def knows(self, claim: Claim, time: int) -> bool:
        """Whether the log tells of the time of a claim, and of all that it may speak of."""
        if not self.first - AHEAD <= time <= self.last + AHEAD or claim.leader == _DURING_DELETION:
            return False
        if self.whole:
            return True
        oldest = min(self.reigns, default=0)
        known = [epoch for _, epoch in self.states.get(claim.partition, ())]
        new = claim.leader_epoch is None or bool(known) and claim.leader_epoch >= min(known)
        return new and (claim.epoch is None or claim.epoch >= oldest)


def check_logs(read: Read, gathered: Gathered, recording: Recording, streams: Streams) -> Checked:
    """Hold what brokers' logs tell to ZooKeeper's log."""
    history = History(gathered, recording)
    checked = Checked(read, _offset(read.claims, history))
    for claim in read.claims:
        if claim.what == SHUTTING_DOWN:
            continue
        time = claim.time - checked.offset
        why = history.why_not(claim, time)
        known = history.knows(claim, time)
        checked.counts[claim.what][(CONTRADICTED if why else CONFIRMED) if known else OUTSIDE] += 1
        checked.contradictions += [(claim, why)] if why and known else []
    told = list(_shutdowns(read.claims, checked.offset, streams))
    if told:
        checked.counts[EXPLAINED] = Counter(told)
    return checked


def _offset(claims: list[Claim], history: History) -> int:
    """How far the brokers' clock face is from UTC: whole quarters of an hour, told by the elections."""
    found = [claim.time - history.reigns[claim.epoch][1] for claim in claims
             if claim.what == ELECTED and history.reigns.get(claim.epoch, (None, _LONG_AGO))[1] != _LONG_AGO
             and history.reigns[claim.epoch][0] == claim.broker]
    return round(median(found) / _QUARTER) * _QUARTER if found else 0


def _shutdowns(claims: list[Claim], offset: int, streams: Streams) -> Iterator[str]:
    """Whether a controller's log tells of the request, for each change that a controlled shutdown explains best."""
    asked: dict[int, list[int]] = defaultdict(list)
    for claim in claims:
        if claim.what == SHUTTING_DOWN:
            asked[claim.leader].append(claim.time - offset)
    for each in streams.partitions if asked else ():
        if each.explanations and each.explanations[0].trigger == SHUTDOWN:
            change = each.change
            left = set(change.before.isr) - set(change.after.isr) | {change.before.leader}
            times = chain.from_iterable(asked[broker] for broker in left)
            near = any(change.time - LEAVES_WITHIN <= time <= change.time + AHEAD for time in times)
            yield CONFIRMED if near else "not told of"
