"""What is done to a running cluster from outside; each fault is noted in `recording/faults.jsonl`."""

from __future__ import annotations

import json
import signal
import time
from collections.abc import Callable
from pathlib import Path
from threading import Thread

from kafka.admin import KafkaAdminClient, NewTopic
from kafka.errors import KafkaError
from kazoo.client import KazooClient
from kazoo.exceptions import NodeExistsError, NoNodeError

from kafkaproof.impl.broker.orders import Do
from kafkaproof.impl.harness.driving.catalogue import START
from kafkaproof.impl.harness.driving.child import Child
from kafkaproof.impl.harness.driving.zookeeper_server import Keeper, parse
from kafkaproof.impl.harness.links.kafka import KafkaLink
from kafkaproof.impl.harness.links.proxy import Proxy
from kafkaproof.impl.harness.links.rules import DELAY, DROP, HOLD, Rule
from kafkaproof.impl.harness.links.zookeeper import ZooKeeperLink
from kafkaproof.impl.protocol.wire import HOST
from kafkaproof.impl.seams.storage.checkpoint import NAME
from kafkaproof.impl.seams.zookeeper.partition_numbers import OFFSETS_TOPIC
from kafkaproof.impl.seams.zookeeper.request_znodes import ConfigChange, IsrChange, PreferredElection, Reassignment
from kafkaproof.impl.seams.zookeeper.znodes import (
    DELETE_TOPICS,
    TOPICS,
    BrokerId,
    Controller,
    ControllerEpoch,
    TopicConfig,
)

OPERATOR = 60.0
"""How long a tool waits for ZooKeeper, in seconds."""
AGAIN = {"max_tries": -1, "delay": 0.02, "max_delay": 0.2}
"""How it connects again."""
SILENCE = 12.0
"""The session timeout of the driver's own client, in seconds: it takes a connection for broken after two thirds of it.
ZooKeeper never answers, nor closes, a connection that it has accepted before its database was read.
"""
TORN = 40
"""How many bytes of a batch a torn write leaves behind."""


