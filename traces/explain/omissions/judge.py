"""Whether a controller had to write a state: where every run of its handler does, whatever it may have seen of what
there was. What may have kept it from that, in the log or not, is held in its favour. A refusal is not: a state that
stands all the time has the version that was read.
"""

from bisect import bisect_right
from collections.abc import Iterator, Mapping
from itertools import accumulate, product

from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.traces.evidence.shutdowns import LEAVES_WITHIN
from kafkaproof.traces.evidence.streams import Evidence
from kafkaproof.traces.evidence.terms import Term
from kafkaproof.traces.explain.omissions.expected_writes import Debt
from kafkaproof.traces.explain.omissions.same_event import Sibling
from kafkaproof.traces.explain.omissions.threads import Thread
from kafkaproof.traces.explain.partitions.events import Partition, Seen, events_of, first
from kafkaproof.traces.explain.partitions.scene import TOPICS
from kafkaproof.traces.explain.partitions.strategies import Elected
from kafkaproof.traces.explain.partitions.ways import SHUTDOWN
from kafkaproof.traces.zookeeper.znodes.contents import PartitionState

_MOST = 50
"""So many different /brokers/ids are tried for what a handler saw; where there are more nothing is said."""


class Judge:
    """Judges the debts of one stream."""

    def __init__(self, evidence: Evidence, threads: Mapping[tuple[int, int], Thread]):
        """`threads`: what the controllers of the log were done with."""
        self._evidence, self._inputs, self._threads = evidence, evidence.inputs, threads
        self._events, self._failures = events_of(evidence.features.handling), evidence.failures
        self._making = [events_of(variant, TOPICS) for variant in evidence.features.making]
        self._departures = {
            broker: ([each.zxid for each in lives], _soonest([each.time for each in lives]))
            for broker, lives in self._inputs.common.departures.items()
        }

    def writes(self, debt: Debt, term: Term, last: int) -> set[Elected | None]:
        """What the controller of a term may have written first, if it handled this before the record of zxid `last`.

        None stands for nothing: it did not have to.
        """
        partitions = self._partitions(debt, term, last)
        first, end = (term.start, debt.stands) if goes_on(debt) else (debt.since, last - 1)
        views = {version.value for version in self._inputs.brokers.between(first, end)}
        if not partitions or len(views) > _MOST:
            return {None}
        sights = product(partitions, views, {frozenset(), self._doubtful(last)}, (False, True))
        return {
            written
            for partition, live, offline, unclean in sights
            for written in self._written(debt, term, partition, Seen(live, offline, unclean))
        }

    def is_owed_beside(self, debt: Debt, term: Term, sibling: Sibling, last: int, online: frozenset[int]) -> bool:
        """Whether the handler that wrote something else because of the same broker had to write this state too.

        `last`: the record that shows that it was left; `online`: who was to it, as it elected them.
        """
        doubtful = {frozenset(), self._doubtful(sibling.zxid) - online - {debt.gone}}
        at = self._inputs.brokers.at
        handlers = {(why.trigger == SHUTDOWN, at(why.view or 0)) for why in sibling.explanations}
        sights = product(self._partitions(debt, term, last), handlers, doubtful, (False, True))
        found = {
            written
            for partition, handler, offline, unclean in sights
            for written in self._beside(debt, term, partition, handler, offline, unclean)
        }
        return bool(found) and None not in found

    def _beside(
        self,
        debt: Debt,
        term: Term,
        partition: Partition,
        handler: tuple[bool, frozenset[int]],
        offline: frozenset[int],
        unclean: bool,
    ) -> Iterator[Elected | None]:
        """What each handler writes first that an explanation of something else stands for.

        `handler`: whether that was a controlled shutdown, and who was live to it.
        """
        events, gone, (shuts_down, live) = self._events, debt.gone, handler
        if shuts_down:
            yield first(events.releases(partition, Seen(live, offline, unclean), gone))
            return
        seen = Seen(live - {gone}, offline, unclean)
        yield first(events.misses(partition, seen, gone)) if gone == partition.leader or gone not in live else None
        if debt.stands < term.start:
            yield first(events.begins(partition, seen._replace(offline=frozenset()), gone))

    def is_owed(self, debt: Debt, term: Term, last: int) -> bool:
        """Whether the controller of a term had to write a state before the record of zxid `last`, whatever it saw."""
        return None not in self.writes(debt, term, last)

    def text(self, debt: Debt) -> str:
        """What had to be written, in words."""
        name = "{}-{}".format(*debt.partition)
        if goes_on(debt):
            return f"the state of {name} with a leader, which it has none since {debt.stands:#x}"
        if debt.gone == NOBODY:
            return f"the first state of {name}, which is assigned since {debt.reason:#x}"
        state = self._standing(debt)
        gone = f"gone since {debt.reason:#x}" if debt.reason else "not registered"
        return f"the state of {name}, leader {state.leader}, ISR {list(state.isr)}, without broker {debt.gone}, {gone}"

    def _may_write(self, debt: Debt, term: Term, last: int) -> bool:
        """Whether a controller knows of a state, or that there is none, and no later controller wrote it.

        It has read what there was when its term began, and knows what it has made, unless the answer was lost.
        """
        if goes_on(debt):
            return True
        if debt.gone == NOBODY:
            return not self._failures.existed(term.session, debt.since, last)
        changes = self._evidence.changes
        made = changes.creation(debt.partition, debt.since)
        known = (
            made is None
            or made.zxid < term.start
            or made.term_key == term.key
            and not self._failures.existed(term.session, made.zxid, last)
        )
        return known and self._standing(debt).controller_epoch <= term.epoch

    def _standing(self, debt: Debt) -> PartitionState:
        """The state that stands where another one is owed."""
        state = self._evidence.changes.state_at(debt.partition, debt.since)
        assert state is not None  # nothing is owed where no state stands, but for a first one
        return state

    def _partitions(self, debt: Debt, term: Term, last: int) -> list[Partition]:
        """The partition as its controller may know it, with each order of its replicas; none where nothing is owed."""
        inputs = self._inputs
        orders = {version.value.replicas for version in inputs.assignments(debt.partition, term.start, last)}
        if term.unknown or inputs.marked(debt.partition[0], term.start, last) is not None:
            return []
        if any(debt.gone not in {*order, NOBODY} for order in orders) or not self._may_write(debt, term, last):
            return []
        if debt.stands < 0:
            return [Partition(order) for order in orders]
        state = self._standing(debt)
        return [Partition(order, state.leader, frozenset(state.isr)) for order in orders]

    def _written(self, debt: Debt, term: Term, partition: Partition, seen: Seen) -> Iterator[Elected | None]:
        """What each handler writes first that may have been the one to do it.

        To a new controller nobody is shutting down, and all log directories work.
        """
        events, at_first = self._events, seen._replace(offline=frozenset())
        if goes_on(debt):
            written = first(events.begins(partition, at_first))
            yield None if written == partition.state else written
            return
        if debt.gone == NOBODY and debt.reason >= term.start:
            yield from (first(events.makes(partition, seen)) for events in self._making)
            return
        thread = self._threads.get(term.key)
        if debt.reason >= term.start:
            yield first(events.misses(partition, seen, debt.gone))
        if debt.reason < term.start or thread is None or not thread.wrote_before(debt.reason):
            yield first(events.begins(partition, at_first, debt.gone))

    def _doubtful(self, last: int) -> frozenset[int]:
        """The brokers whose replicas may count as offline: they are gone soon, or have told of a failed directory."""
        common = self._inputs.common
        until = common.time_at(last) + LEAVES_WITHIN
        soon = frozenset(broker for broker in self._departures if self._goes_soon(broker, last, until))
        return soon | common.lost_log_directories(last)

    def _goes_soon(self, broker: int, last: int, until: int) -> bool:
        """Whether a broker's registration goes after a record, and by some time."""
        zxids, soonest = self._departures[broker]
        place = bisect_right(zxids, last)
        return place < len(zxids) and soonest[place] <= until


def _soonest(times: list[int]) -> list[int]:
    """For each of some times the earliest from there on."""
    return [*accumulate(reversed(times), min)][::-1]


def goes_on(debt: Debt) -> bool:
    """Whether it is of a state without a leader that a new controller has written, and elects for next."""
    return debt.gone == NOBODY and debt.stands >= 0
