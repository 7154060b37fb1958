"""Which of what brokers' logs tell is in ZooKeeper's history, and what contradicts it."""

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import chain
from statistics import median

from kafkaproof.traces.broker_logs.claims import Claim, Elected, Held, ShutdownAsked
from kafkaproof.traces.broker_logs.history import AHEAD, LONG_AGO, History
from kafkaproof.traces.broker_logs.reading import Read
from kafkaproof.traces.broker_logs.symptoms import remarks_in
from kafkaproof.traces.evidence.shutdowns import LEAVES_WITHIN
from kafkaproof.traces.evidence.streams import Gathered
from kafkaproof.traces.explain.facts.remarks import Remark
from kafkaproof.traces.explain.log.streams import Streams
from kafkaproof.traces.explain.partitions.ways import SHUTDOWN
from kafkaproof.traces.reading.recording import Recording

_QUARTER = 15 * 60 * 1000
EXPLAINED = "changes explained by a controlled shutdown"
CONFIRMED, CONTRADICTED, OUTSIDE = "confirmed", "contradicted", "not in this log's time"


@dataclass
class Checked:
    """What became of the claims, by kind; `offset`: ms by which the brokers' clock face is ahead of UTC.

    `contradictions`: each with why; `remarks`: what went wrong all the same.
    """

    read: Read
    offset: int
    counts: dict[str, Counter] = field(default_factory=lambda: defaultdict(Counter))
    contradictions: list[tuple[Held, str]] = field(default_factory=list)
    remarks: list[Remark] = field(default_factory=list)


def check_logs(read: Read, gathered: Gathered, recording: Recording, streams: Streams) -> Checked:
    """Hold what brokers' logs tell to ZooKeeper's log."""
    history = History(gathered, recording)
    checked = Checked(read, _offset(read.claims, history))
    for claim in read.claims:
        if not isinstance(claim, Held):
            continue
        time = claim.time - checked.offset
        why = history.why_not(claim, time)
        known = history.knows(claim, time)
        checked.counts[claim.what][(CONTRADICTED if why else CONFIRMED) if known else OUTSIDE] += 1
        checked.contradictions += [(claim, why)] if why and known else []
    told = list(_shutdowns(read.claims, checked.offset, streams))
    if told:
        checked.counts[EXPLAINED] = Counter(told)
    checked.remarks = remarks_in((replace(claim, time=claim.time - checked.offset) for claim in read.claims), history)
    return checked


def _offset(claims: list[Claim], history: History) -> int:
    """How far the brokers' clock face is from UTC: whole quarters of an hour, told by the elections."""
    found = []
    for claim in claims:
        if isinstance(claim, Elected) and claim.epoch in history.terms:
            broker, since = history.terms[claim.epoch]
            if since != LONG_AGO and broker == claim.broker:
                found.append(claim.time - since)
    return round(median(found) / _QUARTER) * _QUARTER if found else 0


def _shutdowns(claims: list[Claim], offset: int, streams: Streams) -> Iterator[str]:
    """Whether a controller's log tells of the request, for each change that a controlled shutdown explains best."""
    asked: dict[int, list[int]] = defaultdict(list)
    for claim in claims:
        if isinstance(claim, ShutdownAsked):
            asked[claim.leaving].append(claim.time - offset)
    for each in streams.partitions if asked else ():
        if each.explanations and each.explanations[0].trigger == SHUTDOWN:
            change = each.change
            left = set(change.former.isr) - set(change.written.isr) | {change.former.leader}
            times = chain.from_iterable(asked[broker] for broker in left)
            near = any(change.time - LEAVES_WITHIN <= time <= change.time + AHEAD for time in times)
            yield CONFIRMED if near else "not told of"
