"""A real cluster that migrates from ZooKeeper to KRaft: a quorum of controllers, and brokers in one of three modes."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import time
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self

from kafka.admin import ConfigResource, ConfigResourceType, KafkaAdminClient, NewTopic
from kafka.errors import KafkaError, TopicAlreadyExistsError, UnknownTopicOrPartitionError
from kazoo.client import KazooClient

from kafkaproof.impl.harness.driving.child import Child
from kafkaproof.impl.harness.driving.zookeeper_server import HOST, Keeper, free_port, java
from kafkaproof.impl.harness.real.cluster import JVM
from kafkaproof.impl.harness.real.configuration import write_log4j
from kafkaproof.impl.harness.real.jars import class_path
from kafkaproof.spec.errors import UserError

ZOOKEEPER_MODE, MIGRATION_MODE, KRAFT_MODE = "ZooKeeper mode", "migration mode", "KRaft mode"
CONTROLLERS, BROKERS = (3000, 3001, 3002), (0, 1, 2)
METADATA = "__cluster_metadata-0"
FIRST_SEGMENT, COPY = "00000000000000000000.log", b"ZK Migration"
"""The first segment of a metadata log, and what a transaction that copies is called in it."""
SERVER = "server.log"
TICK, PATIENCE = 1000, 120.0
"""ZooKeeper's tick in ms, and how long anything may take in seconds."""
DRIVING = re.compile(
    r"(\d\d:\d\d:\d\d,\d+)\].*KRaftMigrationDriver id=(\d+)\] (\w+) transitioning from \w+ to (\w+) state"
)
STARTED = {False: " started (kafka.server.KafkaServer)", True: "Kafka Server started (kafka.server.KafkaRaftServer)"}
_COMMON = {
    "offsets.topic.num.partitions": 1,
    "offsets.topic.replication.factor": 1,
    "num.network.threads": 2,
    "num.io.threads": 2,
    "background.threads": 2,
    "log.cleaner.enable": "false",
    "auto.create.topics.enable": "false",
    "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT",
}
_CONTROLLER = {
    "metadata.max.idle.interval.ms": 2000,
    "metadata.log.max.record.bytes.between.snapshots": 4000,
    "zookeeper.metadata.migration.min.batch.size": 1,
    "controller.quorum.election.timeout.ms": 1000,
    "controller.quorum.fetch.timeout.ms": 2000,
}


