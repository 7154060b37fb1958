"""One change by a controller with all that the controller may have read when it decided."""

from itertools import chain
from typing import Any, NamedTuple

from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.traces.evidence.broker_views import Sight
from kafkaproof.traces.evidence.state_changes import Change
from kafkaproof.traces.evidence.streams import Evidence
from kafkaproof.traces.evidence.terms import ObservedTerm
from kafkaproof.traces.explain.partitions.strategies import Elected, Strategy
from kafkaproof.traces.zookeeper.znodes.assignments import target_of
from kafkaproof.traces.zookeeper.znodes.topics import Place, PlaceKind

Repeated = tuple[Strategy, str, int]
"""Strategy, trigger and view of an election."""


class Unclean(NamedTuple):
    """unclean.leader.election.enable since an election read it: `enabled` at some time, `newly` so, `unset` so."""

    enabled: bool
    newly: bool
    unset: bool


class Created(NamedTuple):
    """How a partition came to be assigned: who of all brokers was `there` for the controller to see, whether that was
    `before` the term, and whether the topic `existed`."""

    there: frozenset[int]
    before: bool
    existed: bool


class Case(NamedTuple):
    """All that the explanations of a change depend on: cases that are equal have the same ones.

    `known`, `written`: leader and ISR before (None for a new partition) and after; `sights`: oldest first; `unclean`:
    what an election by each of these read, where somebody outside of the ISR was elected; `assignments`: the orders of
    replicas, where nothing fences other controllers any that it may have read; `targets`: what reassignments of the
    partition want; `created`: of a new partition that is assigned; `failed`: the brokers that have told of a failed log
    directory;
    `preferred_requested`: /admin/preferred_replica_election listed it since the controller last wrote it or deleted
    the list;
    `may_be_deleting`, `is_being_deleted`: the deletion of the topic was requested at some time of the term, or
    all along; `may_be_unclean`: unclean elections may be enabled for the topic, by whatever default; `remembered`: the
    leaders that the controller may remember, where another one wrote the present state after this one's term began;
    `newer`: one of a higher epoch did; `repeats`:
    strategy, trigger and view of the election that wrote the present state, if the batch that it was in may have been
    elected again; `topic_follows`: nothing but the leader epoch is new, and the next checked write of
    this controller in the stream is that of the topic znode; `unknown`: its term began before the log.
    """

    known: Elected | None
    written: Elected
    assignments: tuple[tuple[int, ...], ...]
    targets: tuple[tuple[int, ...], ...]
    created: Created | None
    failed: frozenset[int]
    preferred_requested: bool
    may_be_deleting: bool
    is_being_deleted: bool
    may_be_unclean: bool
    remembered: frozenset[int]
    topic_follows: bool
    unknown: bool
    newer: bool
    sights: tuple[Sight, ...] = ()
    unclean: tuple[Unclean, ...] = ()
    repeats: Repeated | None = None

    @property
    def stood(self) -> Elected:
        """Leader and ISR before; raises ValueError of a new partition."""
        if self.known is None:
            raise ValueError("nothing stood before the first state")
        return self.known


def case_of(change: Change, term: ObservedTerm, evidence: Evidence) -> Case:
    """The case of a change by the controller of a term, but for what it saw, and read after that."""
    inputs, features, before, zxid = evidence.inputs, evidence.features, change.before, change.zxid
    partition = change.partition
    known = Elected(before.leader, frozenset(before.isr)) if before else None
    written = Elected(change.written.leader, frozenset(change.written.isr))
    versions = inputs.assignments(partition, term.start, zxid)
    last = term.last.get(partition, term.start)
    targets = _targets(change, evidence, last if features.kip455 else term.start, last)
    read = versions[-1:] if features.guarded and zxid <= term.end else versions
    own = [order for v in read for order in (v.value.replicas, target_of(v.value))]
    requested = inputs.deletions(change.topic, term.start, zxid)
    following = evidence.next_checked(change.session, zxid) if known == written else None
    return Case(
        known,
        written,
        tuple(dict.fromkeys(own + targets)),
        tuple(targets),
        _created(change, term, evidence, versions[0].zxid) if versions and known is None else None,
        inputs.common.lost_log_directories(zxid),
        inputs.common.preferred_requested(partition, change.session, last, zxid),
        any(requested),
        all(requested),
        _may_be_unclean(change, term, evidence),
        _remembered(change, term, last, frozenset(chain(*own, *targets)), evidence),
        following == Place(PlaceKind.TOPIC, change.topic),
        term.unknown,
        before is not None and before.controller_epoch > change.written.controller_epoch,
    )


