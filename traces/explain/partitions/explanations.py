"""Which strategy, trigger and view of /brokers/ids give exactly the leader and the ISR that were written.

What no log shows (who is shutting down, what an operator or a timer asked for) is a *token*: an explanation
may use one only where the log bears it out.
"""

from collections.abc import Callable, Iterable, Iterator
from functools import cache, lru_cache
from itertools import takewhile, zip_longest
from math import inf
from typing import NamedTuple

from kafkaproof.traces.basics.interned import Known
from kafkaproof.traces.evidence.broker_views import Sight
from kafkaproof.traces.evidence.features import Features
from kafkaproof.traces.explain.partitions.case import Case, Created, Repeated, Unclean
from kafkaproof.traces.explain.partitions.elections import elections_of
from kafkaproof.traces.explain.partitions.rounds import is_elected_again
from kafkaproof.traces.explain.partitions.strategies import Elected, Strategy

FAILOVER, FAILURE, START_UP = "controller failover", "broker failure", "broker start-up"
CREATION, EXPANSION, DELETION = "topic creation", "partition expansion", "topic deletion"
REASSIGNMENT, SHUTDOWN, DIRECTORY = "reassignment", "controlled shutdown", "log directory failure"
ENABLED, FORCED = "unclean election enabled", "unclean election requested"
ELECTIONS = (
    Strategy.NEW_TOPIC,
    Strategy.OFFLINE,
    Strategy.OFFLINE_UNCLEAN,
    Strategy.PREFERRED,
    Strategy.REASSIGN,
    Strategy.CONTROLLED_SHUTDOWN,
)
BY_ZNODE, BY_REQUEST = "preferred election by znode", "preferred election by request or timer"
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
    """Explains a controller's changes as a variant of the election system allows them; `tell` remembers what it told."""

    def __init__(self, features: Features):
        self._features = features
        self._elections = elections_of(features)
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
            return Told((), _why_not(case, self.allowed(case)))
        views = [e.view for e in found if e.view is not None]
        by_election = [e.view for e in found if e.strategy in ELECTIONS and e.view is not None]
        elected = min(by_election) if found[0].strategy in ELECTIONS else None
        return Told(found, "", min(views) if len(views) == len(found) else None, elected)

    def explanations(self, case: Case) -> tuple[Explanation, ...]:
        """All that gives what was written, by each view and assignment that the controller may have read.

        Those by the newest views come first, of these the ones that need the fewest tokens.
        """
        finders: tuple[Callable[[Case], Iterator[Explanation]], ...]
        if case.known is None:
            finders = (self._new_topic,)
        elif case.is_being_deleted:
            finders = (self._reassign, self._removal, self._epoch_bump)
            if self._features.elects_what_is_deleted:
                finders += (self._controlled_shutdown, self._repeated)
        else:
            finders = (
                self._preferred,
                self._reassign,
                self._controlled_shutdown,
                self._removal,
                self._offline,
                self._epoch_bump,
                self._repeated,
            )
        found = dict.fromkeys(found for finder in finders for found in finder(case))
        return tuple(sorted(found, key=lambda e: (-inf if e.view is None else -e.view, e.tokens)))

    def allowed(self, case: Case) -> list[str]:
        """What each strategy would write by some view and assignment, in words."""
        found: list[tuple[Strategy, Elected | None]] = []
        for sight in case.sights:
            for replicas in case.assignments:
                found += self._results(case, replicas, sight.view.brokers)
        known = case.known
        if known:
            found += [
                (Strategy.REMOVAL, self._elections.removal(*known, replica, False)) for replica in sorted(known.isr)
            ]
        return list(dict.fromkeys(f"{name}: leader {new.leader}, ISR {sorted(new.isr)}" for name, new in found if new))

    def _results(self, case: Case, replicas: tuple[int, ...], online: frozenset[int]):
        """The results of the strategies that elect by an assignment and a view."""
        if case.known is None:
            return [(Strategy.NEW_TOPIC, self._elections.new_topic(replicas, online))]
        isr = case.known.isr
        targets = [(Strategy.REASSIGN, self._elections.reassign(target, isr, online)) for target in case.targets]
        return [
            (Strategy.OFFLINE, self._elections.offline(replicas, isr, online, False)),
            (Strategy.PREFERRED, self._elections.preferred(replicas, isr, online)),
            *targets,
        ]

    def _new_topic(self, case: Case) -> Iterator[Explanation]:
        if case.created is None:
            return
        for sight in case.sights:
            for replicas in case.assignments:
                offline = frozenset(replicas) - case.written.isr
                tokens = _tokens(case, sight, offline)
                if tokens is None:
                    continue
                if self._elections.new_topic(replicas, sight.view.brokers - offline) == case.written:
                    yield Explanation(Strategy.NEW_TOPIC, _why_created(case.created, replicas), sight.view.zxid, tokens)

    def _offline(self, case: Case) -> Iterator[Explanation]:
        known, written = case.stood, case.written
        clean = written.leader in known.isr
        for sight, unclean in zip_longest(case.sights, case.unclean):
            view = sight.view
            for replicas in case.assignments:
                passed = takewhile(lambda replica: replica != written.leader, replicas)
                offline = known.isr - written.isr if clean else known.isr | frozenset(passed)
                tokens, online = _tokens(case, sight, offline), view.brokers - offline
                if tokens is None or not (sight.leaderless or known.leader in offline):
                    continue
                if self._elections.offline(replicas, known.isr, online, not clean) != written:
                    continue
                tokens += known.leader in view.brokers & offline
                if clean:
                    yield Explanation(Strategy.OFFLINE, _round(case, sight), view.zxid, tokens)
                elif why := self._why_unclean(case, sight, unclean):
                    yield Explanation(Strategy.OFFLINE_UNCLEAN, why[0], view.zxid, tokens + why[1])

    def _why_unclean(self, case: Case, sight: Sight, unclean: Unclean) -> tuple[str, int] | None:
        """What allowed an unclean election, and how many tokens that takes; None when nothing did."""
        if unclean.enabled:
            return (ENABLED if unclean.newly else _round(case, sight)), 0
        if self._features.elects_uncleanly_on_request:
            return FORCED, 1
        return (_round(case, sight), 1) if unclean.unset and self._features.elects_uncleanly_unless_told else None

    def _preferred(self, case: Case) -> Iterator[Explanation]:
        listed = case.preferred_requested
        trigger, tokens = (BY_ZNODE, 0) if listed else (BY_REQUEST, 1)
        forgotten = case.is_overtaken and not self._features.guarded
        if case.written == case.known and not (self._features.elects_whom_it_has and (listed or forgotten)):
            return
        for view in (sight.view for sight in case.sights):
            for replicas in case.assignments:
                elected = self._elections.preferred(replicas, case.stood.isr, view.brokers)
                if elected == case.written:
                    yield Explanation(Strategy.PREFERRED, trigger, view.zxid, tokens)

    def _reassign(self, case: Case) -> Iterator[Explanation]:
        for sight in case.sights:
            for target in case.targets:
                passed = takewhile(lambda replica: replica != case.written.leader, target)
                offline = frozenset(passed) & case.stood.isr
                tokens, online = _tokens(case, sight, offline), sight.view.brokers - offline
                if tokens is None or case.stood.leader in online & frozenset(target):
                    continue
                if self._elections.reassign(target, case.stood.isr, online) == case.written:
                    yield Explanation(Strategy.REASSIGN, REASSIGNMENT, sight.view.zxid, tokens)

    def _controlled_shutdown(self, case: Case) -> Iterator[Explanation]:
        known, leaving = case.stood, case.stood.isr - case.written.isr
        for sight in case.sights:
            if known.leader not in leaving or not leaving <= sight.leaving:
                continue
            for replicas in case.assignments:
                elected = self._elections.controlled_shutdown(replicas, known.isr, sight.view.brokers, leaving)
                if elected == case.written:
                    yield Explanation(Strategy.CONTROLLED_SHUTDOWN, SHUTDOWN, sight.view.zxid, len(leaving))

    def _removal(self, case: Case) -> Iterator[Explanation]:
        for replica in case.stood.isr:
            unclean = (False, True) if case.may_be_emptied else (False,)
            if case.written in [self._elections.removal(*case.stood, replica, allowed) for allowed in unclean]:
                for trigger, view, tokens in _why_offline(case, replica):
                    yield Explanation(Strategy.REMOVAL, trigger, view, tokens)

    def _epoch_bump(self, case: Case) -> Iterator[Explanation]:
        """A reassignment tells old and new replicas; from 2.4 on one to what there is already is carried out too."""
        asked_for_what_is = self._features.kip455 and case.topic_follows
        if case.known == case.written and (case.targets or asked_for_what_is):
            yield Explanation(Strategy.EPOCH_BUMP, REASSIGNMENT, None, 0 if case.targets else 1)

    def _repeated(self, case: Case) -> Iterator[Explanation]:
        """An election one of whose writes met another version is held again (see `is_elected_again`)."""
        if case.repeats and case.known == case.written and is_elected_again(self._features, case.repeats[0]):
            yield Explanation(*case.repeats)


