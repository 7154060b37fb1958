"""One process of a broker: its record, its seams, and how it takes a step.

A step runs a transition of the specification on the broker's own record; what the transition asks for is done by the
seams. Then the step is recorded, and only then what it sends goes out. Some steps are steps of both systems (see
`kafkaproof.spec.running.processes`): the partner follows with the answer that was given.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace

from kafkaproof.impl.broker.changes import Changes
from kafkaproof.impl.broker.naming import Known
from kafkaproof.impl.broker.rebinding import Calls, bound
from kafkaproof.impl.broker.record import lengthen, new_record, transition
from kafkaproof.impl.broker.recording import Recorder
from kafkaproof.impl.broker.replica import Disk, Offer, Plane
from kafkaproof.impl.broker.settings import Settings
from kafkaproof.impl.protocol.wire import ClientPort
from kafkaproof.impl.seams.between.messages import Message, Outgoing, Receiver, Reply
from kafkaproof.impl.seams.between.port import Port
from kafkaproof.impl.seams.between.post import OFFERED, Post, serves
from kafkaproof.impl.seams.network import PartitionNetwork
from kafkaproof.impl.seams.storage.log import LogFailed
from kafkaproof.impl.seams.zookeeper.broker_names import Names
from kafkaproof.impl.seams.zookeeper.election import ElectionZooKeeper
from kafkaproof.impl.seams.zookeeper.partition import PartitionZooKeeper
from kafkaproof.impl.seams.zookeeper.partition_numbers import NONE
from kafkaproof.impl.seams.zookeeper.partner_answers import Told
from kafkaproof.impl.seams.zookeeper.requests import NotAnswered, Requests
from kafkaproof.impl.seams.zookeeper.znodes import BrokerId
from kafkaproof.spec.cluster import data_plane
from kafkaproof.spec.election.broker_state import OPEN
from kafkaproof.spec.kafka.zookeeper import ANSWERED, NOTHING
from kafkaproof.spec.language.domains import Scope, record_of
from kafkaproof.spec.language.plain import Plain
from kafkaproof.spec.language.steps import Step, arguments_of, names
from kafkaproof.spec.partition import failover, faults
from kafkaproof.spec.partition.context import end_process
from kafkaproof.spec.partition.verdicts import alter_error, compared
from kafkaproof.spec.protocol.batches import read_header
from kafkaproof.spec.replica.network import DIVERGING, RECORD
from kafkaproof.spec.replica.zookeeper import Answer
from kafkaproof.spec.running.processes import (
    ELECTION,
    PARTITION,
    cluster,
    has_planes,
    named,
    part_of,
    partners_in_election,
    partners_in_partition,
    scopes,
)
from kafkaproof.spec.running.replica_messages import ASKED, FETCHED, WRITTEN, contents_of, departures

EPOCHS = 1_000_000
"""Enough for any run: no array of a running broker's record is sized by epochs."""
NEW_SESSION = names(faults.restart, failover.reopen)


