"""A cluster: its ZooKeeper, its brokers' processes, its topic, and what is done to it from outside."""

from __future__ import annotations

import json
import signal
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from threading import Thread
from typing import cast

from kazoo.exceptions import NodeExistsError, NoNodeError

from kafkaproof.impl.broker.recording import FORMAT
from kafkaproof.impl.broker.settings import Settings
from kafkaproof.impl.harness.driving.child import BrokerChild, Child
from kafkaproof.impl.harness.driving.faults import OPERATOR, Faults
from kafkaproof.impl.harness.driving.zookeeper_server import Keeper, require
from kafkaproof.impl.seams.zookeeper.partition_numbers import NONE, OFFSETS_TOPIC, Places
from kafkaproof.impl.seams.zookeeper.znodes import (
    BROKER_IDS,
    PERSISTENT,
    TOPICS,
    BrokerId,
    Controller,
    Topic,
    TopicConfig,
)
from kafkaproof.spec.errors import Unfinished, UserError
from kafkaproof.spec.language.plain import new_state
from kafkaproof.spec.running.broker_ids import BrokerIds
from kafkaproof.spec.running.processes import PARTITION, cluster, scopes

NO_TOPIC = "<none>"
TOPIC, MANIFEST = "events", Path("recording") / "cluster.json"
PATIENCE = 300.0
"""How long something is waited for, in seconds."""


@dataclass(frozen=True)
class Size:
    """How large a cluster is, which variant it runs, and how long a session lives without its client, in seconds.

    `ids`: those of its brokers, none where they are 0 to N-1.
    `groups`: it has an offsets partition, behind the partitions of the topic, and group coordinators. `recorded`: its steps
    are recorded; without that there is no replay. `ordered`: its brokers take only the steps that are ordered.
    `auto_create`: a topic that a client
    asks about is created. `release`: the release of Kafka whose brokers it has, "" for our own; `ours`: how many of
    them, the first, are our own all the same. `spoken`: the inter.broker.protocol.version of our own, 2.8 or 3.9.
    `joins`: there are topics already, and it has none of its own; `others`: the ids of brokers that are not run.
    """

    brokers: int = 3
    replicas: int = 3
    partitions: int = 2
    min_isr: int = 1
    groups: bool = False
    recorded: bool = True
    ordered: bool = False
    auto_create: bool = False
    variant: str = "fenced"
    session_timeout: float = 2.0
    release: str = ""
    ours: int = 0
    spoken: str = "3.9"
    ids: tuple[int, ...] = ()
    joins: bool = False
    others: tuple[int, ...] = ()

    @property
    def broker_ids(self) -> BrokerIds:
        """Which broker is which."""
        return BrokerIds(self.ids or range(self.brokers))

    @property
    def topic(self) -> str:
        """Its first topic; where it joins, a name that no topic can have."""
        return NO_TOPIC if self.joins else TOPIC

    @property
    def standing(self) -> int:
        """How many partitions there are from the beginning."""
        return self.partitions + self.groups

    @property
    def places(self) -> Places:
        """Which partition is which."""
        offsets = self.partitions if self.groups else NONE
        return Places(self.topic, offsets, NONE if self.variant == "legacy" else self.standing, self.standing)


def assignments(size: Size) -> tuple[tuple[int, ...], ...]:
    """The assignment of all partitions, as the specification's initial state has it."""
    model = cluster(size.variant).partition
    state = new_state(model.state, scopes(size.brokers, size.replicas, size.standing, size.min_isr, 1)[PARTITION])
    model.initial(state)
    return tuple(tuple(each.slots[: each.length]) for each in state.zk.assignments)


