"""The events of a broker, most of them those of a controller: one is in progress, the others wait in a queue."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from kafkaproof.impl.broker.process import Process
from kafkaproof.impl.clients.api import Api
from kafkaproof.impl.replicas.leadership import Leadership
from kafkaproof.impl.replicas.replication import Replication
from kafkaproof.impl.seams.network import Message
from kafkaproof.impl.seams.zookeeper.requests import NotAnswered
from kafkaproof.impl.seams.zookeeper.session import Expired
from kafkaproof.spec.election.reign import at_work
from kafkaproof.spec.partition import progress
from kafkaproof.spec.running.processes import PARTITION, continuations

REASSIGNMENT = ("reassignment", "reassign", "caught_up")
"""Events of a reassignment: up to 2.0 the election that belongs to it, later how it begins, and comes to its end."""
OF_ANY_BROKER = ("change_isr", "fail_log_dir")
"""Events that are no controller's."""


class Events:
    """Chooses the next step of the events; `try_step` takes a step if it is enabled."""

    def __init__(self, process: Process, try_step: Callable[..., bool], leadership: Leadership | Replication, api: Api):
        self._process, self._try_step = process, try_step
        self._leadership, self._api = leadership, api
        self._waiting: deque[tuple[str, Message | None, dict]] = deque()
        model, settings = process.cluster.model(PARTITION), process.settings
        self._continuations = list(continuations(model, settings.partitions, settings.brokers))

    def add(self, name: str, message: Message | None = None, **arguments: int) -> None:
        """Put an event into the queue."""
        self._waiting.append((name, message, arguments))

    def go_on(self) -> bool:
        """Take the next step of the event in progress; whether one is possible."""
        return any(self._try_step(PARTITION, name, **arguments) for name, arguments in self._continuations)

    def begin(self) -> bool:
        """Begin the next event of the controller, if the broker is one, or do what a broker does by itself."""
        process = self._process
        if process.partition.unnotified and self._try_step(PARTITION, "notify"):
            return True
        rules = at_work(process.election) and progress.at_work(process.partition.controller)
        if rules and (
            self._try_step(PARTITION, "broker_change")
            or self._look_at_wishes()
            or self._api.topics.create_next()
            or self._api.deletions.mark_next()
        ):
            return True
        while self._waiting:
            name, message, arguments = self._waiting.popleft()
            if name == "change_isr" and not self._leadership.wants(**arguments):
                continue
            if name == "alter_partition":
                taken = rules and self.alter(message, **arguments)
            else:
                taken = (rules or name in OF_ANY_BROKER) and self._try_step(PARTITION, name, message, **arguments)
            if taken:
                return True
        return False

    def alter(self, message: Message, p: int, sender: int, isr: int) -> bool:
        """As the controller: write an ISR that a leader proposes, or confirm it, or refuse it."""
        self._process.partition_zookeeper.proposers_version = message.content["version"]
        self._leadership.proposed(message)
        taken = self._try_step(PARTITION, "alter_partition", message, p=p, sender=sender, isr=isr) or self._try_step(
            PARTITION, "confirm_isr", message, p=p, sender=sender
        )
        if not taken:
            self._leadership.refused(message)
        return taken

    def _look_at_wishes(self) -> bool:
        """See what operators and brokers want that ask by a znode."""
        zookeeper = self._process.partition_zookeeper
        allowed = zookeeper.unclean
        try:
            zookeeper.refresh()
        except (Expired, NotAnswered):
            return False
        if zookeeper.unclean and not allowed and self._try_step(PARTITION, "unclean_enabled"):
            return True
        partitions = range(self._process.settings.partitions)
        return (
            self._try_step(PARTITION, "topic_change")
            or self._try_step(PARTITION, "topic_deletion")
            or self._try_step(PARTITION, "leftover_deletion")
            or any(self._try_step(PARTITION, "drop_reassignment", p=p) for p in partitions)
            or self._try_step(PARTITION, "preferred_election")
            or any(self._try_step(PARTITION, name, p=p) for name in REASSIGNMENT for p in partitions)
            or self._try_step(PARTITION, "log_dir_notification")
            or any(self._try_step(PARTITION, "isr_notification", p=p) for p in partitions)
        )
