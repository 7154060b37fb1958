"""Where the log of a real ZooKeeper diverges, or first violates something, and the state that stands before that."""

from typing import NamedTuple

from kafkaproof.traces.evidence.state_changes import Change
from kafkaproof.traces.evidence.streams import Evidence
from kafkaproof.traces.evidence.terms import TermKey
from kafkaproof.traces.explain.election.result import Result
from kafkaproof.traces.explain.log.streams import Streams, unexplained
from kafkaproof.traces.explain.omissions.first_writes import Missing
from kafkaproof.traces.explain.partitions.explained import Explained
from kafkaproof.traces.explain.topics.context import Gap, Judged
from kafkaproof.traces.opened.election import election_before
from kafkaproof.traces.opened.partition import partition_before
from kafkaproof.traces.opened.standing import Standing
from kafkaproof.traces.opened.topics import work_before
from kafkaproof.traces.reading.recording import Recording
from kafkaproof.traces.zookeeper.transactions import Transaction

_BY_THE_RECORD = (
    "No state decides this: what is wrong shows in the record itself, or in others. This opens at the election."
)


class Place(NamedTuple):
    """A record of a log, and what is told of it."""

    transaction: Transaction
    told: str


def first_place(result: Result, recording: Recording) -> Place | None:
    """The record at which a log diverges, else the one that first violates something; None where there is none."""
    if result.divergence and result.diverging:
        zxid, reason = result.divergence
        return Place(result.diverging[0], f"diverges from {result.variant} at {zxid:#x}: {reason}")
    found = min(result.violations.found.values(), key=lambda each: each.zxid, default=None)
    if found is None:
        return None
    transaction = next(t for t in recording.transactions if t.zxid == found.zxid)
    return Place(transaction, f"violates {found.property} first at {found.zxid:#x}")


def standing_before(place: Place, result: Result, recording: Recording, streams: Streams) -> Standing:
    """The state of the model by which a record was judged, as it is before the record."""
    found = [
        each.found
        for each in unexplained(streams.gathered.common, streams)
        if (each.zxid, each.reason) == result.divergence
    ]
    if found and (standing := _before(streams, found[0], place.transaction)):
        return standing
    root = streams.gathered.common.members.root
    standing = election_before(recording, result.variant, place.transaction, root)
    if found or not result.by_a_state:
        return standing._replace(told=(_BY_THE_RECORD, *standing.told))
    return standing


def _before(
    streams: Streams, found: Explained | Judged | Gap | Missing | None, transaction: Transaction
) -> Standing | None:
    """The state of a partition, or of a controller at work; None where that has nothing to do with it."""
    gathered = streams.gathered

    def of_topic(topic: str) -> Evidence:
        return gathered.streams[gathered.common.subjects.of_topic(topic)]

    if isinstance(found, Judged):
        return work_before(gathered.streams[streams.stream_of(found)], found.write)
    if isinstance(found, Gap):
        return _work(gathered.streams[streams.stream_of(found)], transaction, found.term_key)
    if isinstance(found, Missing):
        evidence = of_topic(found.partition[0])
        return partition_before(
            evidence, _unwritten(evidence, found, transaction), evidence.terms.claimed(*found.term_key)
        )
    if isinstance(found, Explained):
        change, evidence = found.change, of_topic(found.change.topic)
        term = evidence.terms.claimed(*change.term_key) if change.after else None
        won = term if term and term.start < change.zxid else None
        work = _work(evidence, transaction, won.key) if won else None
        return work or partition_before(of_topic(change.topic), change, won)
    return None


def _work(evidence: Evidence, transaction: Transaction, term_key: TermKey) -> Standing | None:
    write = evidence.end._replace(zxid=transaction.zxid, time=transaction.time, session=transaction.session)
    return work_before(evidence, write, term_key)


def _unwritten(evidence: Evidence, missing: Missing, transaction: Transaction) -> Change:
    """The change that is missing: of it nothing is known but what stands before it, and that a controller writes it."""
    before = evidence.changes.state_at(missing.partition, transaction.zxid - 1)
    after = before and before._replace(leader_epoch=before.leader_epoch + 1)
    zxid, time = transaction.zxid, transaction.time
    return Change(zxid, time, missing.partition, 0, before, after, missing.term_key[1], None, True)