class Cluster(Faults):
    """A running cluster in `directory`; use it as a context, at whose end every process has ended.

    `shuts_down_within`: how long a broker may take to shut down, in seconds, before it is killed.
    Raises UserError where ZooKeeper cannot be started or reached.
    """

    shuts_down_within = 10.0

    def __init__(self, directory: Path, size: Size, zookeeper: str | None = None, port: int | None = None):
        self.directory, self.size = directory, size
        self._incarnations = dict.fromkeys(size.broker_ids.all, 0)
        keeper = None
        try:
            (directory / "recording").mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UserError(f"--directory {directory}: cannot be made: {error.strerror}; name another") from None
        if zookeeper is None:
            keeper = Keeper(directory, tick=max(100, int(size.session_timeout * 125)), port=port)
            zookeeper = keeper.address
        else:
            require(zookeeper)
        super().__init__(directory, size, zookeeper, keeper)

    def __enter__(self) -> Cluster:
        try:
            self.operator.start(OPERATOR)
            if not self.size.joins:
                self.require_empty()
            self.prepare()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_) -> None:
        for child in self.children.values():
            if child.running:
                child.signal(signal.SIGKILL)
                child.wait(5)
        try:
            self.operator.stop()
            self.operator.close()
        finally:
            for link in self.links.values():
                link.close()
            if self._keeper:
                self._keeper.stop()

    def require_empty(self) -> None:
        """Raise UserError where the ZooKeeper has a cluster in it."""
        for path, found in ((BROKER_IDS, "brokers are registered"), (TOPICS, "topics are")):
            if self.below(path):
                raise UserError(f"{self.zookeeper}: {found} there; give an empty ZooKeeper")

    def prepare(self) -> None:
        """Create the znodes that brokers find, and say in the recording what is run."""
        self.create_znodes()
        self.describe(self.size)

    def describe(self, size: Size) -> None:
        """Say in the recording what is run by our brokers."""
        manifest = {
            "format": FORMAT,
            "kind": "kafkaproof cluster",
            "topic": size.topic,
            "zookeeper": self.zookeeper,
            **asdict(size),
            "partitions": size.standing,
            "offsets": size.places.offsets,
        }
        (self.directory / MANIFEST).write_text(json.dumps(manifest, indent=2) + "\n")

    def create_znodes(self) -> None:
        """Create the znodes that our brokers find."""
        contents: list[tuple[str, bytes | None]] = [(path, None) for path in PERSISTENT]
        ids = self.size.broker_ids
        assigned, partitions, there = assignments(self.size), self.size.partitions, self.size.standing
        for topic, numbers in ((self.size.topic, range(partitions)), (OFFSETS_TOPIC, range(partitions, there))):
            if numbers:
                part = tuple(tuple(ids.ids(each)) for each in assigned[numbers.start : numbers.stop])
                has_ids = self.size.variant != "legacy"
                created = Topic.created(part) if has_ids else Topic(part)
                contents += [
                    (TopicConfig.path_of(topic), TopicConfig(False).encode()),
                    (Topic.path_of(topic), created.encode()),
                ]
        for path, data in contents:
            try:
                self.operator.create(path, data)
            except NodeExistsError:
                pass

    # Brokers

    def start(self, broker: int) -> None:
        """Start a process of a broker; raises Unfinished where one has ended by itself."""
        self.check()
        self._incarnations[broker] += 1
        self.note(self.start, broker=broker)
        self.children[broker] = self.new_child(broker, self._incarnations[broker])

    def new_child(self, broker: int, number: int) -> Child:
        """Start the process of a broker that is its `number`th."""
        return BrokerChild(self.settings_of(broker, number), self.directory / f"broker-{broker}.log")

    def settings_of(self, broker: int, number: int) -> Settings:
        """What the `number`th process of a broker is told."""
        size = self.size
        port = self.children[broker].port if broker in self.children else 0
        return Settings(
            broker,
            number,
            size.brokers + len(size.others),
            size.brokers + len(size.others) if size.joins else size.replicas,
            size.standing,
            size.min_isr,
            size.variant,
            size.topic,
            self.links[broker].address,
            size.session_timeout,
            str(self.directory / "recording" / f"broker-{broker}.{number}.jsonl") if size.recorded else "",
            str(self.directory / "logs" / f"broker-{broker}"),
            port,
            size.places.offsets,
            size.ordered,
            size.auto_create,
            spoken=size.spoken,
            ids=(*size.broker_ids.all, *size.others) if size.others else size.ids,
        )

    def start_all(self) -> None:
        """Start what a new cluster has: a process of every broker."""
        self.start_brokers()

    def start_brokers(self, first: int | None = None) -> None:
        """Start a process of every broker; `first`: the one that is to be the controller, where one is."""
        if first is not None:
            self.start(first)
            self.await_that(lambda: self.controller() == first, f"broker {first} is the controller")
        for broker in self.size.broker_ids.all:
            if broker != first:
                self.start(broker)

    def stop(self, broker: int) -> None:
        """SIGTERM: a controlled shutdown begins. Nobody waits for its end; a process that does not end in time is
        killed.
        """
        self.ask_to_stop(broker)
        Thread(target=self.children[broker].wait, args=(self.shuts_down_within,), daemon=True).start()

    def ask_to_stop(self, broker: int) -> None:
        """SIGTERM: a controlled shutdown begins, and may take any time."""
        self.note(self.stop, broker=broker)
        self.children[broker].signal(signal.SIGTERM)

    def has_started(self, broker: int) -> bool:
        """Whether a broker has started, and would ask the controller before it ends."""
        return self.owner(broker) is not None

    def stop_all(self) -> None:
        """A controlled shutdown of all that live, all at once."""
        self.note(self.stop_all)
        running = [broker for broker, child in self.children.items() if child.running]
        for broker in running:
            self.children[broker].signal(signal.SIGCONT)
            self.children[broker].signal(signal.SIGTERM)
        for broker in running:
            self.children[broker].wait(self.shuts_down_within)

    # What went wrong

    def check(self) -> None:
        """Raise Unfinished where a process has ended by itself, not by what was done to the cluster."""
        if self._keeper and (status := self._keeper.exit_status) is not None:
            raise Unfinished(f"ZooKeeper has ended by itself, exit status {status}: see {self._keeper.log}")
        for broker, child in sorted(self.children.items()):
            if how := child.unwanted_end(self.size.ordered or self.disturbed):
                raise Unfinished(f"broker {broker} has ended by itself: {how}; {self._left()}")

    def await_that(self, condition: Callable[[], object], what: str) -> None:
        """Wait until something holds; raises Unfinished where it does not, or a process ends by itself meanwhile."""

        def holds():
            self.check()
            return condition()

        if not wait_until(holds, PATIENCE):
            rules = self.controller()
            raise Unfinished(
                f"waited {PATIENCE:.0f} seconds in vain until {what}: registered are {self.registered()} of "
                f"{self.size.brokers} brokers, the controller is {'nobody' if rules is None else rules}; see "
                f"{self.directory}/broker-*.log, or is the machine very busy? {self._left()}"
            )

    def await_all(self) -> None:
        """Wait until the cluster is whole; raises as `await_that` does."""
        self.await_that(self.is_whole, "all brokers are there")

    def _left(self):
        return f"all processes are ended; `kafkaproof replay {self.directory}` follows what they did until then"

    # Observation

    def controller(self) -> int | None:
        """The broker that /controller names."""
        try:
            return Controller.decode(self.operator.get(Controller.path)[0]).broker
        except NoNodeError:
            return None

    def recorded(self, broker: int, transition: str) -> int:
        """How many steps of this name the present process of a broker has recorded."""
        child = cast(BrokerChild, self.children[broker])
        lines = Path(child.settings.recording).read_text().splitlines()
        return sum('"step":"' in line and f".{transition}(" in line for line in lines)

    def registered(self) -> list[int]:
        """The brokers that are registered."""
        return sorted(map(int, self.below(BROKER_IDS)))

    def below(self, path: str) -> list[str]:
        """The children of a znode, none where it is not there."""
        try:
            return sorted(self.operator.get_children(path))
        except NoNodeError:
            return []

    def is_whole(self) -> bool:
        """Whether all brokers are registered, and one of them is the controller."""
        return set(self.size.broker_ids.all) <= set(self.registered()) and self.controller() is not None

    def owner(self, broker: int) -> int | None:
        """The session that has registered a broker."""
        found = self.operator.exists(BrokerId.path_of(broker))
        return found.ephemeralOwner if found else None


def wait_until(condition, seconds: float = PATIENCE) -> bool:
    """Wait until something holds; returns whether it came to hold in time."""
    until = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > until:
            return False
        time.sleep(0.05)
    return True
