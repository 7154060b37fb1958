"""Writes the ZooKeeper log of a Kafka cluster that lives long: as many transactions as wanted, for measurements.

    python benchmarks/long_log.py --transactions 1000000 /tmp/long

It is what a cluster of Kafka 3.x writes (guarded writes, AlterPartition, KIP-455): leaders change ISRs, brokers stop, are
killed and come back, controllers are deposed, preferred leaders are elected, topics are created, deleted and
reassigned. Leaders and ISRs are those of the specification's strategies. Nothing here is a real cluster's, and that replay
finds no fault with it proves nothing of Kafka: it is there for its length. The same seed gives the same bytes.
"""

import argparse
import random
from pathlib import Path

from log_bytes import LogFiles, check, close_session, create, create_session, delete, failure, multi, set_data

NODEEXISTS = -110
SPREAD = (  # weights of what happens next
    ("lag", 900),
    ("prefer", 20),
    ("stop", 3),
    ("kill", 3),
    ("depose", 1),
    ("create", 2),
    ("remove", 2),
    ("move", 6),
)
REGISTRATION = (
    b'{"version":5,"host":"h","port":9092,"jmx_port":-1,"timestamp":"1","endpoints":["PLAINTEXT://h:9092"],'
    b'"listener_security_protocol_map":{"PLAINTEXT":"PLAINTEXT"},"features":{}}'
)
PARENTS = (
    "/consumers",
    "/brokers",
    "/brokers/ids",
    "/brokers/topics",
    "/config",
    "/config/changes",
    "/admin",
    "/admin/delete_topics",
    "/brokers/seqid",
    "/isr_change_notification",
    "/latest_producer_id_block",
    "/log_dir_event_notification",
    "/config/topics",
    "/config/clients",
    "/config/users",
    "/config/brokers",
    "/config/ips",
)


class Partition:
    """A partition as ZooKeeper has it; `version` is that of its state znode."""

    __slots__ = ("path", "replicas", "leader", "isr", "epoch", "version")

    def __init__(self, path: str, replicas: list[int]):
        self.path, self.replicas = path, replicas
        self.leader, self.isr, self.epoch, self.version = -1, [], -1, -1


