"""A broker: chooses which of the enabled steps runs, by what has arrived and by timers, and decides nothing else.

The order: messages of other brokers; the notice that the session is over; the event in progress; then the next event, that
of /controller first. A controller has one event in progress, of either system.
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

from impl.followers import Followers
from impl.network import Message
from impl.partition_zookeeper import Led
from impl.process import Process, Settings
from impl.requests import NotAnswered
from impl.session import Expired
from spec.processes import ELECTION, PARTITION, may_ask
from spec.controller.belief import CLEANING, DOWN, IDLE, OPEN
from spec.controller.reign import at_work
from spec.language.domains import NOBODY
from spec.partition import progress
from spec.partition.context import IDLE as WAITING

TICK = 0.1
FETCH_EVERY, REBALANCE_EVERY, LEAVE_EVERY, RETRIES = 0.3, 5.0, 0.4, 3
LAG = 1.5
ELECTION_STEPS = (
    "register_broker", "die", "maybe_resign", "look_for_controller", "create", "confirm_owner", "learn_epoch",
    "found_epoch", "register", "raise_epoch", "confirm_controller", "confirm_epoch", "delete_any_controller",
)
"""What goes on while an event of the election is in progress; each is guarded by how far it is."""
EVENT_STEPS = {
    "load_brokers": (), "load_state": ("p",), "read_for_election": ("p",), "write_leader": ("p",),
    "create_first_state": ("p",), "read_for_removal": ("p", "r"), "write_removal": ("p", "r"), "broker_startup": (),
    "broker_failure": (), "delete_request": (),
}
"""What goes on while an event of the controller is in progress, with the arguments that are to be found."""


class Broker:
    """Runs one process until it ends."""

    def __init__(self, settings: Settings):
        self.settings = settings
        self.process = Process(settings)
        self.steps = {part: {t.function.__name__ for t in self.process.cluster.model(part).transitions}
                      for part in (ELECTION, PARTITION)}
        self.followers = Followers(LAG)
        self.events: deque[tuple[str, Message | None, dict]] = deque()
        self.messages: deque[Message] = deque()
        self.leader_addresses: dict[int, tuple[str, int]] = {}
        self.controller: tuple[int, tuple[str, int]] | None = None
        self.ended = self.stopping = False
        self.asked_to_leave = 0
        self.due = dict.fromkeys(("fetch", "rebalance", "leave"), 0.0)
        self.held: str | None = None

    def run(self) -> None:
        """Take steps until the process ends."""
        while not self._try(ELECTION, "start"):
            self._receive()
        tell(session=f"{self.process.requests.session.id:#x}", password=self.process.requests.session.password.hex())
        while not self.ended:
            if not self._step():
                self._receive()

    # What arrives

    def _receive(self) -> None:
        """Wait for something to arrive, at most until the next tick."""
        requests = self.process.requests
        try:
            item = requests.backlog.popleft() if requests.backlog else requests.inbox.get(timeout=TICK)
        except queue.Empty:
            self._tick()
            return
        if requests.take(item):
            return
        if isinstance(item, Message):
            self.messages.append(item)
        else:
            self._command(item)

    def _command(self, command: dict) -> None:
        """What the driver of the cluster wants."""
        match command:
            case {"do": "stop"}:
                self.stopping = True
            case {"do": "hold", "before": name}:
                self.held = name
            case {"do": "fail_log_dir", "p": p}:
                self.events.append(("fail_log_dir", None, {"p": p}))

    def _tick(self) -> None:
        now = time.monotonic()
        if now >= self.due["fetch"]:
            self.due["fetch"] = now + FETCH_EVERY
            self._follow()
            self._wish()
        if now >= self.due["rebalance"]:
            if self.due["rebalance"]:
                self.events.append(("rebalance", None, {}))
            self.due["rebalance"] = now + REBALANCE_EVERY
        if self.stopping and now >= self.due["leave"]:
            self.due["leave"] = now + LEAVE_EVERY
            self._leave()

    def _follow(self) -> None:
        """Fetch from the leaders of all partitions that this broker follows."""
        for p, replica in enumerate(self.process.partition.replicas):
            leads = replica.leader in (NOBODY, self.settings.broker) or replica.failed
            if not leads and p in self.leader_addresses:
                self.process.tell(self.leader_addresses[p], "Fetch", {"p": p, "leader_epoch": replica.leader_epoch})

    def _wish(self) -> None:
        """Where other brokers follow than are in the ISR, have it changed: by the controller, or (up to 2.6) itself."""
        zookeeper = self.process.partition_zookeeper
        for p, epoch in self.process.network.wishes.items():
            if epoch < 0 or p not in zookeeper.led:
                continue
            isr = self.followers.in_sync(p, self.settings.broker, epoch, zookeeper.replicas[p])
            if isr == sum(1 << r for r in zookeeper.led[p].isr):
                continue
            if "change_isr" in self.steps[PARTITION]:
                self.events.append(("change_isr", None, {"p": p, "isr": isr}))
            elif self.controller:
                self.process.tell(self.controller[1], "AlterPartition", {"p": p, "leader_epoch": epoch, "isr": isr})

    def _leave(self) -> None:
        """Ask the controller for the end, until nothing is led any more; then end."""
        process = self.process
        if process.election.session != OPEN or not process.partition.up:
            self.ended = True
            return
        if not process.network.leaving:
            self._try(PARTITION, "shut_down")
        leads = any(replica.leader == self.settings.broker for replica in process.partition.replicas)
        if self.asked_to_leave > RETRIES or self.asked_to_leave and not leads or not self.controller:
            self.ended = self._try(ELECTION, "stop")
            return
        process.tell(self.controller[1], "ControlledShutdown", {})
        self.asked_to_leave += 1

    # Which step runs

    def _try(self, part: str, name: str, message: Message | None = None, **arguments: int) -> bool:
        """Take a step if it is enabled, and the variant has it; not, where a read is not answered."""
        if name not in self.steps[part]:
            return False
        if self.held == name and part == PARTITION:
            self._hold(name)
        try:
            return self.process.take(part, name, message, **arguments)
        except NotAnswered:
            return False

    def _hold(self, name):
        """Stop this process, as by SIGSTOP, before a step: the driver lets it go on."""
        self.held = None
        tell(holding=name)
        os.kill(os.getpid(), signal.SIGSTOP)

    def _step(self) -> bool:
        """Take the next step; False when there is nothing to do before something arrives."""
        process, session = self.process, self.process.requests.session
        if self.messages and process.election.session != DOWN:
            self._handle(self.messages.popleft())
            return True
        if session.expired and process.election.session == OPEN:
            return self._try(ELECTION, "notice_expiry")
        if not session.ready and not session.expired:
            return False
        if process.election.doing != IDLE:
            return self._go_on_electing()
        if process.partition.controller.doing != WAITING:
            return self._go_on_with_event()
        if process.election.session != OPEN:
            reopened = self._try(ELECTION, "reopen")
            if reopened:
                tell(session=f"{process.requests.session.id:#x}", password=process.requests.session.password.hex())
            return reopened
        return self._try(ELECTION, "handle_change") or self._begin_event()

    def _go_on_electing(self) -> bool:
        process = self.process
        if process.election.doing == CLEANING and self._try(ELECTION, "clean"):
            tell(controller=process.election.epoch)
            return True
        if may_ask(process.election, "load_brokers") and self._try(PARTITION, "load_brokers"):
            return True
        taken = any(self._try(ELECTION, name) for name in ELECTION_STEPS)
        self.ended = process.election.session == DOWN
        return taken

    def _go_on_with_event(self) -> bool:
        partitions, brokers = range(self.settings.partitions), range(self.settings.brokers)
        for name, arguments in EVENT_STEPS.items():
            choices = [{}]
            for argument in arguments:
                values = partitions if argument == "p" else brokers
                choices = [choice | {argument: value} for choice in choices for value in values]
            if any(self._try(PARTITION, name, **choice) for choice in choices):
                return True
        return False

    def _begin_event(self) -> bool:
        """Begin the next event of the controller, if the broker is one, or do what a broker does by itself."""
        process = self.process
        if process.partition.unnotified and self._try(PARTITION, "notify"):
            return True
        rules = at_work(process.election) and progress.at_work(process.partition.controller)
        if rules and (self._try(PARTITION, "broker_change") or self._look_at_wishes()):
            return True
        while self.events:
            name, message, arguments = self.events.popleft()
            of_broker = name in ("change_isr", "fail_log_dir")
            if (rules or of_broker) and self._try(PARTITION, name, message, **arguments):
                return True
        return False

    def _look_at_wishes(self) -> bool:
        """See what operators and brokers want that ask by a znode."""
        zookeeper = self.process.partition_zookeeper
        allowed = zookeeper.unclean
        try:
            zookeeper.refresh()
        except (Expired, NotAnswered):
            return False
        if zookeeper.unclean and not allowed and self._try(PARTITION, "unclean_enabled"):
            return True
        by_partition = (("reassignment", p) for p in range(self.settings.partitions))
        notified = (("isr_notification", p) for p in range(self.settings.partitions))
        return (
            self._try(PARTITION, "topic_deletion") or self._try(PARTITION, "preferred_election")
            or any(self._try(PARTITION, name, p=p) for name, p in by_partition)
            or self._try(PARTITION, "log_dir_notification")
            or any(self._try(PARTITION, name, p=p) for name, p in notified)
        )

    # Messages

    def _handle(self, message: Message) -> None:
        content = message.content
        match message.kind:
            case "LeaderAndIsr":
                self._lead_or_follow(message)
            case "Fetch":
                self.followers.note(content["p"], message.sender, content["leader_epoch"])
            case "AlterPartition":
                arguments = {"p": content["p"], "sender": message.sender, "isr": content["isr"]}
                self.events.append(("alter_partition", message, arguments))
            case "ControlledShutdown":
                self.events.append(("controlled_shutdown", message, {"leaver": message.sender}))
            case "StorageError":
                if self._try(PARTITION, "receive_error", message, p=content["p"], r=message.sender):
                    self.events.append(("storage_error", None, {"r": message.sender}))

    def _lead_or_follow(self, message: Message) -> None:
        process, content = self.process, message.content
        if process.network.is_refused(message):
            process.note(refused=message.id, why="STALE_BROKER_EPOCH")
            return
        p = content["p"]
        before = process.partition.replicas[p].leader_epoch
        process.partition_zookeeper.replicas.setdefault(p, tuple(content["replicas"]))
        self._try(PARTITION, "leader_and_isr", message, epoch=content["epoch"], p=p)
        if self.controller is None or content["epoch"] >= self.controller[0]:
            self.controller = content["epoch"], message.reply_to
        if process.partition.replicas[p].leader_epoch != before:
            process.partition_zookeeper.led[p] = Led(tuple(content["isr"]), content["epoch"], content["version"])
            if content["leader_address"]:
                self.leader_addresses[p] = tuple(content["leader_address"])


def tell(**line: object) -> None:
    """Tell the driver of the cluster something."""
    print(json.dumps(line), flush=True)


def _listen(inbox: queue.Queue) -> None:
    """Take the driver's commands; when it is gone, so is this process."""
    for line in sys.stdin:
        inbox.put(json.loads(line))
    os._exit(1)


def main() -> None:
    """Run the broker that the first line of standard input describes."""
    settings = Settings(**json.loads(sys.stdin.readline()))
    broker = Broker(settings)
    signal.signal(signal.SIGTERM, lambda *_: broker.process.requests.inbox.put({"do": "stop"}))
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_listen, args=(broker.process.requests.inbox,), daemon=True).start()
    broker.run()
    os._exit(0)


if __name__ == "__main__":
    main()