def _remembered(change, term, last, replicas, evidence):
    """The leaders that the controller may remember; of a term that began before the log, any of the `replicas` or none."""
    before, written = change.before, change.written
    if before is None or evidence.features.guarded:
        return frozenset()
    if not is_overtaken(before.controller_epoch, written.controller_epoch, change.since, term.start):
        return frozenset()
    found = evidence.changes.leaders(change.partition, last, change.zxid)
    return found.union(replicas, {NOBODY}) if found and term.unknown else found


def is_overtaken(before: Any, written: Any, since: Any, start: Any) -> Any:
    """Whether another controller wrote the state before, after the term of this one began: of numbers, or of arrays.

    `before`, `written`: the controller epochs of both states; `since`, `start`: zxids of the state before and of the term.
    """
    return (before != written) & (since > start)


def unclean_of(
    case: Case, row: int, term: ObservedTerm, sights: tuple[Sight, ...], evidence: Evidence
) -> tuple[Unclean, ...]:
    """What an election by each sight read that wrote a change: the state first, then the topic's configuration."""
    if case.known is None or case.written.leader in case.known.isr:
        return ()
    return unclean_at(evidence.changes[row], term, sights, evidence)


def unclean_at(
    change: Change, term: ObservedTerm, sights: tuple[Sight, ...], evidence: Evidence
) -> tuple[Unclean, ...]:
    """What an election by each sight read that would write a change."""
    return tuple(_unclean(change, max(view.zxid, term.start, change.since), evidence) for view, *_ in sights)


def _unclean(change: Change, since: int, evidence: Evidence) -> Unclean:
    """What one read that began at a zxid."""
    settings = evidence.inputs.unclean(change.topic, since, change.zxid)
    enabled = [setting.zxid for setting in settings if setting.value]
    return Unclean(
        bool(enabled), bool(enabled) and enabled[-1] > since, any(setting.value is None for setting in settings)
    )


def _created(change: Change, term: ObservedTerm, evidence: Evidence, assigned: int) -> Created:
    inputs = evidence.inputs
    there = inputs.brokers.at(max(assigned, term.start))
    return Created(there, assigned <= term.start, inputs.exists(change.topic, assigned - 1))


def _may_be_unclean(change: Change, term: ObservedTerm, evidence: Evidence) -> bool:
    settings = evidence.inputs.unclean(change.topic, max(term.start, change.since), change.zxid)
    return any(setting.value is not False for setting in settings)


def repeats_of(change: Change, term: ObservedTerm) -> Repeated | None:
    """The controller's last election of the partition, if it wrote the present state."""
    at, strategy, trigger = term.elections[change.partition]
    return (Strategy(strategy), trigger, term.elected[change.partition]) if at == change.since else None


def _targets(change: Change, evidence: Evidence, requested: int, last: int) -> list[tuple[int, ...]]:
    """What a reassignment under way wants, or one new since the controller's last write, or asked for."""
    assignments = [v.value for v in evidence.inputs.assignments(change.partition, last, change.zxid)]
    under_way = [target_of(a) for a in assignments[-1:] if a.adding or a.removing]
    new = [
        a.replicas
        for before, a in zip(assignments, assignments[1:])
        if a.replicas not in (before.replicas, target_of(before))
    ]
    asked = evidence.inputs.common.requested_targets(change.partition, requested, change.zxid)
    return list(dict.fromkeys(under_way + new + asked))
