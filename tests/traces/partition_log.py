"""Writes short logs of a cluster by hand: who is registered, who is controller, which states are written."""

import json
from pathlib import Path

from kafkaproof.traces.explain.partitions.explained import Explained
from kafkaproof.traces.reading.recording import Recording
from kafkaproof.traces.zookeeper.snapshot import Snapshot, Znode
from kafkaproof.traces.zookeeper.transactions import (
    Check,
    CloseSession,
    Create,
    CreateSession,
    Delete,
    SetData,
    Transaction,
)
from tests.traces.replaying import explained

PARENTS = (
    "/",
    "/brokers",
    "/brokers/ids",
    "/brokers/topics",
    "/admin",
    "/admin/delete_topics",
    "/config",
    "/config/topics",
    "/config/brokers",
    "/log_dir_event_notification",
    "/controller_epoch",
    "/brokers/topics/t/partitions",
    "/brokers/topics/t/partitions/0",
)


class Log:
    """A log that grows: each method adds records, a second after the one before.

    `topics`: the version of topic znodes, 2 from 2.4 on.
    """

    def __init__(self, *brokers: int, checked: bool = True, topics: int = 2):
        self.transactions: list[Transaction] = []
        self.versions: dict[str, int] = {}
        self.sessions: dict[int, int] = {}
        self.epoch, self.time, self.checked, self.topics = 0, 0, checked, topics
        for broker in brokers:
            self.join(broker)

    def join(self, broker: int) -> None:
        """A broker opens a session and registers."""
        self.sessions[broker] = 0x100 * (len(self.transactions) + 1) + broker
        self.add(broker, CreateSession(3000))
        self.add(broker, Create(f"/brokers/ids/{broker}", b"{}", True, -1))

    def leave(self, broker: int) -> None:
        """A broker's session ends."""
        self.add(broker, CloseSession(None))

    def elect(self, broker: int) -> None:
        """A broker becomes controller."""
        self.epoch += 1
        data = json.dumps({"brokerid": broker}).encode()
        if self.epoch > 1:
            self.add(None, Delete("/controller"))
        self.add(
            broker,
            Create("/controller", data, True, -1),
            SetData("/controller_epoch", str(self.epoch).encode(), self.epoch),
        )

    def znode(self, path: str, content: dict | None = None, writer: int | None = None) -> None:
        """Somebody writes a znode, or deletes it (no content)."""
        if content is None:
            self.versions.pop(path, None)
            self.add(writer, Delete(path))
        else:
            self.add(writer, self.written(path, content))

    def written(self, path: str, content: dict) -> Create | SetData:
        """The operation that writes a znode, which is there or not."""
        data, version = json.dumps(content).encode(), self.versions.get(path, -1) + 1
        self.versions[path] = version
        return SetData(path, data, version) if version else Create(path, data, False, -1)

    def topic(self, *replicas: int, adding: tuple = (), removing: tuple = ()) -> None:
        """The topic t with its one partition is created, or its znode written."""
        self.znode(
            "/brokers/topics/t",
            {
                "version": self.topics,
                "partitions": {"0": replicas},
                "adding_replicas": {"0": adding},
                "removing_replicas": {"0": removing},
            },
        )

    def state(
        self, writer: int, leader: int, isr: list[int], leader_epoch: int, epoch: int | None = None, **more: int
    ) -> None:
        """A broker writes the state of t-0, perhaps with more fields."""
        write = self.written(
            "/brokers/topics/t/partitions/0/state",
            {
                "version": 1,
                "leader": leader,
                "isr": isr,
                "leader_epoch": leader_epoch,
                "controller_epoch": epoch or self.epoch,
                **more,
            },
        )
        self.add(writer, *([Check("/controller_epoch", self.epoch + 1)] if self.checked else []), write)

    def add(self, writer: int | None, *operations) -> None:
        """A record of a broker's session, or of a tool's."""
        self.time += 1_000
        self.transactions.append(
            Transaction(
                len(self.transactions) + 1, self.sessions.get(writer, 1), 1, self.time, operations, len(operations) > 1
            )
        )

    def wait(self, seconds: int) -> None:
        """Nothing happens for a while, then some tool opens a session."""
        self.time += seconds * 1_000
        self.add(None, CreateSession(3000))

    def explained(self, variant: str = "fenced") -> list[Explained]:
        """All changes of t-0 with their explanations."""
        nodes = {path: Znode(b"") for path in PARENTS}
        recording = Recording(Path("written"), Snapshot(0, 0, {}, nodes), self.transactions, [])
        return explained(recording, variant)

    def why(self, variant: str = "fenced") -> tuple[str, str] | None:
        """Strategy and trigger of the last change, None when nothing explains it."""
        last = self.explained(variant)[-1]
        return last.explanations[0][:2] if last.explanations else None


def cluster(*isr: int, checked: bool = True, topics: int = 2) -> Log:
    """Brokers 1, 2 and 3, broker 1 the controller, and t-0 with replicas 2, 3, 1, all in the ISR.

    With an ISR given, its leader has proposed it.
    """
    log = Log(1, 2, 3, checked=checked, topics=topics)
    log.elect(1)
    log.topic(2, 3, 1)
    log.state(1, 2, [2, 3, 1], 0)
    if isr:
        log.state(1 if checked else 2, 2, list(isr), 0)
    return log


def leaderless(config: dict | None = None) -> Log:
    """The ISR of t-0 was [2] alone, and broker 2 is dead: no leader. Brokers 1 and 3 live."""
    log = cluster(2)
    if config:
        log.znode("/config/topics/t", config)
    log.leave(2)
    log.state(1, -1, [2], 1)
    return log
