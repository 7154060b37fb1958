"""One change by a controller with all that the controller may have read when it decided."""

from collections.abc import Iterable

from spec.language.domains import NOBODY
from traces.evidence import Evidence
from traces.partitions.changes import Change
from traces.partitions.elections import Elected
from traces.assignments import target_of
from traces.versions import Version
from traces.reigns import Reign
from traces.znodes import Place


class Case:
    """A change of a partition state by a controller, and what may have led to it.

    `views`: the versions of /brokers/ids that it may have gone by, oldest first, `history` those since the reign
    began; `assignments`: the orders of replicas, where nothing fences other controllers any that it may have read;
    `targets`: what reassignments of the partition want;
    `preferred_requested`: /admin/preferred_replica_election listed it since the controller's last write of it;
    `may_be_deleting`, `is_being_deleted`: the deletion of the topic was requested at some time of the reign, or
    all along; `known`, `written`: leader and ISR before (None for a new partition) and after; `repeats`: strategy and
    trigger of the election that wrote the present state, if the batch that it was in may have been elected again;
    `topic_follows`: the next checked write of this controller in the stream is that of the topic znode.
    """

    def __init__(self, change: Change, reign: Reign, evidence: Evidence):
        inputs, features = evidence.inputs, evidence.features
        self.change, self.inputs, self._leaving = change, inputs, evidence.leaving
        self.start = reign.start
        self.partition = change.partition
        self.elected = reign.elected.get(self.partition, reign.start)
        self.history: list[Version] = inputs.brokers.between(reign.start, change.zxid)
        self.views = inputs.brokers.between(reign.view, change.zxid)
        self.versions = inputs.assignments(self.partition, reign.start, change.zxid)
        last = reign.last.get(self.partition, reign.start)
        self.targets = self._targets(last if features.kip455 else reign.start, last)
        self.preferred_requested = inputs.common.preferred_requested(self.partition, last, change.zxid)
        fenced = features.guarded and change.zxid <= reign.end
        read = self.versions[-1:] if fenced else self.versions
        own = [order for v in read for order in (v.value.replicas, target_of(v.value))]
        self.assignments = list(dict.fromkeys(own + self.targets))
        requested = inputs.deletions(change.topic, reign.start, change.zxid)
        self.may_be_deleting, self.is_being_deleted = any(requested), all(requested)
        self.known = Elected(change.before.leader, frozenset(change.before.isr)) if change.before else None
        self.written = Elected(change.after.leader, frozenset(change.after.isr))
        following = evidence.next_checked(change.session, change.zxid)
        self.topic_follows = following is not None and following.place == Place("topic", change.topic)
        at, *repeated = reign.elections.get(self.partition, (0, None, None))
        refused = evidence.failures.refused(change.session, at, change.zxid)
        self.repeats = repeated if not features.kip455 and refused and at == change.since else None

    def _targets(self, requested: int, last: int) -> list[tuple[int, ...]]:
        """What a reassignment under way wants, or one new since the controller's last write, or asked for."""
        assignments = [v.value for v in self.inputs.assignments(self.partition, last, self.change.zxid)]
        under_way = [target_of(a) for a in assignments[-1:] if a.adding or a.removing]
        new = [a.replicas for before, a in zip(assignments, assignments[1:])
               if a.replicas not in (before.replicas, target_of(before))]
        asked = self.inputs.common.requested_targets(self.partition, requested, self.change.zxid)
        return list(dict.fromkeys(under_way + new + asked))

    @property
    def may_be_emptied(self) -> bool:
        """Whether unclean elections may be enabled for the topic, which once let the last member leave an ISR."""
        settings = self.inputs.unclean(self.change.topic, max(self.start, self.change.since), self.change.zxid)
        return any(setting.value is not False for setting in settings)

    @property
    def is_overtaken(self) -> bool:
        """Whether another controller wrote the present state after this one's reign began, which does not know of it."""
        before, after = self.change.before, self.change.after
        return before.controller_epoch != after.controller_epoch and self.change.since > self.start

    def since(self, view: Version) -> int:
        """The zxid from which an election by this view read what it needs: the state first, then the topic's config."""
        return max(view.zxid, self.start, self.change.since)

    def tokens(self, brokers: Iterable[int], view: Version) -> int | None:
        """How many brokers that the view has must count as offline so that none of these is online.

        None where nothing in the log bears it out: they go on for long, and told of no failed log directory.
        """
        registered = [broker for broker in brokers if broker in view.value]
        if all(self.leaves(broker, view) or self.has_failed_directory(broker) for broker in registered):
            return len(registered)
        return None

    def leaves(self, broker: int, view: Version) -> bool:
        """Whether a registered broker may be shutting down: it is gone soon."""
        return broker in view.value and self._leaving.may_be(broker, view.zxid, self.change)

    def has_failed_directory(self, broker: int) -> bool:
        """Whether a broker has told of a failed log directory."""
        return self.inputs.common.lost_a_log_directory(broker, self.change.zxid)

    def has_left(self, broker: int, view: Version) -> bool:
        """Whether the view lacks a broker that an earlier one of this reign has."""
        earlier = [v.value for v in self.history if v.zxid < view.zxid]
        return broker not in view.value and any(broker in brokers for brokers in earlier)

    def has_joined(self, broker: int, view: Version) -> bool:
        """Whether the view has a broker that an earlier one of this reign lacks."""
        earlier = [v.value for v in self.history if v.zxid < view.zxid]
        return broker in view.value and any(broker not in brokers for brokers in earlier)

    def may_be_offline(self, view: Version, offline: Iterable[int]) -> bool:
        """Whether the controller may hold the partition for offline at this view, when these brokers are not online.

        Its leader is nobody, does not count as online, or was not registered at some view since it was elected.
        """
        leader, views = self.known.leader, [v.value for v in self.history if self.elected <= v.zxid <= view.zxid]
        views.append(self.inputs.brokers.at(self.elected))
        return leader == NOBODY or leader in offline or any(leader not in brokers for brokers in views)