class MigratingCluster:
    """A cluster of one release, as a context: ZooKeeper, `BROKERS`, and `CONTROLLERS` once they are provisioned.

    What is done is noted in `transcript`, with the time (UTC). Raises UserError where something does not come.
    """

    def __init__(self, directory: Path, release: str):
        self.directory, self._version = directory.absolute(), ".".join(release.split(".")[:2])
        self._jars, self._java = class_path(release), java(f"Kafka {release}")
        self.transcript: list[str] = []
        self.modes = dict.fromkeys(BROKERS, ZOOKEEPER_MODE)
        self._ports = {node: free_port() for node in (*BROKERS, *CONTROLLERS)}
        self._children: dict[int, Child] = {}
        self._begins: dict[int, int] = {}
        self._generation = 0
        self.migrates = True

    def __enter__(self) -> Self:
        self.directory.mkdir(parents=True, exist_ok=True)
        write_log4j(self.directory / "log4j.properties")
        self.keeper = Keeper(self.directory, TICK)
        self.operator = KazooClient(self.keeper.address)
        self.operator.start()
        return self

    def __exit__(self, *_) -> None:
        for child in self._children.values():
            child.signal(signal.SIGKILL)
        self.operator.stop()
        self.keeper.stop()

    def note(self, text: str) -> None:
        """Write down what is done."""
        self.transcript.append(f"{datetime.now(UTC):%H:%M:%S} {text}")

    # Processes

    def start_broker(self, broker: int, mode: str, waits: bool = True) -> None:
        """Start a broker in a mode; where one `waits`, until it serves."""
        self.modes[broker] = mode
        self.note(f"broker {broker} starts in {mode}")
        own: dict[str, Any] = {"zookeeper.connect": self.keeper.address, "zookeeper.session.timeout.ms": 6000}
        if mode == KRAFT_MODE:
            own = {"process.roles": "broker", "node.id": broker, "controller.listener.names": "CONTROLLER"}
            own["controller.quorum.voters"] = self._voters
        else:
            own |= {"broker.id": broker, "inter.broker.protocol.version": self._version}
        if mode == MIGRATION_MODE:
            own |= {
                "zookeeper.metadata.migration.enable": "true",
                "controller.quorum.voters": self._voters,
                "controller.listener.names": "CONTROLLER",
            }
        address = f"PLAINTEXT://{HOST}:{self._ports[broker]}"
        own |= {"listeners": address, "advertised.listeners": address}
        self._start(broker, _COMMON | own)
        if waits:
            self.await_started(broker)

    def restart_broker(self, broker: int, mode: str) -> None:
        """End a broker in good order, and start it in a mode."""
        self.stop(broker)
        self.start_broker(broker, mode)

    def provision(self) -> None:
        """Format and start new controllers."""
        self._generation += 1
        cluster = json.loads(self.operator.get("/cluster/id")[0])["id"]
        self.note(f"controllers {', '.join(map(str, CONTROLLERS))} are formatted and start")
        for node in CONTROLLERS:
            file = self._write(node, self._controller_properties(node))
            options = f"--cluster-id={cluster}", "-c", str(file), "--release-version", self._version
            self._run("kafka.tools.StorageTool", "format", *options)
        for node in CONTROLLERS:
            self._start(node, self._controller_properties(node))
        for node in CONTROLLERS:
            self.await_started(node)

    def start_controller(self, node: int) -> None:
        """Start a controller on what its log holds."""
        self.note(f"controller {node} starts" + ("" if self.migrates else " without the flag of the migration"))
        self._start(node, self._controller_properties(node))
        self.await_started(node)

    def stop(self, node: int) -> None:
        """End a node in good order."""
        self.note(f"{self._name(node)} is stopped")
        child = self._children.pop(node)
        child.signal(signal.SIGTERM)
        child.wait(PATIENCE)

    def kill(self, node: int) -> None:
        """End a node at once."""
        child = self._children.pop(node)
        child.signal(signal.SIGKILL)
        child.wait(PATIENCE)
        self.note(f"{self._name(node)} is killed")

    def deprovision(self) -> None:
        """End all controllers."""
        for node in CONTROLLERS:
            self.stop(node)

    def metadata_of(self, node: int) -> Path:
        """The metadata log of a node."""
        return self._data(node) / METADATA

    def forget_metadata(self, broker: int) -> None:
        """Delete the metadata log of a broker that does not run."""
        self.note(f"{METADATA} of broker {broker} is deleted")
        for file in self.metadata_of(broker).iterdir():
            file.unlink()
        self.metadata_of(broker).rmdir()

    # What is seen, and asked

    def driving(self) -> list[tuple[str, int, str]]:
        """The changes of state of the drivers so far: time, node, and the state that was entered."""
        found = []
        for node in CONTROLLERS:
            log = self._home(node) / SERVER
            lines = log.read_text(errors="replace").splitlines() if log.exists() else []
            found += [(each[1], int(each[2]), each[4]) for line in lines if (each := DRIVING.search(line))]
        return sorted(found)

    def await_driving(self, state: str, besides: frozenset = frozenset()) -> int:
        """Wait until a driver enters a state; the node. `besides`: of `driving`, what does not count."""
        found: list[int] = []

        def entered() -> bool:
            found[:] = [each[1] for each in self.driving() if each[2] == state and each not in besides]
            return bool(found)

        wait_for(entered, f"no driver enters {state}", 0.01)
        self.note(f"the driver of controller {found[-1]} enters {state}")
        return found[-1]

    def active(self, state: str) -> int:
        """The node whose driver was the last to enter a state."""
        return [node for _, node, entered in self.driving() if entered == state][-1]

    def kill_in_copy(self, active: int) -> None:
        """Kill the controller that copies as soon as its log has the beginning of the copy."""
        log = self.metadata_of(active) / FIRST_SEGMENT
        wait_for(lambda: COPY in log.read_bytes(), "nothing is copied", 0.001)
        self.kill(active)

    def await_in_sync(self) -> None:
        """Wait until each partition has all its replicas in its ISR, as ZooKeeper has it."""

        def in_sync() -> bool:
            paths = [f"/brokers/topics/{topic}/partitions" for topic in self.topics()]
            states = [f"{path}/{p}/state" for path in paths for p in self.operator.get_children(path)]
            return all(len(json.loads(self.operator.get(each)[0])["isr"]) == len(BROKERS) for each in states)

        wait_for(in_sync, "replicas do not come into the ISR")

    def create(self, topic: str, partitions: int) -> None:
        """Create a topic with replicas on all brokers."""
        self.note(f"topic {topic} is created")
        new = NewTopic(topic, partitions, len(BROKERS))
        self._ask(lambda admin: admin.create_topics([new]), TopicAlreadyExistsError)

    def delete(self, topic: str) -> None:
        """Delete a topic."""
        self.note(f"topic {topic} is deleted")
        self._ask(lambda admin: admin.delete_topics([topic]), UnknownTopicOrPartitionError)

    def configure(self, topic: str, **values: str) -> None:
        """Change the configuration of a topic."""
        self.note(f"topic {topic} is configured: {values}")
        resource = ConfigResource(ConfigResourceType.TOPIC, topic, {k.replace("_", "."): v for k, v in values.items()})

        def alter(admin: KafkaAdminClient) -> None:
            try:
                admin.alter_configs([resource])
            except ValueError as error:  # the broker that is asked does not know the topic yet
                raise UnknownTopicOrPartitionError(str(error)) from None

        self._ask(alter)

    def topics(self) -> list[str]:
        """The topics that ZooKeeper has."""
        path = "/brokers/topics"
        return sorted(self.operator.get_children(path)) if self.operator.exists(path) else []

    def remove(self, path: str) -> None:
        """Delete a znode by hand."""
        self.note(f"{path} is deleted by hand")
        self.operator.delete(path)

    def await_controller(self) -> None:
        """Wait until /controller is there."""
        wait_for(lambda: self.operator.exists("/controller"), "no broker becomes the controller")

    def await_topics(self, topics: list[str]) -> None:
        """Wait until ZooKeeper has these topics and no others."""
        wait_for(lambda: self.topics() == sorted(topics), f"ZooKeeper does not come to have the topics {topics}")

    def _ask(self, ask: Callable[[KafkaAdminClient], object], done: type[KafkaError] | None = None) -> None:
        """Ask until it is answered; `done` after a try that failed says that it was done then."""
        servers = [f"{HOST}:{self._ports[b]}" for b in BROKERS if b in self._children]
        until, tries = time.monotonic() + PATIENCE, 0
        while True:
            try:
                with closing(KafkaAdminClient(bootstrap_servers=servers)) as admin:
                    ask(admin)
                return
            except KafkaError as error:
                if tries and done and isinstance(error, done):
                    return
                tries += 1
                if time.monotonic() > until:
                    raise UserError(f"brokers refuse: {error}") from None
                time.sleep(0.5)

    # Configuration

    @property
    def _voters(self) -> str:
        return ",".join(f"{node}@{HOST}:{self._ports[node]}" for node in CONTROLLERS)

    def _controller_properties(self, node: int) -> dict[str, Any]:
        own = _COMMON | _CONTROLLER
        own |= {"process.roles": "controller", "node.id": node, "controller.quorum.voters": self._voters}
        own |= {"listeners": f"CONTROLLER://{HOST}:{self._ports[node]}", "controller.listener.names": "CONTROLLER"}
        if self.migrates:
            own |= {"zookeeper.metadata.migration.enable": "true", "zookeeper.connect": self.keeper.address}
        return own

    def _name(self, node: int) -> str:
        return f"{'controller' if node in CONTROLLERS else 'broker'} {node}"

    def _home(self, node: int) -> Path:
        return self.directory / f"node-{node}"

    def _data(self, node: int) -> Path:
        """Where a node has its logs: new controllers have a new directory."""
        return self._home(node) / (f"data-{self._generation}" if node in CONTROLLERS else "data")

    def _write(self, node: int, properties: dict[str, Any]) -> Path:
        self._home(node).mkdir(exist_ok=True)
        file = self._home(node) / "server.properties"
        properties = properties | {"log.dirs": self._data(node)}
        file.write_text("".join(f"{name}={value}\n" for name, value in properties.items()))
        return file

    def _start(self, node: int, properties: dict[str, Any]) -> None:
        file, home = self._write(node, properties), self._home(node)
        self._begins[node] = _size(home / SERVER)
        logging = [f"-Dlogs.dir={home}", f"-Dlog4j.configuration=file:{self.directory}/log4j.properties"]
        command = [self._java, *JVM, *logging, "-cp", self._jars, "kafka.Kafka", str(file)]
        self._children[node] = Child(command, home / "output.log")

    def await_started(self, node: int) -> None:
        """Wait until a node serves."""
        log, begins = self._home(node) / SERVER, self._begins[node]
        started = STARTED[self.modes.get(node, KRAFT_MODE) == KRAFT_MODE].encode()
        wait_for(
            lambda: log.exists() and started in log.read_bytes()[begins:],
            f"{self._name(node)} does not start; see {log}",
        )

    def _run(self, main: str, *arguments: str) -> None:
        done = subprocess.run([self._java, *JVM, "-cp", self._jars, main, *arguments], capture_output=True, text=True)
        if done.returncode:
            raise UserError(f"{main} fails: {(done.stdout + done.stderr).strip()[-300:]}")


def _size(file: Path) -> int:
    return file.stat().st_size if file.exists() else 0


def wait_for(condition: Callable[[], object], error: str, every: float = 0.2) -> None:
    """Wait until something is true; raises UserError with `error` where it does not become so."""
    until = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > until:
            raise UserError(error)
        time.sleep(every)
