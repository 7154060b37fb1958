"""One process of a broker: its record, its seams, and how it takes a step.

A step runs a transition of the specification on the broker's own record; what the transition asks for is done by the
seams. Then the step is recorded, and only then what it sends goes out. Some steps are steps of both systems (see
`spec.processes`): the partner follows with the answer that was given.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

from impl.election_zookeeper import ElectionZooKeeper
from impl.network import Message, PartitionNetwork, Port
from impl.partition_zookeeper import PartitionZooKeeper
from impl.rebinding import bound
from impl.record import new_record, transition
from impl.recording import Recorder
from impl.requests import NotAnswered, Requests
from impl.told import Told
from impl.znodes import BrokerId
from spec.processes import ELECTION, PARTITION, cluster, partners_in_election, partners_in_partition, scopes
from spec.controller.belief import OPEN
from spec.language.digest import digest, fields_of
from spec.language.steps import Step
from spec.partition.context import end_process
from spec.seams import KNOWN
from spec.zookeeper import ANSWERED, NOTHING, Answer

EPOCHS = 1_000_000
"""A running broker's record has no array that an epoch sizes."""
NEW_SESSION = ("restart", "reopen")

@dataclass(frozen=True)
class Settings:
    """What a broker's process is told: who it is, of which cluster, and where it writes."""

    broker: int
    incarnation: int
    brokers: int
    replicas: int
    partitions: int
    variant: str
    topic: str
    zookeeper: str
    session_timeout: float
    recording: str


