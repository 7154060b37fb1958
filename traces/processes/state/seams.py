"""The seams of transitions in a replay: what a step asks for, sends and acknowledges is noted as it is taken.

What only a running cluster knows (the replicas that a request lists, what a message said) comes from the recording.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from kafkaproof.spec.cluster.control import is_refused
from kafkaproof.spec.cluster.faults import checkpointed
from kafkaproof.spec.cluster.network import put_request_with_isr
from kafkaproof.spec.cluster.zookeeper import is_not_older
from kafkaproof.spec.kafka.zookeeper import LOST
from kafkaproof.spec.language.model import Transition
from kafkaproof.spec.language.plain import Plain
from kafkaproof.spec.language.rebind import rebind
from kafkaproof.spec.language.sequences import push
from kafkaproof.spec.language.sets import contains, difference, everybody
from kafkaproof.spec.language.steps import names
from kafkaproof.spec.partition.context import NO_EPOCH
from kafkaproof.spec.partition.deletion.network import put_stop, put_stopped
from kafkaproof.spec.partition.network import put_alive, put_error, put_halt, put_request, put_update
from kafkaproof.spec.partition.reassignment.faults import put_target
from kafkaproof.spec.partition.reassignment.network import put_removal
from kafkaproof.spec.partition.zookeeper import as_they_are, assigned, known_as_they_are
from kafkaproof.spec.replica.broker import enough_in_sync
from kafkaproof.spec.replica.clients.network import commit
from kafkaproof.spec.running.processes import Cluster, has_planes, is_lost
from kafkaproof.spec.running.replica_messages import contents_of, departures
from kafkaproof.spec.running.seams import answers_of, seams_of
from kafkaproof.traces.processes.state.knowledge import Knowledge
from kafkaproof.traces.processes.state.messages import REFUSED, Sent

STOPS = names(put_stop, put_removal)
TOLD = names(put_error, put_stopped)
"""The seams by which a broker tells the controller of a partition."""
UPDATES, HALTS = names(put_update, put_alive), names(put_halt)
SENDING = (*names(put_request, put_request_with_isr), *STOPS, *TOLD)
"""The seams that send; those of other variants have the same names."""


class Seams:
    """What the step at hand asks and sends: `answer` is the one that it got, None for none, and `acked` the batches
    whose producers it answers, as partition and number.

    `listed`: the replicas that a request for a reassignment lists for each partition, when an operator makes one.
    `message`: the one that is on its way to the broker that takes the step.
    """

    def __init__(self, cluster: Cluster, known: Knowledge):
        self._cluster, self._known = cluster, known
        self.listed: dict[int, list[int]] = {}
        self.message: Sent | None = None
        self._told = 0
        self.begin([], 0)

    def begin(self, planes: list[Plain], delivery: int) -> None:
        """A step is about to be taken; `planes` are the data planes, `delivery` says what becomes of its request."""
        self._planes, self._delivery = planes, delivery
        self.answer: int | None = None
        self.acked: list[tuple[int, int]] = []
        self._put: list[tuple] = []
        self._others: list[tuple] = []

    def watched(self, transition: Transition) -> Transition:
        """A transition that notes what it asks and what it sends."""
        answering = answers_of(transition.function)
        watched = {
            each: self._watch(each, each in answering)
            for each in seams_of(transition.function) | answering
            if each in answering
            or each.__name__ in SENDING
            or self._cluster.updates
            and each.__name__ in (*UPDATES, *HALTS)
        }
        watched |= {each: self._telling(each) for each in (known_as_they_are, as_they_are)}
        if self._cluster.reassigns:
            watched |= {assigned: self._taken_for_assigned, put_target: self._put_listed}
        watched |= {
            is_not_older: self._is_not_older,
            commit: self._acknowledging(commit),
            is_refused: self._hears_refusal,
            checkpointed: _as_found,
        }
        return Transition(rebind(transition.function, watched))

    def _taken_for_assigned(self, zk, p):
        """The brokers that may take themselves for replicas of a partition: what they were told of it may be old."""
        return everybody(len(zk.clients))

    def _put_listed(self, zk, p, first, others):
        """The target of a partition as it was listed, in any order."""
        for broker in self.listed[p]:
            push(zk.targets[p], broker)

    def _telling(self, known):
        """Which brokers of some a request reaches; it is sent to the others, too, who refuse it."""

        def call(zk, b, members):
            self._told = members
            return known(zk, b, members)

        return call

    def _watch(self, function, answers):
        name = function.__name__

        def call(*arguments):
            answer = LOST if answers and is_lost(function, self._delivery) else function(*arguments)
            if answers:
                self.answer = answer
            elif name in TOLD:
                self._others.append((name, arguments[1:]))
            else:
                self._put.append((name, *arguments[1:-1], self._told))
            return answer

        return call

    def _hears_refusal(self, s, b, p, sender, isr) -> bool:
        """A leader hears that controller `b` has refused its ISR: later than that was so."""
        found = self.message
        return found is not None and (found.kind, found.sender, found.content["fields"]["isr"]) == (REFUSED, b, isr)

    def _is_not_older(self, zk, b, p) -> bool:
        """Whether the version that a controller has cached is at least that of the leader who proposes."""
        return self.message is not None and self._known.version(b, p) >= self.message.content["version"]

    def _acknowledging(self, commit):
        """`commit`, which notes the producers that it answers."""

        def call(clients, zk, b, broker):
            waited = broker.waiting
            commit(clients, zk, b, broker)
            p = next(p for p, plane in enumerate(self._planes) if plane.clients is clients)
            if enough_in_sync(broker):
                answered = difference(waited, broker.waiting)
                self.acked += [(p, id) for id in range(answered.bit_length()) if contains(answered, id)]

        return call

    def sent(self, arguments: Mapping[str, int], before: Plain, after: Plain) -> Iterator[Sent]:
        """The messages that a step of *partition* has sent; `before` and `after` are the states."""
        updates = {each.receiver: each for each in self._updates(arguments.get("b", 0), len(after.brokers))}
        for name, epoch, *about, to in self._put:
            if name in UPDATES:
                first = [r for r in updates if contains(to, r)] if self._cluster.tells_in_order else []
                yield from [updates.pop(r) for r in first]
                continue
            p, *about = about
            kind = "StopReplica" if name in STOPS else "StopFetching" if name in HALTS else "LeaderAndIsr"
            said = (
                {"leader_epoch": about[0] if about else NO_EPOCH}
                if name in (*STOPS, *HALTS)
                else dict(zip(("leader", "leader_epoch", "isr"), about))
            )
            content = {"epoch": epoch, "p": p, **said}
            for r in range(len(after.brokers)):
                known = self._known.registration(arguments["b"], r)
                if contains(to, r) and known:
                    yield Sent(kind, arguments["b"], r, content, known)
        yield from updates.values()
        for name, (epoch, p, b, *failed) in self._others:
            content = {"epoch": epoch, "p": p}
            if name == put_stopped.__name__:
                yield Sent("Stopped", b, None, content | {"failed": failed[0]})
            else:
                yield Sent("StorageError", b, None, content)
        if has_planes(self._cluster.partition) and {"b", "p"} <= arguments.keys():
            p = arguments["p"]
            former, present = before.planes[p].network, after.planes[p].network
            for kind, receiver, fields in departures(contents_of(former), present, arguments["b"]):
                yield Sent(kind, arguments["b"], receiver, {"p": p, "fields": fields})

    def _updates(self, b: int, brokers: int) -> Iterator[Sent]:
        """The UpdateMetadata of a step: one to each broker that is told anything."""
        told: dict[int, dict] = {}
        for _, epoch, *about, alive, to in (each for each in self._put if each[0] in UPDATES):
            for r in range(brokers):
                if contains(to, r) and self._known.registration(b, r):
                    content = told.setdefault(r, {"epoch": epoch, "partitions": {}})
                    content["alive"] = alive
                    if about:
                        p, leader, leader_epoch, isr = about
                        content["partitions"][p] = leader, leader_epoch, isr
        for r, content in sorted(told.items()):
            yield Sent("UpdateMetadata", b, r, content, self._known.registration(b, r))


def _as_found(replica, hw):
    """The high watermark that a new process finds: each as it was found, before the step."""
    return replica.hw
