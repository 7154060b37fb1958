"""Which strategy, trigger and view of /brokers/ids give exactly the leader and the ISR that were written.

What no log shows (who is shutting down, what an operator or a timer asked for) is a *token*: an explanation
may use one only where the log bears it out.
"""

from collections.abc import Iterator
from itertools import takewhile
from typing import NamedTuple

from spec.language.domains import NOBODY
from traces.features import Features
from traces.partitions.case import Case
from traces.partitions.elections import Elected, Elections
from traces.versions import Version

FAILOVER, FAILURE, START_UP = "controller failover", "broker failure", "broker start-up"
CREATION, EXPANSION, DELETION = "topic creation", "partition expansion", "topic deletion"
REASSIGNMENT, SHUTDOWN, DIRECTORY = "reassignment", "controlled shutdown", "log directory failure"
ENABLED, FORCED = "unclean election enabled", "unclean election requested"
BY_ZNODE, BY_REQUEST = "preferred election by znode", "preferred election by request or timer"


class Explanation(NamedTuple):
    """What may have been done: `view`, the zxid of the version of /brokers/ids, is None where none matters."""

    strategy: str
    trigger: str
    view: int | None
    tokens: int = 0


class Explainer:
    """Explains a controller's changes as a variant of the election system allows them."""

    def __init__(self, features: Features):
        self._features, self._variant = features, features.variant
        self._elections = Elections()

    def explanations(self, case: Case) -> list[Explanation]:
        """All that gives what was written, by each view and assignment that the controller may have read."""
        if case.known is None:
            finders = (self._new_topic,)
        elif case.is_being_deleted:
            finders = (self._reassign, self._removal, self._epoch_bump)
            if self._features.elects_what_is_deleted:
                finders += (self._controlled_shutdown, self._repeated)
        else:
            finders = (self._preferred, self._reassign, self._controlled_shutdown, self._removal, self._offline,
                       self._epoch_bump, self._repeated)
        return list(dict.fromkeys(found for finder in finders for found in finder(case)))

    def allowed(self, case: Case) -> list[str]:
        """What each strategy would write by some view and assignment, in words."""
        found: list[tuple[str, Elected | None]] = []
        for view in case.views:
            for replicas in case.assignments:
                found += self._results(case, replicas, view.value)
        known = case.known
        if known:
            found += [("remove_from_isr", self._elections.removal(*known, replica)) for replica in sorted(known.isr)]
        return list(dict.fromkeys(f"{name}: leader {new.leader}, ISR {sorted(new.isr)}" for name, new in found if new))

    def _results(self, case: Case, replicas: tuple[int, ...], online: frozenset[int]):
        """The results of the strategies that elect by an assignment and a view."""
        if case.known is None:
            return [("new_topic", self._elections.new_topic(replicas, online))]
        isr = case.known.isr
        targets = [("reassign", self._elections.reassign(target, isr, online)) for target in case.targets]
        return [("offline", self._elections.offline(replicas, isr, online, False)),
                ("preferred", self._elections.preferred(replicas, isr, online)), *targets]

    def _new_topic(self, case: Case) -> Iterator[Explanation]:
        for view in case.views if case.versions else ():
            for replicas in case.assignments:
                offline = frozenset(replicas) - case.written.isr
                tokens = case.tokens(offline, view)
                if tokens is None:
                    continue
                if self._elections.new_topic(replicas, view.value - offline) == case.written:
                    yield Explanation("new_topic", self._why_created(case, replicas), view.zxid, tokens)

    def _why_created(self, case: Case, replicas: tuple[int, ...]) -> str:
        """What made the controller create a state: the topic, its expansion, or what it had to wait for."""
        assigned = case.versions[0].zxid
        if not case.inputs.brokers.at(max(assigned, case.start)) & set(replicas):
            return START_UP
        if assigned <= case.start:
            return FAILOVER
        return EXPANSION if case.inputs.exists(case.change.topic, assigned - 1) else CREATION

    def _offline(self, case: Case) -> Iterator[Explanation]:
        known, written = case.known, case.written
        clean = written.leader in known.isr
        for view in case.views:
            for replicas in case.assignments:
                passed = takewhile(lambda replica: replica != written.leader, replicas)
                offline = known.isr - written.isr if clean else known.isr | frozenset(passed)
                tokens, online = case.tokens(offline, view), view.value - offline
                if tokens is None or not case.may_be_offline(view, offline):
                    continue
                if self._elections.offline(replicas, known.isr, online, not clean) != written:
                    continue
                tokens += known.leader in view.value & offline
                if clean:
                    yield Explanation("offline", self._round(case, view), view.zxid, tokens)
                elif why := self._why_unclean(case, view):
                    yield Explanation("offline_unclean", why[0], view.zxid, tokens + why[1])

    def _round(self, case: Case, view: Version) -> str:
        """What made the controller try to elect for all partitions without a leader."""
        if case.known.leader != NOBODY and case.has_left(case.known.leader, view):
            return FAILURE
        if case.has_joined(case.written.leader, view):
            return START_UP
        if case.known.leader not in view.value:
            return FAILOVER
        return DIRECTORY if case.has_failed_directory(case.known.leader) else SHUTDOWN

    def _why_unclean(self, case: Case, view: Version) -> tuple[str, int] | None:
        """What allowed an unclean election, and how many tokens that takes; None when nothing did."""
        since = case.since(view)
        settings = case.inputs.unclean(case.change.topic, since, case.change.zxid)
        enabled = [setting.zxid for setting in settings if setting.value]
        if enabled:
            return (ENABLED if enabled[-1] > since else self._round(case, view)), 0
        if self._variant.startswith("fenced"):
            return FORCED, 1
        by_default = self._variant == "zkclient" and any(setting.value is None for setting in settings)
        return (self._round(case, view), 1) if by_default else None

    def _preferred(self, case: Case) -> Iterator[Explanation]:
        listed = case.preferred_requested
        trigger, tokens = (BY_ZNODE, 0) if listed else (BY_REQUEST, 1)
        if case.written == case.known and not (self._variant == "legacy" and (listed or case.is_overtaken)):
            return
        for view in case.views:
            for replicas in case.assignments:
                elected = self._elections.preferred(replicas, case.known.isr, view.value)
                if elected == case.written:
                    yield Explanation("preferred", trigger, view.zxid, tokens)

    def _reassign(self, case: Case) -> Iterator[Explanation]:
        for view in case.views:
            for target in case.targets:
                passed = takewhile(lambda replica: replica != case.written.leader, target)
                offline = frozenset(passed) & case.known.isr
                tokens, online = case.tokens(offline, view), view.value - offline
                if tokens is None or case.known.leader in online & frozenset(target):
                    continue
                if self._elections.reassign(target, case.known.isr, online) == case.written:
                    yield Explanation("reassign", REASSIGNMENT, view.zxid, tokens)

    def _controlled_shutdown(self, case: Case) -> Iterator[Explanation]:
        known, leaving = case.known, case.known.isr - case.written.isr
        for view in case.views:
            if known.leader not in leaving or not all(case.leaves(broker, view) for broker in leaving):
                continue
            for replicas in case.assignments:
                elected = self._elections.controlled_shutdown(replicas, known.isr, view.value, leaving)
                if elected == case.written:
                    yield Explanation("controlled_shutdown", SHUTDOWN, view.zxid, len(leaving))

    def _removal(self, case: Case) -> Iterator[Explanation]:
        for replica in case.known.isr:
            found = [self._elections.removal(*case.known, replica)]
            if self._variant == "zkclient" and case.may_be_emptied:
                found.append(self._elections.old_removal(*case.known, replica))
            if case.written in found:
                for trigger, view, tokens in self._why_offline(case, replica):
                    yield Explanation("remove_from_isr", trigger, view, tokens)

    def _why_offline(self, case: Case, replica: int) -> Iterator[tuple[str, int | None, int]]:
        """What may have taken a replica offline: trigger, view, tokens."""
        if case.may_be_deleting:
            yield DELETION, None, 0
        if any(replica not in target for target in case.targets):
            yield REASSIGNMENT, None, 0
        if case.has_failed_directory(replica):
            yield DIRECTORY, None, 1
        for view in case.views:
            if replica not in view.value:
                yield FAILURE if case.has_left(replica, view) else FAILOVER, view.zxid, 0
            elif case.leaves(replica, view):
                yield SHUTDOWN, view.zxid, 1

    def _epoch_bump(self, case: Case) -> Iterator[Explanation]:
        """A reassignment tells old and new replicas; from 2.4 on one to what there is already is carried out too."""
        asked_for_what_is = self._features.kip455 and case.topic_follows
        if case.known == case.written and (case.targets or asked_for_what_is):
            yield Explanation("epoch_bump", REASSIGNMENT, None, 0 if case.targets else 1)

    def _repeated(self, case: Case) -> Iterator[Explanation]:
        """Up to 2.3 a batch of which one write met another version is elected again as a whole."""
        if case.repeats and case.known == case.written:
            yield Explanation(*case.repeats, case.elected)
