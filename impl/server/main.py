"""A broker: chooses which of the enabled steps runs, by what has arrived and by timers, and decides nothing else.

The order: messages of other brokers; the notice that the session is over; the event in progress; then the next event,
that of /controller first. A controller has one event in progress, of either system.
"""

from __future__ import annotations

import json
import os
import queue
import signal
import sys
import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Any

from kafka.protocol.consumer.fetch import FetchRequest
from kafka.protocol.producer.produce import ProduceRequest

from kafkaproof.impl.broker.orders import Do
from kafkaproof.impl.broker.process import Process
from kafkaproof.impl.broker.replica import Offer
from kafkaproof.impl.broker.settings import Settings
from kafkaproof.impl.clients.api import Api
from kafkaproof.impl.protocol.wire import Call
from kafkaproof.impl.replicas.leadership import Leadership
from kafkaproof.impl.replicas.replication import Replication
from kafkaproof.impl.seams.between.control_apis import STALE_BROKER, STALE_CONTROLLER
from kafkaproof.impl.seams.between.messages import OK, Message, OfPart, Outcome
from kafkaproof.impl.seams.between.port import Answered, Arrived
from kafkaproof.impl.seams.storage.log import LogFailed
from kafkaproof.impl.seams.zookeeper.features import set_up_features
from kafkaproof.impl.seams.zookeeper.partition_numbers import NONE
from kafkaproof.impl.seams.zookeeper.requests import NotAnswered
from kafkaproof.impl.seams.zookeeper.session import Expired
from kafkaproof.impl.server.driver import Driver, listen, tell
from kafkaproof.impl.server.events import Events
from kafkaproof.impl.server.ordered_steps import Ordered
from kafkaproof.spec.cluster import control, data_plane
from kafkaproof.spec.election import active_controller, election, session
from kafkaproof.spec.election import faults as ends
from kafkaproof.spec.election.broker_state import CLEANING, DOWN, IDLE, LOADING, OPEN
from kafkaproof.spec.election.requests import is_stale
from kafkaproof.spec.kafka.control_requests import NONE as NO_ERROR
from kafkaproof.spec.kafka.control_requests import Error
from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.spec.partition import brokers, failover, faults, log_dirs, rebalance, replica
from kafkaproof.spec.partition.context import IDLE as WAITING
from kafkaproof.spec.partition.context import LAPSED, READING_BROKERS
from kafkaproof.spec.partition.deletion import deletion
from kafkaproof.spec.partition.deletion.replica import stop_replica
from kafkaproof.spec.partition.history import leader_zk
from kafkaproof.spec.partition.metadata.cache import update_metadata
from kafkaproof.spec.partition.metadata.halting import halt_replica, stop_error
from kafkaproof.spec.partition.replica import become_error
from kafkaproof.spec.running.processes import ELECTION, continuations

TICK = 0.1
REBALANCE_EVERY, LEAVE_EVERY, RETRIES = 3.0, 0.4, 3


def is_of_data(item: object) -> bool:
    """Whether an item of the inbox is what data planes carry all the time: a record of a producer, a fetch, its answer."""
    match item:
        case Call():
            return item.kind in (ProduceRequest, FetchRequest)
        case Arrived():
            return item.frame.api == FetchRequest.API_KEY
        case Answered():
            return item.request.api == FetchRequest.API_KEY
    return False


class Timer:
    """Falls due at once, and then every so many seconds."""

    def __init__(self, every: float):
        self._every, self._due = every, 0.0

    def is_due(self) -> bool:
        """Whether it is due; if so, it is set again."""
        now = time.monotonic()
        if now < self._due:
            return False
        self._due = now + self._every
        return True