class Faults:
    """The faults of a cluster; `children` are its brokers' processes, `links` their links to ZooKeeper.

    `inner`: the links by which others reach a broker, where there are any. `unclean_allowed`: an operator has allowed
    unclean elections. `disturbed`: something other than starting brokers was done.
    """

    def __init__(self, directory: Path, size, zookeeper: str, keeper: Keeper | None):
        self.directory, self.zookeeper, self._keeper, self.places = directory, zookeeper, keeper, size.places
        self._partitions, self.replicas = tuple(range(size.partitions)), size.replicas
        self.children: dict[int, Child] = {}
        self.inner: dict[int, KafkaLink] = {}
        self.operator = KazooClient(zookeeper, timeout=SILENCE)
        self.links = {b: self.new_link(b, parse(zookeeper)) for b in size.broker_ids.all}
        self._file = open(directory / "recording" / "faults.jsonl", "w", buffering=1)
        self._began = time.monotonic()
        self.unclean_allowed = self.disturbed = False

    def new_link(self, broker: int, zookeeper: tuple[str, int]) -> ZooKeeperLink:
        """The link of a broker to ZooKeeper."""
        return ZooKeeperLink(zookeeper)

    def note(self, fault: Callable, **about: object) -> None:
        """Record what is done to the cluster, by the name of the method that does it."""
        self.disturbed |= fault.__name__ != START.name
        self._file.write(json.dumps({"time": round(self.age, 3), "fault": fault.__name__, **about}) + "\n")

    @property
    def age(self) -> float:
        """The age of the cluster, in seconds."""
        return time.monotonic() - self._began

    # Processes

    def kill(self, broker: int) -> None:
        """kill -9: the session stays until it expires."""
        self.note(self.kill, broker=broker)
        self.children[broker].signal(signal.SIGKILL)
        self.children[broker].wait(5)

    def pause(self, broker: int) -> None:
        """SIGSTOP."""
        self.note(self.pause, broker=broker)
        self.children[broker].signal(signal.SIGSTOP)

    def resume(self, broker: int) -> None:
        """SIGCONT."""
        self.note(self.resume, broker=broker)
        self.children[broker].signal(signal.SIGCONT)

    def hold(self, broker: int, before: str) -> None:
        """Let a broker stop itself right before a step of its controller."""
        self.note(self.hold, broker=broker, before=before)
        self.children[broker].command(do=Do.HOLD, before=before)

    def release(self, broker: int) -> None:
        """Take back a `hold`, and let the broker go on if it has stopped itself."""
        self.note(self.release, broker=broker)
        self.children[broker].command(do=Do.HOLD, before=None)
        self.children[broker].signal(signal.SIGCONT)

    def fail_log_dir(self, broker: int, partition: int) -> None:
        """The log directory of a replica fails."""
        self.note(self.fail_log_dir, broker=broker, partition=partition)
        self.children[broker].command(do=Do.FAIL_LOG_DIR, p=partition)

    def expire(self, broker: int, session: tuple[int, bytes] | None = None) -> None:
        """End a session of a broker, living or not, as ZooKeeper does: by a second connection that closes it.

        That of its present or last process, where no `session` of a former one is given. A living process may take its
        session back, before it is closed: it is taken once more.
        """
        self.note(self.expire, broker=broker)
        owned = session or self.children[broker].session
        thief = KazooClient(self.zookeeper, client_id=owned, timeout=OPERATOR, connection_retry=AGAIN)
        thief.start(OPERATOR)
        thief.stop()
        thief.close()

    @property
    def owns_zookeeper(self) -> bool:
        """Whether ZooKeeper is a process of ours."""
        return self._keeper is not None

    # Links

    def cut_zookeeper(self, broker: int) -> None:
        """A broker's connection to ZooKeeper breaks, and it gets no other."""
        self.note(self.cut_zookeeper, broker=broker)
        self.links[broker].cut()

    def mend_zookeeper(self, broker: int) -> None:
        """It gets one again."""
        self.note(self.mend_zookeeper, broker=broker)
        self.links[broker].mend()

    def slow_zookeeper(self, broker: int, delay: float) -> None:
        """All that a broker and ZooKeeper tell each other is held back; 0: no more."""
        self.note(self.slow_zookeeper, broker=broker, delay=delay)
        self.links[broker].delay = delay

    def cut_links(self, broker: int) -> None:
        """A broker and the others lose what they send to each other, until `mend_links` or the end of a process."""
        self.note(self.cut_links, broker=broker)
        self._cut(broker, True)

    def mend_links(self, broker: int) -> None:
        """They hear of each other again."""
        self.note(self.mend_links, broker=broker)
        self._cut(broker, False)

    def _cut(self, broker, is_cut):
        addresses = {}
        for b in self.children:
            try:
                addresses[b] = BrokerId.decode(self.operator.get(BrokerId.path_of(b))[0]).inner
            except NoNodeError:
                continue
        for b, child in self.children.items():
            for other in addresses if b == broker else [broker] if broker in addresses else []:
                if other != b and child.running:
                    child.command(do=Do.CUT, address=addresses[other], cut=is_cut)

    def slow_links(self, broker: int, delay: float) -> None:
        """Each message of a broker to the others is held back; 0: no more."""
        self.note(self.slow_links, broker=broker, delay=delay)
        self.children[broker].command(do=Do.SLOW, delay=delay)

    def lose_frame(self, broker: int, link: str, pattern: dict) -> None:
        """The next frame that fits a pattern is lost on a link of a broker, and the connection with it."""
        self.note(self.lose_frame, broker=broker, link=link, pattern=pattern)
        self.link_of(broker, link).add(Rule(DROP, pattern))

    def hold_frame(self, broker: int, link: str, pattern: dict) -> None:
        """The next frame that fits a pattern is held back, and what comes behind it, until `let_go`."""
        self.note(self.hold_frame, broker=broker, link=link, pattern=pattern)
        self.link_of(broker, link).add(Rule(HOLD, pattern))

    def delay_frame(self, broker: int, link: str, pattern: dict, delay: float) -> None:
        """The next frame that fits a pattern is held back for some seconds, and what comes behind it."""
        self.note(self.delay_frame, broker=broker, link=link, pattern=pattern, delay=delay)
        self.link_of(broker, link).add(Rule(DELAY, pattern, seconds=delay))

    def let_go(self, broker: int) -> None:
        """What is held back on the links of a broker goes on, and what was still to be held, delayed or lost is not."""
        self.note(self.let_go, broker=broker)
        for link in self.links_of(broker):
            link.remove(*(rule for rule in link.rules if rule.times == 1))

    def links_of(self, broker: int) -> list[Proxy]:
        """The links of a broker whose frames can be chosen."""
        return [self.links[broker]]

    def link_of(self, broker: int, name: str) -> Proxy:
        """A link of a broker by its name: that to ZooKeeper."""
        return self.links[broker]

    def restart_zookeeper(self) -> None:
        """kill -9 of ZooKeeper, and a new process on its data; sessions begin to count anew. Only of one of ours."""
        if self._keeper is None:
            raise RuntimeError("ZooKeeper is no process of ours: a defect")
        self.note(self.restart_zookeeper)
        self._keeper.restart()
        while not self.operator.connected:
            time.sleep(0.05)

    # Disks

    def fill_disk(self, broker: int, partition: int) -> None:
        """The disk is full: the next append to a log fails, and its log directory with it."""
        self.note(self.fill_disk, broker=broker, partition=partition)
        self.children[broker].command(do=Do.BREAK_LOG, p=partition, after=0, dies=False)

    def tear(self, broker: int, partition: int) -> None:
        """kill -9 in the middle of the next append to a log: a part of the batch reaches the file."""
        self.note(self.tear, broker=broker, partition=partition)
        self.children[broker].command(do=Do.BREAK_LOG, p=partition, after=TORN, dies=True)

    def lose_checkpoint(self, broker: int) -> None:
        """The high watermarks that a process has written are not on the disk for the next one."""
        self.note(self.lose_checkpoint, broker=broker)
        (self.directory / "logs" / f"broker-{broker}" / NAME).unlink(missing_ok=True)

    # Operators

    def delete_controller(self) -> None:
        """An operator deletes /controller."""
        self.note(self.delete_controller)
        try:
            self.operator.delete(Controller.path)
        except NoNodeError:
            pass

    def edit_epoch(self) -> None:
        """An operator writes /controller_epoch again, with the same value."""
        self.note(self.edit_epoch)
        self.operator.set(ControllerEpoch.path, self.operator.get(ControllerEpoch.path)[0])

    def leave_isr_notification(self) -> None:
        """There is a notification of an ISR, as there mostly is in a cluster that works (up to 2.6)."""
        self.note(self.leave_isr_notification)
        self.operator.create(IsrChange.prefix, IsrChange(self.places.topic, 0).encode(), sequence=True)

    def queue_deletion(self) -> None:
        """An operator queues the topic for deletion."""
        self.note(self.queue_deletion)
        self.operator.create(f"{DELETE_TOPICS}/{self.places.topic}")

    def create_topic(self, topic: str) -> None:
        """An administrator asks for a topic of one partition, and does not wait for it."""
        self.note(self.create_topic, topic=topic)
        Thread(target=_create, args=(self.bootstrap(), topic, self.replicas), daemon=True).start()

    def delete_topic(self, topic: str) -> None:
        """An operator asks for the deletion of a topic, by its marker."""
        self.note(self.delete_topic, topic=topic)
        try:
            self.operator.create(f"{DELETE_TOPICS}/{topic}")
        except NodeExistsError:
            pass

    def bootstrap(self) -> list[str]:
        """Where clients find the brokers that have come up once: HOST:PORT of each."""
        return [f"{HOST}:{child.port}" for _, child in sorted(self.children.items()) if child.port]

    def created_topics(self) -> list[str]:
        """The topics that were created while the cluster runs, and are not to be deleted."""
        others = {self.places.topic, OFFSETS_TOPIC, *self.operator.get_children(DELETE_TOPICS)}
        return sorted(set(self.operator.get_children(TOPICS)) - others)

    def ask_for_reassignment(self, p: int, target: int) -> None:
        """An operator asks that one broker be the only replica of a partition."""
        self.note(self.ask_for_reassignment, partition=p, target=target)
        wanted = Reassignment({(self.places.topic, p): (target,)})
        self.operator.create(wanted.path, wanted.encode())

    def reassign(self, partition: int, replicas: list[int]) -> None:
        """An operator asks that a partition be on these brokers, unless another reassignment is asked for."""
        self.note(self.reassign, partition=partition, replicas=replicas)
        wanted = Reassignment({(self.places.topic, partition): tuple(replicas)})
        try:
            self.operator.create(wanted.path, wanted.encode())
        except NodeExistsError:
            pass

    def write_znode(self, path: str, data: str | None) -> None:
        """An operator writes a znode, whether it is there or not; None: deletes it."""
        self.note(self.write_znode, path=path, data=data)
        if data is None:
            if self.operator.exists(path):
                self.operator.delete(path)
        elif self.operator.exists(path):
            self.operator.set(path, data.encode())
        else:
            self.operator.create(path, data.encode(), makepath=True)

    def ask_for_preferred(self) -> None:
        """An operator asks for preferred leaders, of all partitions."""
        self.note(self.ask_for_preferred)
        wanted = PreferredElection(self.places.topic, self._partitions)
        try:
            self.operator.create(wanted.path, wanted.encode())
        except NodeExistsError:
            pass

    def allow_unclean(self) -> None:
        """An operator allows unclean elections for the topic."""
        self.note(self.allow_unclean)
        self.unclean_allowed = True
        self.operator.set(TopicConfig.path_of(self.places.topic), TopicConfig(True).encode())
        self.operator.create(ConfigChange.prefix, ConfigChange(self.places.topic).encode(), sequence=True)


def _create(bootstrap, topic, replicas):
    """Ask for a topic once; ZooKeeper's log tells whether that succeeds."""
    try:
        admin = KafkaAdminClient(bootstrap_servers=bootstrap)
        admin.create_topics([NewTopic(topic, 1, replicas)])
        admin.close()
    except (KafkaError, RuntimeError):
        pass  # the client raises RuntimeError where nobody is the controller