class Process:
    """The process of a broker: `broker` is its number, and `ids` tells Kafka's ids. `election` and `partition` are its record,
    one part of it for each system; `planes` its replicas, where the variant has them. `leaders` tells where the leader of
    each partition listens, as far as it is known. `partitions`: for how many it has records. `stepped`: the partitions
    of which steps were taken, for whoever clears it.
    """

    def __init__(self, settings: Settings):
        self.settings, self.broker, self.places = settings, settings.number, settings.places
        self.ids = settings.broker_ids
        self.cluster = cluster(settings.variant)
        self.requests = Requests(settings.zookeeper, settings.session_timeout, Names(self.ids))
        self.clients = ClientPort(
            self.requests.inbox, settings.port, settings.offsets != NONE, has_planes(self.cluster.partition)
        )
        self.port = Port(
            self.requests.inbox,
            lambda request: request.epoch == self.election.epoch,
            serves,
            lambda data: self.clients.answer_of(data, OFFERED),
            settings.ordered,
            settings.inner_port,
        )
        self._make_seams()
        self._calls = Calls()
        self._functions = {part: bound(self.cluster.model(part), self._calls) for part in (ELECTION, PARTITION)}
        self.disk = Disk(settings, self.places)
        self.partitions = self.disk.count
        self.records = {part: self._new_record(part) for part in (ELECTION, PARTITION)}
        self.planes = [self._open(p) for p in range(self.partitions if has_planes(self.cluster.partition) else 0)]
        self._seats = {part: self._seat(part) for part in self.records}
        self.known = Known(self.network, self.planes, self.ids)
        self.post = Post(self.known, self.port, settings.spoken)
        self._changes = Changes(self.records | named(self.replicas))
        self.number = self.clock = self.zxid = self._messages = 0
        self.leaders: dict[int, Receiver] = {}
        self.stepped: set[int] = set()
        self.asked: dict[int, tuple[str, float]] = {}
        self.answer: int | None = None
        self.about_to_write: Callable[[str, str], None] = lambda part, name: None
        file = Path(settings.recording) if settings.recording else None
        self.recorder = Recorder(
            file, process=f"{settings.broker}.{settings.incarnation}", found=[plane.found() for plane in self.planes]
        )
        self.requests.before_write = self._tell_intent
        self.places.reach = self.reach

    def _make_seams(self):
        settings, guarded = self.settings, self.settings.variant == "fenced"
        shown = self.settings.shown or (self.clients.address[1], self.port.address[1])
        address = BrokerId(self.clients.address[0], *shown)
        self.election_zookeeper = ElectionZooKeeper(self.requests, address, guarded)
        self.election_zookeeper.clients = {self.broker: SimpleNamespace(session=1, fired=NOTHING)}
        self.partition_zookeeper = PartitionZooKeeper(
            self.requests, self.places, settings.brokers, has_planes(self.cluster.partition), settings.replicas
        )
        self.network = PartitionNetwork(self.broker, self.partition_zookeeper)

    def _scope(self, part: str) -> Scope:
        settings = self.settings
        return scopes(settings.brokers, settings.replicas, self.partitions, settings.min_isr, EPOCHS)[part]

    def _new_record(self, part: str) -> Plain:
        record = new_record(record_of(self.cluster.model(part).state, "brokers"), self._scope(part))
        if part == PARTITION:
            with transition():
                end_process(record)
        return record

    def _open(self, p: int) -> Plane:
        plane = self.disk.open(self.cluster.partition, self._scope(PARTITION), p)
        plane.log.before_write = self._tell_intent
        return plane

    def reach(self, p: int) -> None:
        """Have records for partitions up to number `p`: those that are new are as in a new process."""
        former = self.partitions
        if p < former:
            return
        self.partitions = p + 1
        lengthen(self.partition, self._new_record(PARTITION))
        if self.planes:
            self.planes += [self._open(q) for q in range(former, self.partitions)]
        self._changes.lengthen(dict(list(named(self.replicas).items())[former:]))

    @property
    def election(self):
        """The broker's record in *election*."""
        return self.records[ELECTION]

    @property
    def partition(self):
        """The broker's record in *partition*."""
        return self.records[PARTITION]

    def alter_error(self, message: Message) -> int:
        """The error with which this broker answers the AlterPartition in a message: NONE where it writes the ISR, or has."""
        controller, content = self.partition.controller, message.content
        p, leader_epoch, isr = content["p"], content["leader_epoch"], content["isr"]
        version = compared(content["version"], self.partition_zookeeper.version_of(p))
        return alter_error(controller, controller.partitions[p], message.sender, leader_epoch, isr, version)

    def transition(self, part: str, name: str) -> Callable | None:
        """The transition of this name in a part of the variant, None where it has none."""
        return self._functions[part].get(name)

    def has(self, function: Callable) -> bool:
        """Whether the variant has a transition: this one, or what stands for it."""
        return function.__name__ in self._functions[part_of(function)]

    def take(
        self, function: Callable, message: Message | None = None, offer: Offer | None = None, **arguments: int
    ) -> bool:
        """Take a step, if it is enabled: of a transition of the specification, as the variant has it.

        `message` is the one that it handles, `offer` what a producer wants appended. Raises NotAnswered where a read
        was not answered, and LogFailed where a log cannot be written: both without a step.
        """
        part, name = part_of(function), function.__name__
        self._intent = part, name, arguments
        self._told, self._offer = False, offer
        self.requests.begin()
        self.network.current = message
        zookeeper = self.election_zookeeper if part == ELECTION else self.partition_zookeeper
        plane = self.planes[arguments["p"]] if self.planes and "p" in arguments else None
        before = contents_of(plane.network) if plane else None
        if offer and plane:
            plane.clients.offer = offer
        try:
            if not self._run(part, name, zookeeper, arguments):
                return False
        except (NotAnswered, LogFailed):
            if self.recorder.on and self._changes.take():
                raise RuntimeError(f"{name} was not answered, and has changed the record: a defect") from None
            raise
        if plane:
            self.network.outbox += self._departures(plane, arguments["p"], before)
            self.stepped.add(arguments["p"])
        self.answer = self._calls.answer
        self._record(part, name, arguments, self.answer, self._calls.all)
        self._send()
        return True

    def _departures(self, plane: Plane, p: int, before) -> Iterator[Outgoing]:
        """What a step has put into a data plane's network; it is lost where no address is known."""
        message = self.network.current
        for kind, receiver, fields in departures(before, plane.network, self.broker):
            content, body = {"p": p, "fields": fields}, b""
            if kind == ASKED:
                named = message and message.kind == "LeaderAndIsr" and message.content["leader_address"]
                yield Outgoing(Receiver(receiver, *named) if named else self.leaders.get(p), kind, content)
                continue
            if kind == WRITTEN:
                content["version"] = self.partition_zookeeper.states[p][1]
            elif kind == FETCHED and fields["kind"] == RECORD:
                body = plane.log.read(fields["offset"])
            elif kind == FETCHED and fields["kind"] == DIVERGING:
                content["hw"] = plane.replica.hw
            yield Outgoing(message.reply, kind, content | {"answers": message.id}, body)

    def _run(self, part, name, zookeeper, arguments) -> bool:
        self._calls.clear()
        self.network.begin()
        seat, function = self._seats[part], self._functions[part][name]
        seat.zk = zookeeper
        values = {"b": self.broker, "delivery": ANSWERED, **arguments}
        with transition():
            return function(seat, *[values[argument] for argument in arguments_of(function)])

    def _seat(self, part):
        """The state of a cluster, as far as this broker reaches it."""
        records = {self.broker: self.records[part]}
        return SimpleNamespace(brokers=records, zk=None, network=self.network, planes=self.planes)

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
        if not self.recorder.on:
            return
        self.recorder.write(
            {
                "n": self.number,
                "part": part,
                "step": self._text(part, name, arguments, answer),
                "with": partners,
                "seams": calls,
                "zxids": self.requests.zxids,
                "at": self.requests.at,
                "zxid": self.zxid,
                "clock": self.clock,
                "session": f"{session.id:#x}",
                "took": message.id if message else None,
                **_came(message),
                "sent": [f"{self._prefix}{self._messages + 1 + i}" for i in range(len(self.network.outbox))],
                **self._served(name, arguments.get("p")),
                "partitions": self.partitions,
                "changed": self._changes.take(),
                "state": self._changes.state(),
            }
        )

    def _served(self, name, p) -> dict:
        """What a step did for clients: the batch that it appended, and those whose producers are answered."""
        place = {"place": self.planes[p].clients.position} if name == data_plane.consume.__name__ else {}
        acked = [id for plane in self.planes for id, enough, _ in plane.clients.answered if enough]
        offered = {"record": read_header(self._offer.data).crc} if self._offer else {}
        return place | offered | ({"acked": acked} if acked else {})

    @property
    def replicas(self) -> list:
        """The records of the replicas."""
        return [plane.replica for plane in self.planes]

    def _let_partners_follow(self, part, name, answer) -> list[str]:
        """Run the steps of the other part that go with a step; their texts."""
        if part == ELECTION:
            other, found = PARTITION, partners_in_partition(name, answer, self.partition)
        else:
            declared = self.cluster.partition.transition(name)
            other, found = ELECTION, partners_in_election(declared, answer, self.partition, self.requests.refused)
        for partner, its_answer in found:
            if partner == failover.elect.__name__:
                self.partition_zookeeper.begin_term(self.election.epoch, self.election.epoch_version)
            if partner in NEW_SESSION:
                self.partition_zookeeper.registration = self.election_zookeeper.registration
            told = Told(its_answer, self.election.epoch, partner not in NEW_SESSION)
            if not self._run(other, partner, told, {"hw": max((each.hw for each in self.replicas), default=0)}):
                raise RuntimeError(
                    f"{name} has no partner {partner} in {other}: a defect of kafkaproof.spec.running.processes"
                )
        return [f"{other} {self._text(other, partner, {}, its_answer)}" for partner, its_answer in found]

    def _send(self):
        mail = [(outgoing.to, self._message(*outgoing[1:])) for outgoing in self.network.outbox]
        for _, message in mail:
            if message.kind == ASKED:
                self.asked[message.content["p"]] = message.id, time.monotonic()
        self.network.outbox = []
        self.post.send(mail)
        for plane in self.planes:
            plane.answer_producers()

    def _message(self, kind: str, content: dict, body: bytes = b"") -> Message:
        """The next message of this process."""
        self._messages += 1
        id = f"{self._prefix}{self._messages}"
        return Message(kind, id, self.broker, self.clock, self.zxid, content, body)

    def tell(self, to: Receiver | Reply | None, kind: str, content: dict, body: bytes = b"") -> str:
        """Send a message at once, whether or not a step sends it; returns its id. It is lost where no address is
        known.
        """
        message = self._message(kind, content, body)
        self.post.send([(to, message)])
        return message.id

    @property
    def _prefix(self):
        return f"{self.settings.broker}.{self.settings.incarnation}-"

    def announce(self, to: Receiver | Reply | None, kind: str, content: dict, took: Message | None = None) -> str:
        """Record and send a message that is no step of the sender's, but may lead to a step of the receiver's.

        `took` is the message that it answers. Returns its id.
        """
        session = self.requests.session
        if took:
            self.clock, self.zxid = max(self.clock, took.clock), max(self.zxid, took.zxid)
        self.clock, self.zxid = self.clock + 1, max(self.zxid, session.zxid)
        self.note(
            sends=f"{self._prefix}{self._messages + 1}",
            kind=kind,
            content=content,
            zxid=self.zxid,
            clock=self.clock,
            answers=took and took.id,
            **_came(took),
        )
        return self.tell(to, kind, content)

    def note_request(self, kind: str, content: dict) -> Message:
        """Record what a client asks the controller for; as a message, for the step that deals with it."""
        session = self.requests.session
        self.clock, self.zxid = self.clock + 1, max(self.zxid, session.zxid)
        message = self._message(kind, content)
        self.note(sends=message.id, kind=kind, content=content, zxid=self.zxid, clock=self.clock, answers=None)
        return message

    def note(self, **line: object) -> None:
        """Record something that is no step."""
        self.recorder.write(line)

    def alive(self) -> bool:
        """Whether the process believes that its session is open."""
        return self.election.session == OPEN

    def _tell_intent(self):
        """Before its first write, record what the step in progress is about to do."""
        if not self._told:
            self._told = True
            part, name, arguments = self._intent
            self.about_to_write(part, name)
            session = self.requests.session
            message = self.network.current
            known = [(self.clock, max(self.zxid, session.zxid))] + ([(message.clock, message.zxid)] if message else [])
            offered = {"record": read_header(self._offer.data).crc} if self._offer else {}
            self.recorder.write(
                {
                    "n": self.number + 1,
                    "asks": f"{part} {self._text(part, name, arguments)}",
                    "session": f"{session.id:#x}",
                    "zxid": max(zxid for _, zxid in known),
                    "clock": 1 + max(clock for clock, _ in known),
                    "took": message and message.id,
                    **_came(message),
                    **offered,
                }
            )

    def _text(self, part, name, arguments, answer=None):
        function = self._functions[part][name]
        shown = {"b": self.broker} | {key: value for key, value in arguments.items() if key != "delivery"}
        label = f"{function.__module__.rsplit('.', 1)[-1]}.{name}"
        return str(self.ids.with_ids(Step(label, shown, None if answer is None else Answer.names[answer])))


def _came(message: Message | None) -> dict:
    """What a message says that no recording tells of, as its sender is none of ours."""
    return {"came": {"kind": message.kind, "content": message.content}} if message and message.is_foreign else {}
