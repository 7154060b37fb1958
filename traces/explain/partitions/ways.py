"""The events that may have led to a change of a partition's state: all that the evidence admits, and what they are run from.

Whether they write it the transitions decide.
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.traces.evidence.broker_views import Sight, View
from kafkaproof.traces.explain.partitions.case import Case
from kafkaproof.traces.explain.partitions.events import Partition, Seen

FAILOVER, FAILURE, START_UP = "controller failover", "broker failure", "broker start-up"
CREATION, EXPANSION, DELETION = "topic creation", "partition expansion", "topic deletion"
REASSIGNMENT, SHUTDOWN, DIRECTORY = "reassignment", "controlled shutdown", "log directory failure"
NOTIFIED = "notification of a log directory failure"
ENABLED, FORCED = "unclean election enabled", "unclean election requested"
BY_ZNODE, BY_REQUEST = "preferred election by znode", "preferred election by request or timer"
_ANOTHER = -2
"""Stands for a broker that has no part in a partition."""


class Way(NamedTuple):
    """An event that may have led to a change: its trigger, the method of `Events` that runs it, and what that is given."""

    trigger: str
    event: str
    partition: Partition
    seen: Seen
    more: tuple = ()


def tokens_of(case: Case, sight: Sight, brokers: Iterable[int]) -> int | None:
    """How many brokers that the view has must count as offline so that none of these is online.

    None where nothing in the log bears it out: they go on for long, and told of no failed log directory.
    """
    registered = sight.view.brokers.intersection(brokers)
    return len(registered) if registered <= sight.leaving or registered <= sight.leaving | case.failed else None


def seen_by(case: Case, sight: Sight, replicas: Iterable[int], offline: Iterable[int]) -> Seen:
    """What a controller with a view goes by, to whom some brokers count as offline: they are shutting down, or else have
    lost a log directory.
    """
    own = {*replicas, case.written.leader, *case.written.isr, *(case.stood.isr if case.known else ())}
    live = sight.view.brokers & own
    registered = live.intersection(offline)
    leaving = registered & sight.leaving
    return Seen(live, leaving, False, registered - leaving, sight.leaderless, case.is_being_deleted, case.newer)


def rounds_of(case: Case, sight: Sight, partition: Partition, seen: Seen, waited: bool) -> Iterator[Way]:
    """The events that make a controller elect for all partitions without a leader; those that concern this one first.

    To a controller whose term begins nobody is shutting down, and all log directories work. `waited`: no replica was there
    when the partition was assigned.
    """
    leader, view = partition.leader, sight.view
    own = frozenset(partition.replicas) | (partition.isr or frozenset()) | {leader}
    left, joined = _moved(case, view, own)
    come = joined if sight.leaderless else joined - {leader}
    if leader in left:
        yield Way(FAILURE, "misses", partition, seen, (leader,))
    for broker in sorted(come & (own if waited else {case.written.leader})):
        yield Way(START_UP, "joins", partition, seen, (broker,))
    if not seen.offline and not seen.failed:
        yield Way(FAILOVER, "begins", partition, seen)
    for broker in _apart(left, own):
        yield Way(FAILURE, "misses", partition, seen, (broker,))
    for broker in _apart(come, own):
        yield Way(START_UP, "joins", partition, seen, (broker,))
    for broker in sorted(seen.failed):
        yield Way(DIRECTORY, "loses", partition, seen, (broker,))


def _moved(case: Case, view: View, own: frozenset[int]) -> tuple[frozenset[int], frozenset[int]]:
    """Who of a partition's brokers, and of others, may have gone and come before a view since the term began.

    If that was before the log, any may have.
    """
    if not case.unknown:
        return view.left, view.joined
    return view.left | own - view.brokers - {NOBODY}, view.joined | own & view.brokers


def _apart(brokers: frozenset[int], own: frozenset[int]) -> list[int]:
    """Those of some brokers that a partition has, and one for all others."""
    return [*sorted(brokers & own), *([_ANOTHER] if brokers - own else [])]


def asked_for(case: Case, partition: Partition, seen: Seen) -> Iterator[Way]:
    """The events that make a controller elect the preferred replica."""
    if case.preferred_requested:
        yield Way(BY_ZNODE, "prefers", partition, seen)
        yield Way(BY_ZNODE, "begins", partition, seen, (NOBODY, True))
    else:
        yield Way(BY_REQUEST, "asks", partition, seen, (False,))
        yield Way(BY_REQUEST, "balances", partition, seen)


def with_caches(case: Case, ways: Iterable[Way]) -> Iterator[Way]:
    """Ways, each also with every other leader that the controller may remember."""
    for way in ways:
        yield way
        for leader in sorted(case.remembered - {way.partition.leader}):
            yield way._replace(seen=way.seen._replace(remembered=leader))


def may_be_gone(case: Case, sight: Sight, replica: int) -> bool:
    """Whether a replica may count as offline to a controller with a view."""
    return replica not in sight.view.brokers or replica in sight.leaving or replica in case.failed


def goings_of(
    case: Case, sight: Sight, replica: int, partition: Partition, seen: Seen
) -> Iterator[tuple[Way, int | None, int]]:
    """The events that take a replica offline: each with the view that it shows, and its tokens."""
    view = sight.view
    if replica in case.failed and replica in view.brokers:
        yield Way(DIRECTORY, "loses", partition, seen, (replica,)), None, 1
    if replica in _moved(case, view, frozenset({replica}))[0]:
        yield Way(FAILURE, "misses", partition, seen, (replica,)), view.zxid, 0
    if replica not in view.brokers and not seen.offline and not seen.failed:
        yield Way(FAILOVER, "begins", partition, seen, (replica,)), view.zxid, 0
    if replica in sight.leaving:
        yield Way(SHUTDOWN, "releases", partition, seen, (replica,)), view.zxid, 1
