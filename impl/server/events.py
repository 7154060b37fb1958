"""The events of a broker, most of them those of a controller: one is in progress, the others wait in a queue."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from kafkaproof.impl.broker.process import Process
from kafkaproof.impl.clients.api import Api
from kafkaproof.impl.replicas.leadership import Leadership
from kafkaproof.impl.replicas.replication import Replication
from kafkaproof.impl.seams.between.data_apis import NOT_CONTROLLER
from kafkaproof.impl.seams.between.messages import Message
from kafkaproof.impl.seams.zookeeper.requests import NotAnswered
from kafkaproof.impl.seams.zookeeper.session import Expired
from kafkaproof.spec.cluster import control
from kafkaproof.spec.election.active_controller import at_work
from kafkaproof.spec.kafka.zookeeper import LOST
from kafkaproof.spec.language.plain import ids_in
from kafkaproof.spec.partition import brokers, faults, log_dirs, progress, triggers
from kafkaproof.spec.partition import isr as isr_changes
from kafkaproof.spec.partition.creation.creation import topic_change
from kafkaproof.spec.partition.deletion import deletion
from kafkaproof.spec.partition.expansion import expansion
from kafkaproof.spec.partition.history import leader_zk
from kafkaproof.spec.partition.reassignment import admin_requests
from kafkaproof.spec.partition.reassignment.brokers import drop_unknown
from kafkaproof.spec.partition.verdicts import NONE
from kafkaproof.spec.replica.network import DONE
from kafkaproof.spec.running.processes import PARTITION, continuations
from kafkaproof.spec.running.replica_messages import WRITTEN

REASSIGNMENT = (triggers.reassignment, admin_requests.reassign)
"""How a reassignment begins: up to 2.0 with the election that belongs to it."""
OF_ANY_BROKER = (leader_zk.change_isr, faults.fail_log_dir)
"""Events of any broker, not of the controller."""


class Events:
    """Chooses the next step of the events; `try_step` takes a step if it is enabled."""

    def __init__(self, process: Process, try_step: Callable[..., bool], leadership: Leadership | Replication, api: Api):
        self._process, self._try_step = process, try_step
        self._leadership, self._api = leadership, api
        self._waiting: deque[tuple[Callable, Message | None, dict]] = deque()
        self._leaving: list[tuple[Message, int]] = []
        self._continuations: list[list[tuple[Callable, dict[str, int]]]] = []
        self._place = 0

    @property
    def rules(self) -> bool:
        """Whether this broker is the controller, and no event is in progress."""
        return at_work(self._process.election) and progress.at_work(self._process.partition.controller)

    @property
    def waits(self) -> bool:
        """Whether an event waits."""
        return bool(self._waiting)

    def add(self, function: Callable, message: Message | None = None, **arguments: int) -> None:
        """Put an event into the queue: the step that it begins with, or what gives ids of producers, which no step does."""
        self._waiting.append((function, message, arguments))

    def go_on(self) -> bool:
        """Take the next step of the event in progress; returns whether one was possible. It is most often one of the partition
        of the last, or the next.
        """
        count = self._process.partitions
        if len(self._continuations) != count + 1:
            self._continuations = self._by_partition(count)
        for p in (self._place, count, *range(self._place + 1, count), *range(self._place)):
            if any(self._try_step(function, **arguments) for function, arguments in self._continuations[p]):
                self._place = p % count
                return True
        return False

    def _by_partition(self, count: int) -> list[list[tuple[Callable, dict[str, int]]]]:
        """The continuations of each partition, and behind them those of none."""
        model, found = self._process.cluster.model(PARTITION), [[] for _ in range(count + 1)]
        for function, arguments in continuations(model, count, self._process.settings.brokers):
            found[arguments.get("p", count)].append((function, arguments))
        return found

    def begin(self) -> bool:
        """Begin the next event of the controller, if the broker is one, or do what a broker does by itself."""
        process = self._process
        self._tell_leaving()
        if process.partition.unnotified and self._try_step(log_dirs.notify):
            return True
        rules = self.rules
        if rules and (
            self._try_step(brokers.broker_change)
            or self._look_at_znodes()
            or self._api.topics.create_next()
            or self._api.expansions.expand_next()
            or self._api.deletions.mark_next()
            or self._api.alterations.alter_next()
            or self._api.elections.elect_next()
        ):
            return True
        while self._waiting:
            function, message, arguments = self._waiting.popleft()
            if message and function == self._api.producer_ids.give:
                self._api.producer_ids.give(message, rules)
                continue
            leadership = self._leadership
            if isinstance(leadership, Leadership) and function is leader_zk.change_isr:
                if not leadership.wants(**arguments):
                    continue
            if message and function is control.alter_partition:
                taken = rules and self.alter(message, **arguments)
            else:
                taken = (rules or function in OF_ANY_BROKER) and self._try_step(function, message, **arguments)
            if message and taken and function is control.alter_partition and process.answer == LOST:
                self._waiting.appendleft((function, message, arguments))
            elif message and taken and function is brokers.controlled_shutdown:
                self._leaving.append((message, arguments["leaver"]))
            elif message:
                message.settle((taken and self._granted_itself(message)) or NOT_CONTROLLER)
            if taken:
                return True
        return False

    def _tell_leaving(self) -> None:
        """Answer those who want to leave, and whose event is over: the partitions that they lead still."""
        for message, leaver in self._leaving:
            known = enumerate(self._process.partition.controller.partitions)
            message.settle(tuple(p for p, each in known if each.leader == leaver and each.assignment.length > 1))
        self._leaving = []

    def alter(self, message: Message, p: int, sender: int, isr: int) -> bool:
        """As the controller: write an ISR that a leader proposes, or confirm it, or refuse it (2.7 and later); whether a
        step was taken.
        """
        leadership = self._leadership
        if isinstance(leadership, Leadership):
            return False
        self._process.partition_zookeeper.proposers_version = message.content["version"]
        leadership.proposed(message)
        error = self._process.alter_error(message)
        if error != NONE:
            leadership.refused(message, error)
            return self._try_step(isr_changes.refuse_change, message, p=p, sender=sender)
        return self._try_step(control.alter_partition, message, p=p, sender=sender, isr=isr) or self._try_step(
            control.confirm_isr, message, p=p, sender=sender
        )

    def _granted_itself(self, message: Message) -> Message | None:
        """The answer to the proposal that this broker, as the controller, has granted itself: it knows without one."""
        process, p = self._process, message.content["p"]
        if message.sender != process.broker or process.planes[p].network.alters[process.broker].state != DONE:
            return None
        told = {"p": p, "fields": message.content["fields"], "version": process.partition_zookeeper.version_of(p)}
        return Message(WRITTEN, "", process.broker, process.clock, process.zxid, told)

    def _look_at_znodes(self) -> bool:
        """Begin what operators or brokers ask for by a znode."""
        zookeeper = self._process.partition_zookeeper
        allowed = zookeeper.unclean
        try:
            zookeeper.refresh()
        except (Expired, NotAnswered):
            return False
        if zookeeper.unclean and not allowed and self._try_step(triggers.unclean_enabled):
            return True
        listed, deleting = zookeeper.listed(), ids_in(self._process.partition.controller.deleting)
        changed = range(self._process.partitions if zookeeper.isr_names else 0)
        return (
            self._try_step(topic_change)
            or self._try_step(expansion.new_partitions)
            or any(self._try_step(expansion.restore_partitions, p=p) for p in deleting)
            or self._try_step(triggers.topic_deletion)
            or self._try_step(deletion.leftover_deletion)
            or self._try_step(triggers.preferred_election)
            or any(self._try_step(function, p=p) for function in REASSIGNMENT for p in listed)
            or any(self._try_step(deletion.drop_reassignment, p=p) for p in listed)
            or self._try_step(drop_unknown)
            or self._try_step(log_dirs.log_dir_notification)
            or any(self._try_step(leader_zk.isr_notification, p=p) for p in changed)
        )
