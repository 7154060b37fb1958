"""A cluster: its ZooKeeper, its brokers' processes, its topic, and what is done to it from outside."""

from __future__ import annotations

import json
import queue
import signal
import subprocess
import sys
import threading
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from kazoo.exceptions import NodeExistsError, NoNodeError

from impl.faults import OPERATOR, Faults
from impl.keeper import Keeper, answers, die_with_parent, parse
from impl.places import NONE, OFFSETS_TOPIC, Places
from impl.recording import FORMAT
from impl.settings import Settings
from impl.wire import HOST
from impl.znodes import BROKER_IDS, PERSISTENT, TOPICS, BrokerId, Controller, Topic, TopicConfig
from spec.processes import PARTITION, cluster, scopes
from spec.errors import UserError
from spec.language.plain import new_state

TOPIC, MANIFEST = "events", Path("recording") / "cluster.json"


@dataclass(frozen=True)
class Size:
    """How large a cluster is, which variant it runs, and how long a session lives without its client, in seconds.

    `groups`: it has an offsets partition, which comes behind the partitions of the topic, and group coordinators.
    `room`: how many partitions more topics may have that are created while it runs.
    `recorded`: its steps are; it has no replay otherwise. `ordered`: its brokers take only the steps that are ordered.
    """

    brokers: int = 3
    replicas: int = 3
    partitions: int = 2
    min_isr: int = 1
    groups: bool = False
    room: int = 0
    recorded: bool = True
    ordered: bool = False
    variant: str = "fenced"
    session_timeout: float = 2.0

    @property
    def planes(self) -> int:
        """How many partitions there are in all."""
        return self.standing + self.room

    @property
    def standing(self) -> int:
        """How many partitions there are from the beginning; the room comes behind them."""
        return self.partitions + self.groups

    @property
    def places(self) -> Places:
        """Which partition is which."""
        offsets = self.partitions if self.groups else NONE
        return Places(TOPIC, offsets, self.standing if self.room else NONE, self.planes)


def assignments(size: Size) -> tuple[tuple[int, ...], ...]:
    """The assignment of all partitions, as the specification's initial state has it."""
    model = cluster(size.variant).partition
    state = new_state(model.state, scopes(size.brokers, size.replicas, size.planes, size.min_isr, 1)[PARTITION])
    model.initial(state)
    return tuple(tuple(each.slots[:each.length]) for each in state.zk.assignments)


class Child:
    """The process of a broker, as the driver sees it; what it tells comes through `told`. It runs `program`."""

    program = (sys.executable, "-m", "impl.broker")

    def __init__(self, settings: Settings, log: Path):
        self.settings, self.log, self.told = settings, log, queue.Queue()
        self.session: tuple[int, bytes] | None = None
        self.port = settings.port
        with open(log, "a") as errors:
            self._process = subprocess.Popen(
                self.program, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors,
                text=True, preexec_fn=die_with_parent, start_new_session=True)
        self.command(**asdict(settings))
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self):
        for line in self._process.stdout:
            told = json.loads(line)
            if "session" in told:
                self.session = int(told["session"], 16), bytes.fromhex(told["password"])
                self.port = told["port"]
            else:
                self.told.put(told)

    def command(self, **line: object) -> None:
        """Tell the process something."""
        try:
            self._process.stdin.write(json.dumps(line) + "\n")
            self._process.stdin.flush()
        except OSError:
            pass  # it has ended

    @property
    def running(self) -> bool:
        """Whether the process lives, be it stopped."""
        return self._process.poll() is None

    @property
    def stopped(self) -> bool:
        """Whether the process is stopped by a signal."""
        state = Path(f"/proc/{self._process.pid}/stat")
        return self.running and state.exists() and state.read_text().rsplit(")", 1)[1].split()[0] == "T"

    def signal(self, number: int) -> None:
        """Send a signal."""
        self._process.send_signal(number)

    def wait(self, seconds: float) -> None:
        """Wait for the end; kill it where it does not come."""
        try:
            self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


