"""Which event of a controller, run by which view of /brokers/ids, writes exactly the leader and the ISR that were written.

The transitions of the log's releases decide (`events`, `reassigned`). Here is what they are run from: all that the evidence
admits. What no log shows (who is shutting down, what an operator or a timer asked for) is a *token*: an explanation may use
one only where the log bears it out.
"""

from collections.abc import Callable, Iterable, Iterator
from functools import cache, lru_cache, partial
from itertools import takewhile, zip_longest
from math import inf
from typing import NamedTuple

from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.traces.basics.interned import Known
from kafkaproof.traces.evidence.broker_views import Sight
from kafkaproof.traces.evidence.features import Features
from kafkaproof.traces.explain.partitions.case import Case, Created, Repeated, Unclean
from kafkaproof.traces.explain.partitions.events import Partition, Seen, events_of
from kafkaproof.traces.explain.partitions.reassigned import reassigned_by
from kafkaproof.traces.explain.partitions.rounds import is_elected_again
from kafkaproof.traces.explain.partitions.scene import PARTITION, TOPICS, Written
from kafkaproof.traces.explain.partitions.strategies import Strategy
from kafkaproof.traces.explain.partitions.ways import (
    CREATION,
    DELETION,
    ENABLED,
    EXPANSION,
    FORCED,
    REASSIGNMENT,
    SHUTDOWN,
    Way,
    asked_for,
    goings_of,
    may_be_gone,
    rounds_of,
    seen_by,
    tokens_of,
    with_caches,
)
from kafkaproof.traces.explain.partitions.why_not import why_not

ELECTIONS = (
    Strategy.NEW_TOPIC,
    Strategy.OFFLINE,
    Strategy.OFFLINE_UNCLEAN,
    Strategy.PREFERRED,
    Strategy.REASSIGN,
    Strategy.CONTROLLED_SHUTDOWN,
)
_REMEMBERED = 50_000
"""So many cases are remembered: when a broker fails, those of its partitions are mostly alike."""


class Explanation(NamedTuple):
    """What may have been done: `view`, the zxid of the version of /brokers/ids, is None where none matters."""

    strategy: Strategy
    trigger: str
    view: int | None
    tokens: int = 0


class Told(NamedTuple):
    """What is told of changes that are alike: their explanations, the preferred one first, or why there are none.

    `view`: the oldest that their controller can have had, None where that is not known; `elected`: the same of an
    election, None of other changes.
    """

    explanations: tuple[Explanation, ...]
    why: str = ""
    view: int | None = None
    elected: int | None = None


