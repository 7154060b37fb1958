"""Brokers in one process, over a ZooKeeper and a network in memory: a cluster as a conductor sees it."""

from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace

from kazoo.protocol.serialization import Delete, SetData

from kafkaproof.impl.broker import process
from kafkaproof.impl.broker.settings import Settings
from kafkaproof.impl.harness.conducting.conductor import Conductor
from kafkaproof.impl.harness.driving.cluster import TOPIC, Size, assignments
from kafkaproof.impl.seams.between.messages import Receiver
from kafkaproof.impl.seams.between.port import Answered, Arrived
from kafkaproof.impl.seams.storage.checkpoint import NAME
from kafkaproof.impl.seams.zookeeper import requests
from kafkaproof.impl.seams.zookeeper.request_znodes import ConfigChange, IsrChange, PreferredElection, Reassignment
from kafkaproof.impl.seams.zookeeper.znodes import (
    DELETE_TOPICS,
    PERSISTENT,
    Controller,
    ControllerEpoch,
    Topic,
    TopicConfig,
)
from kafkaproof.impl.server import main as brokers
from kafkaproof.impl.server.ordered_steps import Ordered
from kafkaproof.spec.language.digest import fields_of
from kafkaproof.spec.replica.zookeeper import Answer
from kafkaproof.spec.running.broker_ids import BrokerIds
from tests.impl.memory_zookeeper import MemoryClientPort, MemoryPort, MemorySession, Server

CREATED = "created"
"""The topic that is created: the partitions of the room."""


class Child:
    """A process as its conductor sees it."""

    def __init__(self, broker):
        self.broker = broker

    def wait(self, seconds):
        """It has ended."""

    @property
    def session(self):
        """The number of its session."""
        return self.broker.process.requests.session.id


class World:
    """Processes in memory, and what is done to them from outside: a cluster as a conductor sees it.

    `ids`: those of its brokers, which are called by their numbers here.
    """

    def __init__(self, variant, monkeypatch, size=(2, 2, 1), room=0, ids=()):
        for module, name, stand_in in (
            (requests, "Session", MemorySession),
            (process, "Port", MemoryPort),
            (process, "ClientPort", MemoryClientPort),
        ):
            monkeypatch.setattr(module, name, stand_in)
        self.server, self.variant, self.children, self.orders = Server(), variant, {}, {}
        self.size, self.room, self.left, self.ids = size, room, {}, BrokerIds(ids or range(size[0]))
        self.incarnations = dict.fromkeys(range(size[0]), 0)
        self.logs = TemporaryDirectory()
        self.operator = MemorySession(self.server, 0, None)
        self.links = {b: SimpleNamespace(lose=self._lose) for b in range(size[0])}
        assigned = tuple(tuple(self.ids.ids(each)) for each in assignments(Size(*size, variant=variant)))
        topic = {
            TopicConfig.path_of(TOPIC): TopicConfig(False).encode(),
            Topic.path_of(TOPIC): Topic(assigned[: size[2] - room]).encode(),
        }
        for path, content in (dict.fromkeys(PERSISTENT, b"") | topic).items():
            self.server.write(self.operator, requests.create(path, content))

    def _lose(self, applied, path):
        self.server.lost, self.server.lost_at = applied, path

    def start(self, b):
        size, replicas, partitions = self.size
        self.incarnations[b] += 1
        broker = brokers.Broker(
            Settings(
                self.ids.id(b),
                self.incarnations[b],
                size,
                replicas,
                partitions - self.room,
                1,
                self.variant,
                TOPIC,
                self.server,
                60.0,
                "",
                f"{self.logs.name}/{b}",
                ids=self.ids.all,
            )
        )
        broker.process.reach(partitions - 1)
        broker.tell_session = lambda: True
        self.orders[b] = Ordered(broker), broker
        self.left.pop(b, None)
        self.children[b] = Child(broker)

    def kill(self, b):
        self.left[b] = self.orders.pop(b)[1]

    def checkpoint(self, b, is_written):
        """What a process that has ended left of its high watermarks: those that it had, or nothing."""
        former = self.left[b] if b in self.left else self.orders[b][1]
        if is_written:
            former.leadership.write_checkpoint()
        else:
            (Path(self.logs.name) / str(b) / NAME).unlink(missing_ok=True)

    def expire(self, b, session=None):
        self.server.close(session or self.children[b].session)

    def delete_controller(self):
        self.server.write(self.operator, Delete(Controller.path, -1))

    def edit_epoch(self):
        self.server.write(self.operator, SetData(ControllerEpoch.path, self.content(ControllerEpoch.path), -1))

    def leave_isr_notification(self):
        self._create(IsrChange.prefix, IsrChange(TOPIC, 0).encode(), requests.SEQUENTIAL)

    def queue_deletion(self):
        self._create(f"{DELETE_TOPICS}/{TOPIC}")

    def ask_for_reassignment(self, p, target):
        is_room = self.room and p >= self.size[2] - self.room
        topic, partition = (CREATED, 0) if is_room else (TOPIC, p)
        self._create(Reassignment.path, Reassignment({(topic, partition): (target,)}).encode())

    def ask_for_preferred(self):
        self._create(PreferredElection.path, PreferredElection(TOPIC, tuple(range(self.size[2]))).encode())

    def allow_unclean(self):
        self.server.write(self.operator, SetData(TopicConfig.path_of(TOPIC), TopicConfig(True).encode(), -1))
        self._create(ConfigChange.prefix, ConfigChange(TOPIC).encode(), requests.SEQUENTIAL)

    def _create(self, path, data=b"", flags=0):
        self.server.write(self.operator, requests.create(path, data, flags))

    def content(self, path):
        znode = self.server.znodes.get(path)
        return znode and znode.data