class Process:
    """A broker's process: `election` and `partition` are its record, one part of it for each system."""

    def __init__(self, settings: Settings):
        self.settings, self.broker = settings, settings.broker
        self.cluster = cluster(settings.variant)
        sizes = scopes(settings.brokers, settings.replicas, settings.partitions, EPOCHS)
        self.requests = Requests(settings.zookeeper, settings.session_timeout)
        self.port = Port(self.requests.inbox)
        self._make_seams()
        self._functions = {part: bound(self.cluster.model(part)) for part in (ELECTION, PARTITION)}
        self.records = {part: new_record(self.cluster.model(part).state.fields["brokers"].domain.of, sizes[part])
                        for part in (ELECTION, PARTITION)}
        with transition():
            end_process(self.records[PARTITION])
        self._fields = fields_of(self.records)
        self.number = self.clock = self.zxid = self._messages = 0
        self.recorder = Recorder(Path(settings.recording), process=f"{self.broker}.{settings.incarnation}")
        self.requests.before_write = self._tell_intent

    def _make_seams(self):
        settings, guarded = self.settings, self.settings.variant == "fenced"
        self.election_zookeeper = ElectionZooKeeper(self.requests, BrokerId(*self.port.address), guarded)
        self.election_zookeeper.clients = {self.broker: SimpleNamespace(session=1, fired=NOTHING)}
        self.partition_zookeeper = PartitionZooKeeper(self.requests, settings.topic, settings.brokers)
        self.network = PartitionNetwork(self.broker, self.partition_zookeeper)

    @property
    def election(self):
        """The broker's record in *election*."""
        return self.records[ELECTION]

    @property
    def partition(self):
        """The broker's record in *partition*."""
        return self.records[PARTITION]

    def has(self, part: str, name: str) -> bool:
        """Whether the variant has a transition of this name."""
        return name in self._functions[part]

    def take(self, part: str, name: str, message: Message | None = None, **arguments: int) -> bool:
        """Take a step, if it is enabled; raises NotAnswered, without a step, where a read was not answered."""
        self._intent = f"{part} {self._text(part, name, arguments)}"
        self._told = False
        self.requests.begin()
        self.network.current = message
        zookeeper = self.election_zookeeper if part == ELECTION else self.partition_zookeeper
        try:
            if not self._run(part, name, zookeeper, arguments):
                return False
        except NotAnswered:
            if fields_of(self.records) != self._fields:
                raise RuntimeError(f"{name} was not answered, and has changed the record: a defect") from None
            raise
        asked = [call for call in zookeeper.calls if call[0] not in KNOWN]
        answer = asked[-1][2] if asked else None
        self._record(part, name, arguments, answer, zookeeper.calls + self.network.calls)
        self._send()
        return True

    def _run(self, part, name, zookeeper, arguments) -> bool:
        zookeeper.calls, self.network.calls, self.network.outbox = [], [], []
        seat = SimpleNamespace(brokers={self.broker: self.records[part]}, zk=zookeeper, network=self.network)
        function = self._functions[part][name]
        wanted = function.__code__.co_varnames[1:function.__code__.co_argcount]
        values = {"b": self.broker, "fate": ANSWERED, **arguments}
        with transition():
            return function(seat, *(values[argument] for argument in wanted))

    def _record(self, part, name, arguments, answer, calls):
        """Let the partners follow, and write the line."""
        sent = self.network.outbox
        partners = self._let_partners_follow(part, name, answer)
        self.network.outbox = sent
        message = self.network.current
        if message:
            self.clock, self.zxid = max(self.clock, message.clock), max(self.zxid, message.zxid)
        session = self.requests.session
        self.clock, self.zxid = self.clock + 1, max(self.zxid, session.zxid)
        self.number += 1
        self.recorder.write({
            "n": self.number, "part": part, "step": self._text(part, name, arguments, answer), "with": partners,
            "seams": calls, "zxids": self.requests.zxids, "at": self.requests.at, "zxid": self.zxid,
            "clock": self.clock,
            "session": f"{session.id:#x}", "took": message.id if message else None,
            "sent": [f"{self._prefix}{self._messages + 1 + i}" for i in range(len(self.network.outbox))],
            "changed": self._changed(), "state": digest(self.election, self.partition),
        })

    def _changed(self) -> dict[str, int]:
        """The fields of the record that are not what they were when this was asked last."""
        before, self._fields = self._fields, fields_of(self.records)
        return {name: value for name, value in self._fields.items() if before[name] != value}

    def _let_partners_follow(self, part, name, answer) -> list[str]:
        """Run the steps of the other part that go with a step; their texts."""
        if part == ELECTION:
            other, found = PARTITION, partners_in_partition(name, answer, self.partition)
        else:
            other, found = ELECTION, partners_in_election(name, answer)
        for partner, its_answer in found:
            if partner == "elect":
                self.partition_zookeeper.begin_reign(self.election.epoch, self.election.epoch_version)
            if partner in NEW_SESSION:
                self.partition_zookeeper.registration = self.election_zookeeper.registration
            told = Told(its_answer, self.election.epoch, partner not in NEW_SESSION)
            if not self._run(other, partner, told, {}):
                raise RuntimeError(f"{name} has no partner {partner} in {other}: a defect of spec.processes")
        return [f"{other} {self._text(other, partner, {}, its_answer)}" for partner, its_answer in found]

    def _send(self):
        for address, kind, content in self.network.outbox:
            self.tell(address, kind, content)
        self.network.outbox = []

    def tell(self, address: tuple[str, int], kind: str, content: dict) -> None:
        """Send a message at once: one that is no step's, or the next of those that a step sends."""
        self._messages += 1
        self.port.send(address, Message(kind, f"{self._prefix}{self._messages}", self.broker, self.port.address,
                                        self.clock, self.zxid, content))

    @property
    def _prefix(self):
        return f"{self.broker}.{self.settings.incarnation}-"

    def announce(self, address: tuple[str, int], kind: str, content: dict) -> None:
        """Send a request that is no step of the sender's, but may lead to one of the receiver's; recorded first."""
        session = self.requests.session
        self.clock, self.zxid = self.clock + 1, max(self.zxid, session.zxid)
        self.note(sends=f"{self._prefix}{self._messages + 1}", kind=kind, content=content, zxid=self.zxid,
                  clock=self.clock)
        self.tell(address, kind, content)

    def note(self, **line: object) -> None:
        """Record something that is no step."""
        self.recorder.write(line)

    def alive(self) -> bool:
        """Whether the process believes that its session is open."""
        return self.election.session == OPEN

    def _tell_intent(self):
        """The step in progress is about to write: say so first."""
        if not self._told:
            self._told = True
            session = self.requests.session
            self.recorder.write({"n": self.number + 1, "asks": self._intent, "session": f"{session.id:#x}",
                                 "zxid": max(self.zxid, session.zxid), "clock": self.clock + 1})

    def _text(self, part, name, arguments, answer=None):
        function = self._functions[part][name]
        shown = {"b": self.broker} | {key: value for key, value in arguments.items() if key != "fate"}
        label = f"{function.__module__.rsplit('.', 1)[-1]}.{name}"
        return str(Step(label, shown, None if answer is None else Answer.names[answer]))