@cache
def explainer_of(features: Features) -> Explainer:
    """The explainer of a version, for all streams that a process explains."""
    return Explainer(features)


def _tokens(case: Case, sight: Sight, brokers: Iterable[int]) -> int | None:
    """How many brokers that the view has must count as offline so that none of these is online.

    None where nothing in the log bears it out: they go on for long, and told of no failed log directory.
    """
    registered = sight.view.brokers.intersection(brokers)
    return len(registered) if registered <= sight.leaving or registered <= sight.leaving | case.failed else None


def _why_created(created: Created, replicas: tuple[int, ...]) -> str:
    """What made the controller create a state: the topic, its expansion, or what it had to wait for."""
    if created.there.isdisjoint(replicas):
        return START_UP
    if created.before:
        return FAILOVER
    return EXPANSION if created.existed else CREATION


def _round(case: Case, sight: Sight) -> str:
    """What made the controller try to elect for all partitions without a leader."""
    leader = case.stood.leader
    if leader in sight.view.left:
        return FAILURE
    if case.written.leader in sight.view.joined:
        return START_UP
    if leader not in sight.view.brokers:
        return FAILOVER
    return DIRECTORY if leader in case.failed else SHUTDOWN


def _why_offline(case: Case, replica: int) -> Iterator[tuple[str, int | None, int]]:
    """What may have taken a replica offline: trigger, view, tokens."""
    if case.may_be_deleting:
        yield DELETION, None, 0
    if any(replica not in target for target in case.targets):
        yield REASSIGNMENT, None, 0
    if replica in case.failed:
        yield DIRECTORY, None, 1
    for view, leaving, *_ in case.sights:
        if replica not in view.brokers:
            yield FAILURE if replica in view.left else FAILOVER, view.zxid, 0
        elif replica in leaving:
            yield SHUTDOWN, view.zxid, 1


def _why_not(case: Case, allowed: list[str]) -> str:
    """Why nothing explains a controller's change: what it may have read, and what it might have written by that."""
    orders = " or ".join(str(list(order)) for order in case.assignments) or "unknown"
    views = ", ".join(f"{sorted(view.brokers)} since {view.zxid:#x}" for view, *_ in case.sights)
    return (
        f"no strategy gives this with assignment {orders} and a view of /brokers/ids of {views}; "
        f"allowed there: {', '.join(allowed) or 'nothing'}"
    )