class InMemory(Conductor):
    """Conducts processes in memory: what they are told is possible at once, or never."""

    def __init__(self, world):
        super().__init__(world, SimpleNamespace(say=lambda *_, **__: None, look=lambda _: None))

    def _announce(self, leaver, controller):
        self._cluster.orders[leaver][1].process.announce(self.receiver(controller), "ControlledShutdown", {})

    def receiver(self, b):
        """Where a broker listens."""
        return Receiver(b, *self._cluster.orders[b][1].process.port.address)

    def _order(self, b, part, names, content=None, **arguments):
        ordered, broker = self._cluster.orders[b]
        asked = broker.process.requests
        if "notice_expiry" in names:
            asked.session.hear_of_expiry()
        self.receive(b)
        for name in names:
            if ordered.take(part, name, arguments, content or {}):
                return name, self.answer_of(broker.process)
        known = fields_of({"knows": broker.process.election})
        raise AssertionError(f"{names} of broker {b} is not enabled in its process: {known}")

    @staticmethod
    def answer_of(process):
        """The answer of the last step of a process."""
        return None if process.answer is None else Answer.names[process.answer]

    def receive(self, b):
        """Let a broker take note of all that has arrived."""
        broker = self._cluster.orders[b][1]
        asked = broker.process.requests
        if asked.has_session:
            while not asked.inbox.empty():
                asked.backlog.append(asked.inbox.get())
        while asked.backlog:
            item = asked.backlog.popleft()
            if not asked.take(item) and isinstance(item, Arrived | Answered):
                broker.messages.extend(broker.process.post.read(item))

    def broker(self, b):
        """A broker, which has taken note of all that has arrived."""
        self.receive(b)
        return self._cluster.orders[b][1]

    def found(self, b, kind, sender=None, **content):
        """The newest message of a kind that says so, None without one."""
        return next(
            (
                each
                for each in reversed(self.broker(b).messages)
                if each.kind == kind
                and sender in (None, each.sender)
                and all(each.content[name] == value for name, value in content.items())
            ),
            None,
        )