class Cluster:
    """The cluster, and the log that it writes. Every method is something that happens, as its records tell it."""

    def __init__(self, files: LogFiles, brokers: int, topics: int, partitions: int, seed: int):
        self.files, self.choice = files, random.Random(seed)
        self.brokers, self.width = list(range(1, brokers + 1)), partitions
        self.sessions: dict[int, int] = {}
        self.controller: int | None = None
        self.epoch = self.next_session = self.made = 0
        self.children: dict[str, int] = {}
        self.topics: dict[str, dict[int, Partition]] = {}
        self.topic_versions: dict[str, int] = {}
        self.lagging: list[Partition] = []
        self.begin()
        for _ in range(topics):
            self.create()

    # What is written

    def write(self, broker: int | None, *operations: tuple[int, bytes], cxid: int = 1) -> None:
        """A record of a broker's session, or of an operator's."""
        session = self.sessions[broker] if broker else 1
        self.files.add(session, cxid, multi(*operations) if len(operations) > 1 else operations[0])

    def guarded(self, operation: tuple[int, bytes]) -> None:
        """A write of the controller, checked against its epoch."""
        self.write(self.controller, check("/controller_epoch", self.epoch + 1), operation)

    def new(self, path: str, data: bytes = b"", ephemeral: bool = False) -> tuple[int, bytes]:
        """The creation of a znode: it counts up its parent's cversion."""
        parent = path.rpartition("/")[0] or "/"
        self.children[parent] = self.children.get(parent, 0) + 1
        return create(path, data, ephemeral, self.children[parent])

    def state(self, p: Partition, leader: int, isr: list[int], raised: bool) -> None:
        """The controller writes a partition's state."""
        first = p.version < 0
        p.leader, p.isr, p.epoch, p.version = leader, isr, p.epoch + raised, p.version + 1
        data = b'{"controller_epoch":%d,"leader":%d,"version":1,"leader_epoch":%d,"isr":[%s]}' % (
            self.epoch,
            leader,
            p.epoch,
            ",".join(map(str, isr)).encode(),
        )
        path = p.path + "/state"
        self.guarded(self.new(path, data) if first else set_data(path, data, p.version))

    def assignment(self, topic: str, adding: dict, removing: dict) -> bytes:
        """What a topic znode says."""
        parts = ",".join(f'"{n}":{p.replicas}' for n, p in self.topics[topic].items())
        more = [",".join(f'"{n}":{ids}' for n, ids in part.items()) for part in (adding, removing)]
        text = (
            f'{{"partitions":{{{parts}}},"topic_id":"{topic:_<22}","adding_replicas":{{{more[0]}}},'
            f'"removing_replicas":{{{more[1]}}},"version":3}}'
        )
        return text.replace(" ", "").encode()

    # What happens

    def begin(self) -> None:
        """The first start of all brokers."""
        self.files.add(1, 0, create_session(30_000))
        for path in PARENTS:
            self.write(None, self.new(path))
        for broker in self.brokers:
            self.start(broker)

    def run(self, transactions: int) -> None:
        """Let things happen until so many records are written."""
        names, weights = zip(*SPREAD)
        while self.files.zxid < transactions:
            for name in self.choice.choices(names, weights, k=100):
                getattr(self, name)()

    def start(self, broker: int) -> None:
        """A broker starts, registers, stands for election where nobody rules, and catches up with its leaders."""
        self.files.pause(2_000)
        self.next_session += 1
        self.sessions[broker] = 0x100_0000_0000_0000 + self.next_session
        self.files.add(self.sessions[broker], 0, create_session(18_000))
        for _ in PARENTS:
            self.write(broker, failure(NODEEXISTS))
        path = f"/brokers/ids/{broker}"
        self.write(broker, self.new(path, b"", True), set_data(path, REGISTRATION, 1))
        if self.controller is None:
            self.elect(broker)
        for p in [p for p in self.all() if p.leader == -1 and broker in p.isr]:
            self.state(p, broker, [b for b in p.isr if b in self.sessions], True)
        for p in [p for p in self.all() if broker in p.replicas and broker not in p.isr and p.leader > 0]:
            self.state(p, p.leader, [*p.isr, broker], False)

    def elect(self, broker: int) -> None:
        """A broker becomes controller, and finds who is gone: they leave the ISRs, then leaders are elected."""
        if not self.epoch:
            self.write(broker, self.new("/controller_epoch", b"0"))
        self.epoch += 1
        self.controller = broker
        owner = b'{"version":2,"brokerid":%d,"timestamp":"1","kraftControllerEpoch":-1}' % broker
        self.write(
            broker, self.new("/controller", owner, True), set_data("/controller_epoch", b"%d" % self.epoch, self.epoch)
        )
        for p in list(self.all()):
            for gone in [b for b in p.isr if b not in self.sessions]:
                if p.leader != -1 or len(p.isr) > 1:
                    self.leave_isr(p, gone)
        for p in [p for p in self.all() if p.leader == -1]:
            self.elect_leader(p)

    def leave_isr(self, p: Partition, gone: int) -> None:
        """A replica is offline: out of the ISR, unless it is the last, whose state is written all the same."""
        if gone in p.isr:
            rest = [b for b in p.isr if b != gone] or p.isr
            self.state(p, -1 if p.leader == gone else p.leader, rest, True)

    def elect_leader(self, p: Partition) -> None:
        """The first live replica in the ISR leads, if there is one."""
        live = [b for b in p.replicas if b in p.isr and b in self.sessions]
        if live:
            self.state(p, live[0], [b for b in p.isr if b in self.sessions], True)

    def all(self):
        """All partitions."""
        return (p for partitions in self.topics.values() for p in partitions.values())

    def lag(self) -> None:
        """A follower falls behind its leader, or one that did catches up."""
        if self.lagging and self.choice.random() < 0.5:
            p = self.lagging.pop(self.choice.randrange(len(self.lagging)))
            missing = [b for b in p.replicas if b not in p.isr and b in self.sessions]
            if p.leader > 0 and missing and p.version >= 0:
                self.state(p, p.leader, [*p.isr, missing[0]], False)
        elif self.topics:
            p = self.any_partition()[1]
            if p.leader > 0 and len(p.isr) > 1:
                slow = self.choice.choice([b for b in p.isr if b != p.leader])
                self.state(p, p.leader, [b for b in p.isr if b != slow], False)
                self.lagging.append(p)
        self.files.pause(self.choice.randrange(20))

    def any_partition(self) -> tuple[str, Partition]:
        """A partition, and its topic."""
        topic = self.choice.choice(list(self.topics))
        return topic, self.topics[topic][self.choice.randrange(len(self.topics[topic]))]

    def prefer(self) -> None:
        """The preferred leaders of a topic are elected."""
        for p in self.topics[self.choice.choice(list(self.topics))].values():
            first = p.replicas[0]
            if p.leader not in (first, -1) and first in p.isr and first in self.sessions:
                self.state(p, first, list(p.isr), True)

    def stop(self) -> None:
        """A broker shuts down: it hands its leaderships over, leaves the ISRs and closes its session; it comes back."""
        broker = self.choice.choice(list(self.sessions))
        for p in list(self.all()):
            others = [b for b in p.replicas if b in p.isr and b != broker]
            if p.leader == broker and others:
                self.state(p, others[0], [b for b in p.isr if b != broker], True)
        for p in list(self.all()):
            if broker in p.isr and p.leader != broker:
                self.leave_isr(p, broker)
        self.end(broker, cxid=9)

    def kill(self) -> None:
        """A broker dies, its session expires; it comes back."""
        self.files.pause(6_000)
        self.end(self.choice.choice(list(self.sessions)), cxid=0)

    def end(self, broker: int, cxid: int) -> None:
        """A session ends; another broker may become controller; leaders are elected."""
        ruled = self.controller == broker
        paths = sorted([f"/brokers/ids/{broker}"] + ["/controller"] * ruled)
        self.write(broker, close_session(paths), cxid=cxid)
        del self.sessions[broker]
        if ruled:
            self.controller = None
            self.elect(self.choice.choice(list(self.sessions)))
        else:
            for p in [p for p in self.all() if p.leader == broker]:
                self.elect_leader(p)
            for p in [p for p in self.all() if broker in p.isr]:
                self.leave_isr(p, broker)
        self.start(broker)

    def depose(self) -> None:
        """An operator deletes /controller, and another broker takes it."""
        self.write(None, delete("/controller"))
        self.elect(self.choice.choice([b for b in self.sessions if b != self.controller]))

    def create(self) -> None:
        """A topic is created; once there are enough, one of them is first deleted."""
        name = f"t{self.made}"
        self.made += 1
        base = f"/brokers/topics/{name}"
        ids = self.brokers[self.made % len(self.brokers) :] + self.brokers[: self.made % len(self.brokers)]
        replicas = [[ids[(n + k) % len(ids)] for k in range(min(3, len(ids)))] for n in range(self.width)]
        self.topics[name] = {n: Partition(f"{base}/partitions/{n}", r) for n, r in enumerate(replicas)}
        self.topic_versions[name] = 0
        broker = self.choice.choice(list(self.sessions))
        self.write(broker, self.new(f"/config/topics/{name}", b'{"version":1,"config":{}}'))
        self.write(broker, self.new(base, self.assignment(name, {}, {})))
        self.guarded(self.new(f"{base}/partitions"))
        for p in self.topics[name].values():
            self.guarded(self.new(p.path))
        for p in self.topics[name].values():
            live = [b for b in p.replicas if b in self.sessions]
            self.state(p, live[0], live, True)

    def remove(self) -> None:
        """A topic is deleted, another one is created."""
        name = self.choice.choice(list(self.topics))
        base, partitions = f"/brokers/topics/{name}", self.topics.pop(name)
        self.lagging = [p for p in self.lagging if not p.path.startswith(f"{base}/")]
        self.write(self.choice.choice(list(self.sessions)), self.new(f"/admin/delete_topics/{name}"))
        for broker in self.brokers:
            for p in partitions.values():
                self.leave_isr(p, broker)
        for p in partitions.values():
            self.guarded(delete(f"{p.path}/state"))
            self.guarded(delete(p.path))
        for path in (f"{base}/partitions", base, f"/config/topics/{name}", f"/admin/delete_topics/{name}"):
            self.guarded(delete(path))
        for path in [path for path in self.children if path == base or path.startswith(f"{base}/")]:
            del self.children[path]
        self.create()

    def move(self) -> None:
        """The last replica of a partition is moved to another broker, as KIP-455 does it."""
        topic, p = self.any_partition()
        others = [b for b in self.sessions if b not in p.replicas]
        old = p.replicas[-1]
        if not others or p.leader in (-1, old) or len(p.isr) < len(p.replicas):
            return
        new, number = self.choice.choice(others), int(p.path.rpartition("/")[2])
        target = [*p.replicas[:-1], new]
        p.replicas = [*target, old]
        self.set_topic(topic, {number: [new]}, {number: [old]})
        self.state(p, p.leader, list(p.isr), True)
        self.state(p, p.leader, [*p.isr, new], False)
        self.state(p, p.leader, list(p.isr), True)
        self.leave_isr(p, old)
        p.replicas = target
        self.set_topic(topic, {}, {})

    def set_topic(self, topic: str, adding: dict, removing: dict) -> None:
        """The controller writes a topic znode."""
        self.topic_versions[topic] += 1
        data = self.assignment(topic, adding, removing)
        self.guarded(set_data(f"/brokers/topics/{topic}", data, self.topic_versions[topic]))


def write_long_log(
    directory: Path,
    transactions: int,
    brokers: int = 6,
    topics: int = 20,
    partitions: int = 25,
    seed: int = 1,
    records_per_file: int = 100_000,
) -> int:
    """Write logs of at least so many transactions into a directory; returns how many there are."""
    with LogFiles(directory, records_per_file) as files:
        Cluster(files, brokers, topics, partitions, seed).run(transactions)
        return files.zxid


def main() -> None:
    """Read the command line and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", type=Path)
    parser.add_argument("--transactions", type=int, default=1_000_000)
    parser.add_argument("--brokers", type=int, default=6)
    parser.add_argument("--topics", type=int, default=20)
    parser.add_argument("--partitions", type=int, default=25, help="of each topic")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    print(f"{write_long_log(**vars(options)):,} transactions in {options.directory}")


if __name__ == "__main__":
    main()