class Broker:
    """Runs one process until it ends."""

    def __init__(self, settings: Settings):
        self.settings = settings
        self.process = Process(settings)
        self.leadership: Leadership | Replication
        if self.process.planes:
            self.leadership = Replication(self.process, self.try_step)
        else:
            self.leadership = Leadership(
                self.process, lambda p, isr: self.events.add(leader_zk.change_isr, p=p, isr=isr)
            )
        self.messages: deque[Message] = deque()
        self.driver = Driver(self.process, lambda p: self.events.add(faults.fail_log_dir, p=p))
        self.ended = False
        self.asked_to_leave = 0
        self.api = Api(self.process, self.try_step)
        self.events = Events(self.process, self.try_step, self.leadership, self.api)
        self._news, self._looked, self._began_term = True, 0.0, 0
        self._rebalancing, self._leaving = Timer(REBALANCE_EVERY), Timer(LEAVE_EVERY)
        model = self.process.cluster.model(ELECTION)
        self._continuations = [step for step, _ in continuations(model, 1, settings.brokers)]

    def run(self) -> None:
        """Take steps until the process ends."""
        while not self.try_step(session.start):
            self.receive()
        self.tell_session()
        while not self.ended:
            is_message = bool(self.messages)
            if not self.step():
                self.receive()
            elif not (is_message or self.ended):
                self._receive_at_once()

    # What arrives

    def receive(self) -> None:
        """Wait for something to arrive, at most for a tick; then do what is due."""
        self._tick()
        requests = self.process.requests
        try:
            item = requests.backlog.popleft() if requests.backlog else requests.inbox.get(timeout=TICK)
        except queue.Empty:
            self._news = True
            return
        self._take(item)

    def _receive_at_once(self) -> None:
        """Take what has arrived during a step, so that no request waits until the controller's event is over."""
        requests = self.process.requests
        for _ in range(len(requests.backlog) + requests.inbox.qsize()):
            if requests.backlog:
                self._take(requests.backlog.popleft())
            elif not requests.inbox.empty():
                self._take(requests.inbox.get())
        self.leadership.tick(False)
        self.api.tick(False)

    def _take(self, item: Any) -> None:
        self._news = self._news or not is_of_data(item)
        if self.process.requests.take(item):
            return
        match item:
            case Arrived() | Answered():
                self.messages.extend(self.process.post.read(item))
            case Call():
                self.api.handle(item)
            case _:
                self.driver.take(item)

    def _tick(self) -> None:
        """Do what is due by the clock; where nothing came but what data planes carry, only what that may have changed."""
        now = time.monotonic()
        is_all = self._news or now - self._looked > TICK
        self._news = False
        self.leadership.tick(is_all)
        self.api.tick(is_all)
        if not is_all:
            return
        self._looked = now
        if self._rebalancing.is_due():
            self.events.add(rebalance.rebalance)
        if self.driver.stopping and self._leaving.is_due():
            self._leave()

    def _leave(self) -> None:
        """Ask the controller for a controlled shutdown until this broker leads nothing, then end."""
        process, controller = self.process, self.leadership.controller
        if process.election.session != OPEN or not process.partition.up:
            self.ended = True
            return
        if not process.network.leaving:
            self.try_step(faults.shut_down)
        done = self.asked_to_leave and not self.leadership.leads_anything()
        if self.asked_to_leave > RETRIES or done or controller == NOBODY:
            self.ended = self.try_step(ends.stop)
            return
        process.announce(process.known.reach(controller), "ControlledShutdown", {})
        self.asked_to_leave += 1

    # Which step runs

    def try_step(
        self, function: Callable, message: Message | None = None, offer: Offer | None = None, **arguments: int
    ) -> bool:
        """Take a step if the variant has it, and it is enabled; False also where a read was not answered.

        Where the log of a replica cannot be written, its log directory fails instead.
        """
        if not self.process.has(function):
            return False
        try:
            taken = self.process.take(function, message, offer, **arguments)
        except NotAnswered:
            return False
        except LogFailed as failure:
            self.process.note(failed=str(failure))
            self.process.take(faults.fail_log_dir, p=arguments["p"])
            self._news = True
            return False
        self._news = self._news or taken and function.__module__ != data_plane.__name__
        return taken

    def step(self) -> bool:
        """Take the next step; False when there is nothing to do before something arrives."""
        process, client = self.process, self.process.requests.session
        if self.messages and process.election.session != DOWN:
            self.handle(self.messages.popleft())
            return True
        if client.expired and process.election.session == OPEN:
            return self.try_step(session.notice_expiry)
        if not client.ready and not client.expired:
            return False
        if process.election.doing != IDLE:
            return self._go_on_electing()
        if process.partition.controller.doing not in (WAITING, LAPSED):
            return self.events.go_on()
        if process.election.session != OPEN:
            return self.try_step(session.reopen) and self.tell_session()
        if not (self._news or self.events.waits or time.monotonic() - self._looked > TICK):
            return False
        return self.try_step(election.handle_change) or self.events.begin()

    def tell_session(self) -> bool:
        """Tell the driver which session this process has, and where clients find it."""
        client = self.process.requests.session
        tell(
            session=f"{client.id:#x}", password=client.password.hex(), port=self.process.election_zookeeper.address.port
        )
        return True

    def _go_on_electing(self) -> bool:
        process = self.process
        if process.planes and process.election.active and process.election.epoch != self._began_term:
            self._began_term = process.election.epoch
            set_up_features(process.requests, self.settings.spoken)
        if process.election.doing == CLEANING and self.try_step(active_controller.clean):
            return True
        if process.election.doing == LOADING and self._knows_topics() and self.try_step(failover.load_brokers):
            return True
        taken = any(self.try_step(function) for function in self._continuations)
        self.ended = process.election.session == DOWN
        return taken

    def _knows_topics(self) -> bool:
        """Whether there are records for the partitions of all topics, before the states of partitions are read: for topics
        that are created later, the watch tells.
        """
        if self.process.partition.controller.doing != READING_BROKERS or self.process.places.further == NONE:
            return True
        try:
            self.process.partition_zookeeper.list_topics()
        except NotAnswered:
            return False
        except Expired:
            pass  # the step that follows is refused for it, and ends the term
        return True

    # Messages

    def handle(self, message: Message) -> None:
        """Do what a message wants at once, or put it into the queue of the controller's events.

        A request of a controller that gets no other answer was obeyed, or is of an earlier controller.
        """
        content = message.content
        self.process.reach(max([content.get("p", NONE), *map(int, content.get("partitions", ()))]))
        match message.kind:
            case "LeaderAndIsr":
                self._lead_or_follow(message)
            case "AlterPartition":
                self.events.add(
                    control.alter_partition, message, p=content["p"], sender=message.sender, isr=content["isr"]
                )
            case "ControlledShutdown":
                self.events.add(brokers.controlled_shutdown, message, leaver=message.sender)
            case "AllocateProducerIds":
                if self.process.election.active:
                    self.events.add(self.api.producer_ids.give, message)
                else:
                    self.api.producer_ids.give(message, False)
            case "ProducerIds":
                self.api.producer_ids.take(message)
            case "UpdateMetadata":
                self._learn(message)
            case "StopReplica" | "StopFetching":
                self._stop(message)
            case "Stopped":
                self.events.add(deletion.replica_stopped, message, p=content["p"], r=message.sender)
            case "StorageError":
                if self.try_step(log_dirs.receive_error, message, p=content["p"], r=message.sender):
                    self.events.add(log_dirs.storage_error, r=message.sender)
            case _:
                self.leadership.handle(message)

    def _learn(self, message: Message) -> None:
        """Take over what clients are to be told."""
        epoch = message.content["epoch"]
        if self._refuses(message):
            return
        self.try_step(update_metadata, message, epoch=epoch)
        is_obeyed = self.process.partition.seen_epoch == epoch
        if is_obeyed:
            self.api.metadata.learn(message)
        message.settle(OK if is_obeyed else STALE_CONTROLLER)

    def _refuses(self, message: Message) -> bool:
        """Whether a request is for a former process or session of this broker; then it is answered so."""
        if self.process.network.is_refused(message):
            self.process.note(refused=message.id, why="STALE_BROKER_EPOCH")
            message.settle(STALE_BROKER)
            return True
        return False

    def _stop(self, message: Message) -> None:
        """Delete a replica, or let it fetch no more, as the controller wants."""
        content = message.content
        if self._refuses(message):
            return
        step, outcome = (
            stop_replica if message.kind == "StopReplica" else halt_replica,
            self._outcome(message, stop_error),
        )
        self.try_step(step, message, epoch=content["epoch"], p=content["p"])
        message.settle(outcome)

    def _outcome(self, message: Message, error_of: Callable[..., int]) -> Outcome:
        """What a request of a controller about a partition is answered, by what is known before it is handled; `error_of` is
        the specification's rule for one that is accepted.
        """
        broker, content = self.process.partition, message.content
        if is_stale(broker, content["epoch"]):
            return STALE_CONTROLLER
        error = error_of(broker.replicas[content["p"]], content["leader_epoch"])
        return OK if error == NO_ERROR else OfPart(Error.names[error].lower())

    def _lead_or_follow(self, message: Message) -> None:
        process, p = self.process, message.content["p"]
        if self._refuses(message):
            return
        outcome = self._outcome(message, become_error)
        before = process.partition.replicas[p].leader_epoch
        request = process.planes[p].drop_request(process.broker) if process.planes else None
        self.try_step(replica.leader_and_isr, message, epoch=message.content["epoch"], p=p)
        is_news = process.partition.replicas[p].leader_epoch != before
        if is_news and process.places.is_further(p):
            topic, partition = message.content["place"]
            process.places.note(topic, {p: partition})
        if request and not is_news:
            process.planes[p].network.messages[process.broker] = request
        self.leadership.told(message, is_news)
        message.settle(outcome)
        if self.api.coordinator:
            self.api.coordinator.leader.look()


def main() -> None:
    """Run the broker that the first line of standard input describes."""
    broker = Broker(Settings(**json.loads(sys.stdin.readline())))
    inbox = broker.process.requests.inbox
    signal.signal(signal.SIGTERM, lambda *_: inbox.put({"do": Do.STOP}))
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=listen, args=(inbox,), daemon=True).start()
    runner = Ordered(broker) if broker.settings.ordered else broker
    runner.run()
    os._exit(0)


if __name__ == "__main__":
    main()
