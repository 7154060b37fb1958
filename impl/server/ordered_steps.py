"""A broker that takes only the steps that its driver orders, one at a time, and tells each that it has taken.

An order is carried out as soon as it is possible: when the message that it handles has come, or a watch has fired. What
has arrived and is not ordered waits for ever, like a message that never comes.
"""

from __future__ import annotations

import queue
from functools import partial

from kafkaproof.impl.broker.orders import Do
from kafkaproof.impl.seams.between.messages import Receiver
from kafkaproof.impl.seams.between.port import Answered, Arrived
from kafkaproof.impl.seams.zookeeper.requests import NotAnswered
from kafkaproof.impl.seams.zookeeper.session import Expired
from kafkaproof.impl.server.arrivals import Messages
from kafkaproof.impl.server.driver import tell
from kafkaproof.impl.server.ordered_replica_steps import OrderedPlanes
from kafkaproof.spec.election import active_controller, session
from kafkaproof.spec.election import faults as ends
from kafkaproof.spec.election.broker_state import CLEANING, DOWN
from kafkaproof.spec.kafka.zookeeper import LOST
from kafkaproof.spec.language.steps import by_name, names
from kafkaproof.spec.partition import brokers, faults, log_dirs, replica, triggers
from kafkaproof.spec.partition.history import leader_zk
from kafkaproof.spec.partition.metadata.cache import update_metadata
from kafkaproof.spec.partition.metadata.halting import halt_replica
from kafkaproof.spec.replica.zookeeper import Answer
from kafkaproof.spec.running.processes import ELECTION, PARTITION

TICK = 0.1
HANDLED = by_name(
    {
        replica.leader_and_isr: ("LeaderAndIsr", None),
        halt_replica: ("StopFetching", None),
        log_dirs.receive_error: ("StorageError", "r"),
        brokers.controlled_shutdown: ("ControlledShutdown", "leaver"),
    }
)
"""The steps that handle a message: its kind, and the argument that names its sender."""
WATCHED = names(
    triggers.unclean_enabled,
    triggers.topic_deletion,
    triggers.preferred_election,
    triggers.reassignment,
    log_dirs.log_dir_notification,
    leader_zk.isr_notification,
)
"""The steps that follow from what is watched, which is read first."""
NEW_SESSION = names(session.start, session.reopen)


class Ordered:
    """Runs a broker by orders, until its process ends or is told to stop.

    An order: ``{"do": "take", "part", "any": names, "arguments", "content"}``, where the first of the steps that is
    enabled is taken, and `content` is what the message says that it handles. The answer: ``{"took", "answer"}``.
    """

    def __init__(self, broker):
        self._broker, self._process, self._order = broker, broker.process, None
        self._arrived = Messages(broker)
        self._planes = OrderedPlanes(broker, self._arrived)

    def run(self) -> None:
        """Carry out orders."""
        while not (self._broker.ended or self._broker.driver.stopping):
            self._receive()
            if self._order and self._is_ready():
                self._carry_out(**self._order)

    def _receive(self):
        requests = self._process.requests
        try:
            item = requests.backlog.popleft() if requests.backlog else requests.inbox.get(timeout=TICK)
        except queue.Empty:
            return
        match item:
            case Arrived() | Answered():
                self._broker.messages.extend(self._process.post.read(item))
            case {"do": Do.TAKE, **order}:
                self._order = order
            case {"do": Do.ANNOUNCE, "to": to, "kind": kind}:
                self._process.announce(Receiver(*to), kind, {})
            case {"do": Do.PROPOSE, "to": to, "p": p}:
                self._broker.leadership.propose_to(Receiver(*to), p)
            case dict():
                self._broker.driver.take(item)
            case _:
                requests.take(item)

    def _is_ready(self):
        """Whether requests would be answered, by ZooKeeper or because their session is over."""
        requests = self._process.requests
        return not requests.has_session or requests.session.ready or requests.session.expired

    def _carry_out(self, part: str, any: list[str], arguments: dict, content: dict) -> None:
        for name in any:
            if self.take(part, name, arguments, content):
                self._order = None
                if part == ELECTION and name in NEW_SESSION:
                    self._broker.tell_session()
                self._broker.ended = self._process.election.session == DOWN
                self._process.port.flush()
                answer = self._process.answer
                if answer == LOST:
                    self._process.requests.session.ready = False  # until it is connected again
                tell(took=name, answer=None if answer is None else Answer.names[answer])
                return

    def take(self, part: str, name: str, arguments: dict, content: dict) -> bool:
        """Take a step, if it is possible now."""
        if part == ELECTION and name == active_controller.clean.__name__ and self._process.election.doing != CLEANING:
            return False
        taken = self._planes.take(name, arguments, content) if part == PARTITION else None
        if taken is not None:
            return taken
        if part == PARTITION and name in WATCHED and not self._has_read_znodes():
            return False
        if part == PARTITION and name == update_metadata.__name__:
            return self._arrived.handle_all("UpdateMetadata", arguments, self._broker.handle)
        if part == PARTITION and name in HANDLED:
            return self._handle(name, arguments, content)
        function = self._process.transition(part, name)
        if function is None:
            return False
        leaves = part == ELECTION and name == ends.stop.__name__
        if leaves and self._process.partition.up and not self._process.network.leaving:
            self._broker.try_step(faults.shut_down)
        return self._broker.try_step(function, **arguments)

    def _has_read_znodes(self):
        try:
            self._process.partition_zookeeper.refresh()
        except (Expired, NotAnswered):
            return False
        return True

    def _handle(self, name, arguments, content) -> bool:
        """Handle the newest message that says what it should; older ones of the same place are forgotten."""
        kind, sender = HANDLED[name]
        handle = self._broker.handle if kind == "LeaderAndIsr" else partial(self._take_with, name, arguments)
        return self._arrived.handle(kind, sender and arguments[sender], arguments | content, handle)

    def _take_with(self, name, arguments, message) -> None:
        function = self._process.transition(PARTITION, name)
        if function:
            self._broker.try_step(function, message, **arguments)