class Cluster(Faults):
    """A running cluster in `directory`; use it as a context, at whose end every process has ended.

    Raises UserError where ZooKeeper cannot be started or reached.
    """

    def __init__(self, directory: Path, size: Size, zookeeper: str | None = None, port: int | None = None):
        self.directory, self.size = directory, size
        self._incarnations = dict.fromkeys(range(size.brokers), 0)
        keeper = None
        try:
            (directory / "recording").mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UserError(f"--directory {directory}: cannot be made: {error.strerror}; name another") from None
        if zookeeper is None:
            keeper = Keeper(directory, tick=max(100, int(size.session_timeout * 125)), port=port)
        elif parse(zookeeper) and not answers(zookeeper):
            raise UserError(f"no ZooKeeper at {zookeeper}; start it, or leave --zookeeper away")
        super().__init__(directory, size, zookeeper or keeper.address, keeper)

    def __enter__(self) -> "Cluster":
        try:
            self.operator.start(OPERATOR)
            self._create_znodes()
            manifest = {"format": FORMAT, "kind": "kafkaproof cluster", "topic": TOPIC, "zookeeper": self.zookeeper,
                        **asdict(self.size), "partitions": self.size.planes, "offsets": self.size.places.offsets}
            (self.directory / MANIFEST).write_text(json.dumps(manifest, indent=2) + "\n")
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

    def _create_znodes(self):
        for path, found in ((BROKER_IDS, "brokers are registered"), (TOPICS, "topics are")):
            if self.operator.exists(path) and self.operator.get_children(path):
                raise UserError(f"{self.zookeeper}: {found} there; give an empty ZooKeeper")
        contents = [(path, b"") for path in PERSISTENT]
        assigned, partitions, there = assignments(self.size), self.size.partitions, self.size.standing
        for topic, part in ((TOPIC, assigned[:partitions]), (OFFSETS_TOPIC, assigned[partitions:there])):
            if part:
                contents += [(TopicConfig.path_of(topic), TopicConfig(False).encode()),
                             (Topic.path_of(topic), Topic(part).encode())]
        for path, data in contents:
            try:
                self.operator.create(path, data)
            except NodeExistsError:
                pass

    # Brokers

    def start(self, broker: int) -> None:
        """Start a process of a broker."""
        self._incarnations[broker] += 1
        number = self._incarnations[broker]
        size = self.size
        port = self.children[broker].port if broker in self.children else 0
        self.note("start", broker=broker)
        self.children[broker] = Child(
            Settings(broker, number, size.brokers, size.replicas, size.planes, size.min_isr, size.variant, TOPIC,
                     self.links[broker].address, size.session_timeout,
                     str(self.directory / "recording" / f"broker-{broker}.{number}.jsonl") if size.recorded else "",
                     str(self.directory / "logs" / f"broker-{broker}"), port, size.places.offsets, size.room,
                     size.ordered),
            self.directory / f"broker-{broker}.log")

    def start_all(self) -> None:
        """Start a process of every broker."""
        for broker in range(self.size.brokers):
            self.start(broker)

    def stop(self, broker: int, seconds: float = 10) -> None:
        """A controlled shutdown."""
        self.note("stop", broker=broker)
        self.children[broker].signal(signal.SIGTERM)
        self.children[broker].wait(seconds)

    def stop_all(self) -> None:
        """A controlled shutdown of all that live, all at once."""
        self.note("stop_all")
        running = [broker for broker, child in self.children.items() if child.running]
        for broker in running:
            self.children[broker].signal(signal.SIGCONT)
            self.children[broker].signal(signal.SIGTERM)
        for broker in running:
            self.children[broker].wait(10)

    # Observation

    def bootstrap(self) -> list[str]:
        """Where clients find the brokers that have come up once: HOST:PORT of each."""
        return [f"{HOST}:{child.port}" for _, child in sorted(self.children.items()) if child.port]

    def controller(self) -> int | None:
        """The broker that /controller names."""
        try:
            return Controller.decode(self.operator.get(Controller.path)[0]).broker
        except NoNodeError:
            return None

    def recorded(self, broker: int, transition: str) -> int:
        """How many steps of this name the present process of a broker has recorded."""
        lines = Path(self.children[broker].settings.recording).read_text().splitlines()
        return sum('"step":"' in line and f".{transition}(" in line for line in lines)

    def registered(self) -> list[int]:
        """The brokers that are registered."""
        return sorted(int(name) for name in self.operator.get_children(BROKER_IDS))

    def is_whole(self) -> bool:
        """Whether all brokers are registered, and one of them is the controller."""
        return len(self.registered()) == self.size.brokers and self.controller() is not None

    def owner(self, broker: int) -> int | None:
        """The session that has registered a broker."""
        found = self.operator.exists(BrokerId.path_of(broker))
        return found.ephemeralOwner if found else None


def wait_until(condition, seconds: float = 300) -> bool:
    """Wait until something holds; whether it came to hold in time."""
    until = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > until:
            return False
        time.sleep(0.05)
    return True
