"""A cluster of real brokers: unmodified Kafka, on a ZooKeeper of ours, with a proxy on each of its links."""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, cast

from kazoo.exceptions import NodeExistsError

from kafkaproof.impl.harness.driving.acts import ZOOKEEPER
from kafkaproof.impl.harness.driving.child import Child
from kafkaproof.impl.harness.driving.cluster import TOPIC, Cluster, Size
from kafkaproof.impl.harness.driving.zookeeper_server import free_port, java
from kafkaproof.impl.harness.links.kafka import KafkaLink
from kafkaproof.impl.harness.links.proxy import Proxy
from kafkaproof.impl.harness.links.rules import DELAY, DROP, Rule
from kafkaproof.impl.harness.links.zookeeper import ZooKeeperLink
from kafkaproof.impl.harness.real.configuration import LISTENERS, LOGS, write_log4j, write_properties
from kafkaproof.impl.harness.real.jars import class_path, number_of
from kafkaproof.impl.harness.real.records import log_of
from kafkaproof.impl.protocol.wire import HOST
from kafkaproof.impl.seams.zookeeper.znodes import TOPICS, TopicConfig
from kafkaproof.spec.kafka.topic_ids import text_of
from kafkaproof.spec.protocol.passed import REQUEST, Recorder

HEAP = "384m"
"""The heap of a broker."""
JVM = (f"-Xmx{HEAP}", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Djava.awt.headless=true")
DIRECTORIES = 2
"""How many log directories a broker has: where one fails the broker lives."""
TOPIC_IDS = (2, 8)
"""The first release whose topics have ids (KIP-516)."""
STARTED = b" started (kafka.server.KafkaServer)"
"""What a broker logs when it has started."""


class KafkaChild(Child):
    """The process of a real broker; `port` is where clients find it."""

    ending, leaving = 143, 1

    def __init__(self, command: list[str], home: Path, port: int, link: ZooKeeperLink):
        self.port, self._link, self._log = port, link, home / LOGS["server"]
        self._begins = self._log.stat().st_size if self._log.exists() else 0
        super().__init__(command, home / "output.log")

    @property
    def has_started(self) -> bool:
        """Whether it has started; a process that is asked to end before that does not ask the controller, but halts."""
        return self._log.exists() and STARTED in self._log.read_bytes()[self._begins :]

    @property
    def session(self) -> tuple[int, bytes] | None:
        """Its ZooKeeper session, or that of a process before it, while it has none: id and password."""
        return self._link.session


class KafkaCluster(Cluster):
    """A running cluster of a Kafka release, as `Cluster` is one of ours; raises UserError where it cannot be had.

    `inner`: the links by which brokers and the controller reach each broker; `outer`: those by which clients do. What
    passes a link is noted in `recording/links/`; the brokers' own logs lie in `broker-N/`.
    """

    shuts_down_within = 60.0
    listeners = LISTENERS

    def __init__(
        self,
        directory: Path,
        size: Size,
        zookeeper: str | None = None,
        port: int | None = None,
        properties: Mapping[str, Any] = MappingProxyType({}),
    ):
        """`properties`: of the brokers, which go before those of all such clusters."""
        self._jars, self._java = class_path(size.release), java(f"Kafka {size.release}")
        super().__init__(directory, size, zookeeper, port)
        self._properties = {**self.properties(), **properties}
        client, inner = self.listeners
        self._ports = {b: {name: free_port() for name in self.listeners} for b in size.broker_ids.all}
        self.inner = {
            b: KafkaLink((HOST, ports[inner]), self._recorder(f"kafka-{b}")) for b, ports in self._ports.items()
        }
        self.outer = {
            b: KafkaLink((HOST, ports[client]), self._recorder(f"clients-{b}")) for b, ports in self._ports.items()
        }
        self._apart: dict[int, list[tuple[KafkaLink, Rule]]] = {}
        self._slow: dict[int, list[tuple[KafkaLink, Rule]]] = {}
        write_log4j(directory / "log4j.properties")

    def properties(self) -> dict[str, str]:
        """Those of all brokers, besides those of `kafkaproof.impl.harness.real.configuration`."""
        return {}

    def new_link(self, broker: int, zookeeper: tuple[str, int]) -> ZooKeeperLink:
        """The link of a broker to ZooKeeper."""
        return ZooKeeperLink(zookeeper, self._recorder(f"zookeeper-{broker}"))

    def _recorder(self, name: str) -> Recorder:
        directory = self.directory / "recording" / "links"
        directory.mkdir(exist_ok=True)
        return Recorder(directory / name)

    def __exit__(self, *_) -> None:
        for link in (*self.inner.values(), *self.outer.values()):
            link.close()
        super().__exit__()

    def prepare(self) -> None:
        """Say in the recording what is run."""
        about = {
            "kafka": self.size.release,
            "brokers": self.size.brokers,
            "ids": self.size.ids,
            "ports": self._ports,
            "links": {b: link.port for b, link in self.inner.items()},
            "clients": {b: link.port for b, link in self.outer.items()},
        }
        (self.directory / "recording" / "kafka.json").write_text(json.dumps(about, indent=2) + "\n")

    # Brokers

    def new_child(self, broker: int, number: int) -> Child:
        """Start the process of a broker."""
        home, ports = self.directory / f"broker-{broker}", self._ports[broker]
        home.mkdir(exist_ok=True)
        for rules in self._apart, self._slow:
            self._take_back(rules, broker)
        self._mount(broker)
        advertised = dict(zip(self.listeners, self.shown(broker)))
        write_properties(
            home / "server.properties",
            broker,
            self.size,
            self.links[broker].address,
            ports,
            advertised,
            self._directories(broker),
            self._properties,
        )
        command = [
            self._java,
            *JVM,
            f"-Dlogs.dir={home}",
            f"-Dlog4j.configuration=file:{self.directory.absolute()}/log4j.properties",
            "-cp",
            self._jars,
            "kafka.Kafka",
            str(home / "server.properties"),
        ]
        return KafkaChild(command, home, self.outer[broker].port, self.links[broker])

    def shown(self, broker: int) -> tuple[int, int]:
        """The ports by which clients and other brokers find a broker: those of the proxies before it."""
        return self.outer[broker].port, self.inner[broker].port

    def _directories(self, broker: int) -> list[Path]:
        return [self.directory.absolute() / f"broker-{broker}" / f"data-{n}" for n in range(DIRECTORIES)]

    def start_all(self) -> None:
        """Start every broker, and create the topic when all are there, with replicas in turn."""
        self.start_brokers()
        self.await_all()
        size, ids = self.size, self.size.broker_ids.all
        self.create_events([[ids[(p + n) % len(ids)] for n in range(size.replicas)] for p in range(size.partitions)])

    def create_events(self, assignments: list[list[int]]) -> None:
        """Create the topic as Kafka's own tool did that wrote to ZooKeeper (up to 2.8)."""
        topic: dict[str, object] = {"version": 1, "partitions": {str(p): each for p, each in enumerate(assignments)}}
        if number_of(self.size.release) >= TOPIC_IDS:
            topic |= {
                "version": 3,
                "topic_id": text_of(uuid.uuid4().bytes),
                "adding_replicas": {},
                "removing_replicas": {},
            }
        for path, data in (
            (TopicConfig.path_of(TOPIC), TopicConfig(False).encode()),
            (f"{TOPICS}/{TOPIC}", json.dumps(topic).encode()),
        ):
            try:
                self.operator.create(path, data, makepath=True)
            except NodeExistsError:
                pass

    def has_started(self, broker: int) -> bool:
        """Whether a broker has started, and would ask the controller before it ends."""
        return cast(KafkaChild, self.children[broker]).has_started

    # Links and disks

    def cut_links(self, broker: int) -> None:
        """A broker and the others lose what they send to each other, until `mend_links`."""
        self.note(self.cut_links, broker=broker)
        self._apart[broker] = self._on_links(broker, lambda sender: Rule(DROP, {"sender": sender}, times=None))

    def mend_links(self, broker: int) -> None:
        """They hear of each other again."""
        self.note(self.mend_links, broker=broker)
        self._take_back(self._apart, broker)

    def slow_links(self, broker: int, delay: float) -> None:
        """Each message of a broker to the others is held back; 0: no more."""
        self.note(self.slow_links, broker=broker, delay=delay)
        self._take_back(self._slow, broker)
        if delay:
            pattern = {"part": REQUEST, "sender": broker}
            self._slow[broker] = [
                (link, link.add(Rule(DELAY, pattern, times=None, seconds=delay)))
                for other, link in self.inner.items()
                if other != broker
            ]

    def links_of(self, broker: int) -> list[Proxy]:
        """The links of a broker whose frames can be chosen."""
        return [self.links[broker], self.inner[broker]]

    def link_of(self, broker: int, name: str) -> Proxy:
        """A link of a broker by its name: that to ZooKeeper, or the one by which other brokers reach it."""
        return (self.links if name == ZOOKEEPER else self.inner)[broker]

    def _on_links(self, broker, rule):
        """Rules for what comes from a broker to the others, and from the others to it."""
        return [
            (link, link.add(rule(f"(?!{broker}$).*" if other == broker else str(broker))))
            for other, link in self.inner.items()
        ]

    @staticmethod
    def _take_back(rules, broker):
        for link, rule in rules.pop(broker, ()):
            link.remove(rule)

    def log_of(self, broker: int, partition: int) -> list[bytes]:
        """The values of the records that the log of a replica holds."""
        replica = f"{TOPIC}-{partition}"
        return log_of([file for each in self._directories(broker) for file in (each / replica).glob("*.log")])

    def has_log(self, broker: int, partition: int) -> bool:
        """Whether a broker has a log of a replica, which may be empty."""
        return any((each / f"{TOPIC}-{partition}").exists() for each in self._directories(broker))

    def create_logs(self, assignments: list[list[int]]) -> None:
        """Give brokers that have not started empty logs of the topic, so that none has to read its configuration."""
        for p, replicas in enumerate(assignments):
            for broker in replicas:
                (self._directories(broker)[0] / f"{TOPIC}-{p}").mkdir(parents=True)

    def lose_checkpoint(self, broker: int) -> None:
        """The high watermarks that a process has written are not on its disks for the next one."""
        self.note(self.lose_checkpoint, broker=broker)
        for directory in self._directories(broker):
            (directory / "replication-offset-checkpoint").unlink(missing_ok=True)

    def fail_log_dir(self, broker: int, partition: int) -> None:
        """The log directory that has a replica is no directory any more: the broker finds out when it writes to it."""
        self.note(self.fail_log_dir, broker=broker, partition=partition)
        for directory in self._directories(broker):
            if (directory / f"{TOPIC}-{partition}").exists():
                directory.rename(_unmounted(directory))
                directory.touch()

    def _mount(self, broker: int) -> None:
        """The log directories of a broker that have failed are there again, for its next process."""
        for directory in self._directories(broker):
            if _unmounted(directory).exists():
                directory.unlink()
                _unmounted(directory).rename(directory)


def _unmounted(directory: Path) -> Path:
    """Where a log directory is while it has failed."""
    return directory.with_name(f"{directory.name}-failed")