class Explainer:
    """Explains a controller's changes as the releases of a log allow them; `tell` remembers what it told."""

    def __init__(self, features: Features):
        self._features = features
        self._reassigned = reassigned_by(features)
        self._events = {
            event: [events_of(variant, system) for variant in variants]
            for event, (variants, system) in special_variants(features).items()
        }
        self._usual = [events_of(variant) for variant in features.explaining]
        self._writes = lru_cache(maxsize=_REMEMBERED)(self._may_write)
        self.tell = lru_cache(maxsize=_REMEMBERED)(self._tell)

    def _tell(
        self,
        given: Known[Case],
        sights: Known[tuple[Sight, ...]],
        unclean: tuple[Unclean, ...],
        repeats: Repeated | None,
    ) -> Told:
        """What explains a change in a case that is given but for these."""
        case = given.value._replace(sights=sights.value, unclean=unclean, repeats=repeats)
        found = self.explanations(case)
        if not found:
            return Told((), why_not(case, self._features))
        views = [e.view for e in found if e.view is not None]
        by_election = [e.view for e in found if e.strategy in ELECTIONS and e.view is not None]
        elected = min(by_election) if found[0].strategy in ELECTIONS else None
        return Told(found, "", min(views) if len(views) == len(found) else None, elected)

    def explanations(self, case: Case) -> tuple[Explanation, ...]:
        """All that gives what was written, by each view and assignment that the controller may have read.

        Those by the newest views come first, of these the ones that need the fewest tokens.
        """
        finders: tuple[Callable[[Case], Iterator[Explanation]], ...] = (
            self._preferred,
            self._reassign,
            self._controlled_shutdown,
            self._removal,
            self._offline,
            self._epoch_bump,
            self._repeated,
        )
        if case.known is None:
            finders = (self._new_topic,)
        found = dict.fromkeys(found for finder in finders for found in finder(case))
        return tuple(sorted(found, key=lambda e: (-inf if e.view is None else -e.view, e.tokens)))

    def _first_of(self, case: Case, strategy: Strategy, ways: Iterable[Way]) -> str | None:
        """The trigger of the first event that writes what was written, in some release of the log."""
        written = Written(strategy, case.known, case.written)
        return next((way.trigger for way in with_caches(case, ways) if self._writes(way, written)), None)

    def _may_write(self, way: Way, written: Written) -> bool:
        """Whether an event writes this in some release of the log."""
        own = self._events.get(way.event, self._usual)
        return any(written in getattr(events, way.event)(way.partition, way.seen, *way.more) for events in own)

    def _new_topic(self, case: Case) -> Iterator[Explanation]:
        if case.created is None:
            return
        for sight in case.sights:
            for replicas in case.assignments:
                offline = frozenset(replicas) - case.written.isr
                tokens = tokens_of(case, sight, offline)
                if tokens is None:
                    continue
                seen = seen_by(case, sight, replicas, offline)
                if trigger := self._why_created(case, case.created, sight, Partition(replicas), seen):
                    yield Explanation(Strategy.NEW_TOPIC, trigger, sight.view.zxid, tokens)

    def _why_created(self, case: Case, created: Created, sight: Sight, partition: Partition, seen: Seen) -> str | None:
        """What made the controller create a state: the topic or its expansion, where it has not been there all the time,
        or what it had to wait for.
        """
        read = (EXPANSION, "adds") if created.existed else (CREATION, "makes")
        waited = created.there.isdisjoint(partition.replicas)
        ways = [] if created.before or waited else [Way(*read, partition, seen)]
        ways += rounds_of(case, sight, partition, seen, waited)
        return self._first_of(case, Strategy.NEW_TOPIC, ways)

    def _offline(self, case: Case) -> Iterator[Explanation]:
        known, written = case.stood, case.written
        clean = written.leader in known.isr
        strategy = Strategy.OFFLINE if clean else Strategy.OFFLINE_UNCLEAN
        for sight, unclean in zip_longest(case.sights, case.unclean):
            view = sight.view
            for replicas in case.assignments if written.leader != NOBODY else ():
                passed = takewhile(lambda replica: replica != written.leader, replicas)
                offline = known.isr - written.isr if clean else known.isr | frozenset(passed)
                tokens = tokens_of(case, sight, offline)
                if tokens is None:
                    continue
                tokens += known.leader in view.brokers & offline
                seen = seen_by(case, sight, replicas, offline)
                for ways, more in self._ways(case, sight, unclean, Partition(replicas, *known), seen):
                    if trigger := self._first_of(case, strategy, ways):
                        yield Explanation(strategy, trigger, view.zxid, tokens + more)
                        break

    def _ways(
        self, case: Case, sight: Sight, unclean: Unclean | None, partition: Partition, seen: Seen
    ) -> Iterator[tuple[Iterator[Way], int]]:
        """The events that elect for partitions without a leader, and how many tokens more they take: of an unclean
        election what may have allowed it.
        """
        rounds = partial(rounds_of, case, sight, partition)
        if unclean is None:
            yield rounds(seen, False), 0
            return
        enabled = seen._replace(unclean=True)
        if unclean.enabled:
            if unclean.newly:
                yield iter([Way(ENABLED, "permits", partition, enabled)]), 0
            yield rounds(enabled, False), 0
            return
        yield iter([Way(FORCED, "asks", partition, seen, (True,))]), 1
        if unclean.unset and self._features.elects_uncleanly_unless_told:
            yield rounds(enabled, False), 1

    def _preferred(self, case: Case) -> Iterator[Explanation]:
        tokens = 0 if case.preferred_requested else 1
        for sight in case.sights:
            for replicas in case.assignments:
                partition = Partition(replicas, *case.stood)
                ways = asked_for(case, partition, seen_by(case, sight, replicas, ()))
                if trigger := self._first_of(case, Strategy.PREFERRED, ways):
                    yield Explanation(Strategy.PREFERRED, trigger, sight.view.zxid, tokens)

    def _reassign(self, case: Case) -> Iterator[Explanation]:
        for sight in case.sights:
            for target in case.targets:
                passed = takewhile(lambda replica: replica != case.written.leader, target)
                offline = frozenset(passed) & case.stood.isr
                tokens, live = tokens_of(case, sight, offline), sight.view.brokers - offline
                if tokens is not None and self._is_reassigned(case, Strategy.REASSIGN, target, live):
                    yield Explanation(Strategy.REASSIGN, REASSIGNMENT, sight.view.zxid, tokens)

    def _is_reassigned(self, case: Case, strategy: Strategy, target: tuple[int, ...], live: Iterable[int]) -> bool:
        """Whether a reassignment to a target writes what was written, by whom the controller takes for live."""
        own = case.stood.isr.union(target, *case.assignments)
        found = self._reassigned.writes(case.stood, target, own.difference(target), own.intersection(live), case.newer)
        return Written(strategy, case.known, case.written) in found

    def _controlled_shutdown(self, case: Case) -> Iterator[Explanation]:
        known, leaving = case.stood, case.stood.isr - case.written.isr
        for sight in case.sights:
            led = sorted(leaving & (case.remembered | {known.leader}))
            if not led or not leaving <= sight.leaving:
                continue
            for replicas in case.assignments:
                seen = seen_by(case, sight, replicas, leaving)
                ways = [Way(SHUTDOWN, "releases", Partition(replicas, *known), seen, (leader,)) for leader in led]
                if trigger := self._first_of(case, Strategy.CONTROLLED_SHUTDOWN, ways):
                    yield Explanation(Strategy.CONTROLLED_SHUTDOWN, trigger, sight.view.zxid, len(leaving))

    def _removal(self, case: Case) -> Iterator[Explanation]:
        gone = case.stood.isr - case.written.isr
        for replica in gone if len(gone) == 1 else case.stood.isr if not gone else ():
            yield from self._taken_out(case, replica)
            for sight in (each for each in case.sights if may_be_gone(case, each, replica)):
                for unclean in (False, True)[: 1 + case.may_be_unclean]:
                    if found := self._why_gone(case, sight, replica, unclean):
                        yield found
                        break

    def _taken_out(self, case: Case, replica: int) -> Iterator[Explanation]:
        """What takes a replica offline whether its broker is there or not."""
        own = case.stood.isr.union(*case.assignments)
        if case.may_be_deleting:
            seen = Seen(own, newer=case.newer)
            for replicas in case.assignments:
                way = Way(DELETION, "deletes", Partition(replicas, *case.stood), seen, (replica,))
                if self._first_of(case, Strategy.REMOVAL, [way]):
                    yield Explanation(Strategy.REMOVAL, DELETION, None, 0)
        for target in case.targets:
            if replica not in target and self._is_reassigned(case, Strategy.REMOVAL, target, own):
                yield Explanation(Strategy.REMOVAL, REASSIGNMENT, None, 0)

    def _why_gone(self, case: Case, sight: Sight, replica: int, unclean: bool) -> Explanation | None:
        """What has taken a replica offline to a controller with a view; of the others some may be offline, too."""
        for replicas in case.assignments:
            partition = Partition(replicas, *case.stood)
            others = case.stood.isr.union(replicas) & (sight.leaving | case.failed) - {replica}
            for offline in dict.fromkeys((frozenset[int](), others)):
                seen = seen_by(case, sight, replicas, offline)._replace(unclean=unclean, leaderless=False)
                for way, view, tokens in goings_of(case, sight, replica, partition, seen):
                    if trigger := self._first_of(case, Strategy.REMOVAL, [way]):
                        return Explanation(Strategy.REMOVAL, trigger, view, tokens)
        return None

    def _epoch_bump(self, case: Case) -> Iterator[Explanation]:
        """A reassignment tells old and new replicas; from 2.4 on one to what there is already is carried out too."""
        if case.known != case.written:
            return
        own = case.stood.isr.union(*case.assignments)
        if any(self._is_reassigned(case, Strategy.EPOCH_BUMP, target, own) for target in case.targets):
            yield Explanation(Strategy.EPOCH_BUMP, REASSIGNMENT, None, 0)
        elif self._features.kip455 and case.topic_follows:
            if any(self._is_reassigned(case, Strategy.EPOCH_BUMP, order, own) for order in case.assignments):
                yield Explanation(Strategy.EPOCH_BUMP, REASSIGNMENT, None, 1)

    def _repeated(self, case: Case) -> Iterator[Explanation]:
        """An election one of whose writes met another version is held again (see `is_elected_again`)."""
        if case.repeats and case.known == case.written and is_elected_again(self._features, case.repeats[0]):
            yield Explanation(*case.repeats)


def special_variants(features: Features) -> dict[str, tuple[tuple[str, ...], str]]:
    """The variants, and their system, in which events of topics are run; all others are run in those of *partition* that
    explain the log.
    """
    made = features.making, TOPICS
    return {"makes": made, "adds": made, "deletes": ((features.reassigning,), PARTITION)}


@cache
def explainer_of(features: Features) -> Explainer:
    """The explainer of a version, for all streams that a process explains."""
    return Explainer(features)
