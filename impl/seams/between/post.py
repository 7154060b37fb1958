"""Between the messages of steps and the requests that carry them: what a step sends to one broker is one request, and a
request is answered when all its messages are dealt with.

All of it runs in the thread that takes steps. What comes from a broker that is none of ours has no stamp: its messages
get ids here, of a process that there is not (`FOREIGN`).
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from functools import partial
from typing import Any, NamedTuple

from kafkaproof.impl.protocol.inner_frames import NO_STAMP, answer_frame, request_frame
from kafkaproof.impl.seams.between.control_apis import UNKNOWN, LeaderAndIsr, StopReplica
from kafkaproof.impl.seams.between.data_apis import AlterPartition, Fetch
from kafkaproof.impl.seams.between.messages import FOREIGN, Message, Outcome, Receiver, Reply
from kafkaproof.impl.seams.between.metadata_apis import ControlledShutdown, UpdateMetadata
from kafkaproof.impl.seams.between.naming import Api, Naming
from kafkaproof.impl.seams.between.port import Answered, Arrived, Port, Request
from kafkaproof.impl.seams.between.producer_apis import AllocateProducerIds
from kafkaproof.impl.seams.zookeeper.requests import NotAnswered
from kafkaproof.impl.seams.zookeeper.session import Expired

CONTROL: tuple[Api, ...] = (LeaderAndIsr(), UpdateMetadata(), StopReplica())
"""What a controller asks: all of it on one lane, so that it arrives in order."""
UPDATES = UpdateMetadata.kinds
"""Of these messages each is a request of its own."""
APIS: tuple[Api, ...] = (*CONTROL, ControlledShutdown(), AlterPartition(), Fetch(), AllocateProducerIds())
BY_KIND = {kind: api for api in APIS for kind in api.kinds}
BY_KEY = {api.key: api for api in APIS}
OFFERED = {api.key: api.served for api in APIS}
"""The versions in which they are read."""
REMEMBERED = 256
"""How many requests are remembered, so that one that is sent again is not handled again."""


def serves(key: int, version: int) -> bool:
    """Whether a request is one between brokers."""
    return key in BY_KEY and BY_KEY[key].served[0] <= version <= BY_KEY[key].served[1]


class Place(NamedTuple):
    """The place of a message in the answer to its request."""

    request: Incoming
    place: int

    def give(self, outcome: Outcome) -> None:
        """As messages.Reply."""
        self.request.give(self.place, outcome)


class Incoming:
    """A request that is to be answered; `outcomes` has for each of its parts what is answered, None as long as nothing is."""

    def __init__(self, api: Api, arrived: Arrived, naming: Naming):
        self.api, self.frame, self._naming = api, arrived.frame, naming
        self.waiting = [arrived]
        self.outcomes: list[Any] = []

    def give(self, place: int, outcome: Outcome) -> None:
        """Answer a part, once; the last one lets the answer go out."""
        if self.outcomes[place] is None:
            self.outcomes[place] = outcome
            self.answer_if_done()

    def answer_if_done(self) -> None:
        """Let the answer go out, to all who wait for it, if it is there."""
        if any(outcome is None for outcome in self.outcomes):
            return
        fields = self.api.answer(self._naming, self.frame, self.outcomes)
        given = [outcome for outcome in self.outcomes if isinstance(outcome, Message)]
        ids = [outcome.id if isinstance(outcome, Message) else None for outcome in self.outcomes]
        stamp = NO_STAMP if not self.frame.stamp else stamp_of(ids, given)
        waiting, self.waiting = self.waiting, []
        for each in waiting:
            number = each.frame.number
            each.connection.answer(answer_frame(self.api.key, self.frame.version, number, fields, stamp))


def stamp_of(ids: list[str | None], messages: list[Message], **more: object) -> dict:
    """What our recordings need of a frame: the ids of its messages, and how much their sender knew."""
    known = {name: max((getattr(each, name) for each in messages), default=0) for name in ("clock", "zxid")}
    return {"ids": ids, **known, **more}


class Post:
    """The mail of one process, over its `port`; `spoken` is the inter.broker.protocol.version of what it asks."""

    def __init__(self, naming: Naming, port: Port, spoken: str):
        self._naming, self._port, self._spoken = naming, port, spoken
        self._seen: OrderedDict[tuple, Incoming] = OrderedDict()
        self._foreign = 0

    # What is sent

    def send(self, outgoing: Iterable[tuple[Receiver | Reply | None, Message]]) -> None:
        """Send what a step sends: answers, and requests, those to one broker together where one request can carry them."""
        batches: list[tuple[Receiver, list[Message]]] = []
        last: dict[Receiver, list[Message]] = {}
        for to, message in outgoing:
            if isinstance(to, Receiver):
                before = last.get(to)
                if before and self._goes_with(before[0], message):
                    before.append(message)
                else:
                    last[to] = [message]
                    batches.append((to, last[to]))
            elif to is not None:
                to.give(message)
        for to, messages in batches:
            self._ask(to, messages)

    def _goes_with(self, first: Message, message: Message) -> bool:
        """Whether two messages go out in one request: not where each is to be answered by itself, in any order."""
        api = BY_KIND[message.kind]
        alike = not self._port.pipelined and api in CONTROL and api.kinds != UPDATES and BY_KIND[first.kind] is api
        return alike and all(first.content[name] == message.content[name] for name in ("epoch", "broker_epoch"))

    def _ask(self, to: Receiver, messages: list[Message]) -> None:
        api = BY_KIND[messages[0].kind]
        asked = api.request(self._naming, messages)
        stamp = stamp_of([each.id for each in asked.messages], messages, p=asked.numbers)
        version, client = self._version(api, messages), str(self._naming.own_id)
        frame = partial(_frame, api.key, version, client, asked.fields, stamp)
        is_control = api in CONTROL
        epoch = messages[0].content["epoch"] if is_control else 0
        self._port.ask(Request(to, lane_of(messages[0]), api.key, version, asked, frame, is_control, epoch))

    def _version(self, api: Api, messages: list[Message]) -> int:
        """The version in which a request is written: one with names where a topic has no id that is known."""
        version, naming = api.versions[self._spoken], self._naming
        if version <= api.named or all(naming.id_of(naming.place_of(each.content["p"])[0]) for each in messages):
            return version
        return api.named

    def is_under_way(self, to: Receiver, kind: str, p: int) -> bool:
        """Whether a request of a kind about a partition has not been answered yet, and is not lost."""
        return self._port.is_busy(to.address, (kind, p))

    # What arrives

    def read(self, item: Arrived | Answered) -> list[Message]:
        """The messages that a request or an answer carries; none of a request that was sent again. Where a request names a
        partition that ZooKeeper cannot be asked about now, its connection ends: the sender asks again.
        """
        return self._messages_of(item) if isinstance(item, Arrived) else self._answers_in(item)

    def _messages_of(self, arrived: Arrived) -> list[Message]:
        frame, api = arrived.frame, BY_KEY[arrived.frame.api]
        ids = frame.stamp.get("ids")
        if ids and api in CONTROL and (seen := self._seen.get(tuple(ids))):
            seen.waiting.append(arrived)
            seen.answer_if_done()
            return []
        try:
            sender, parts = api.read(self._naming, frame)
        except (Expired, NotAnswered):
            arrived.connection.hang_up()
            return []
        incoming = Incoming(api, arrived, self._naming)
        if ids and api in CONTROL:
            self._seen[tuple(ids)] = incoming
            if len(self._seen) > REMEMBERED:
                self._seen.popitem(last=False)
        incoming.outcomes = [UNKNOWN if part.content is None else None for part in parts]
        incoming.answer_if_done()
        return [
            self._message(sender, frame, place, part.kind, part.content, b"", Place(incoming, place))
            for place, part in enumerate(parts)
            if part.content is not None
        ]

    def _answers_in(self, answered: Answered) -> list[Message]:
        request, frame = answered.request, answered.frame
        ids = frame.stamp.get("ids")
        return [
            self._message(request.receiver.broker, frame, place, kind, content, body)
            for place, kind, content, body in BY_KEY[request.api].returned(self._naming, request.asked, frame)
            if ids is None or ids[place]
        ]

    def _message(self, sender, frame, place, kind, content, body=b"", reply=None) -> Message:
        stamp = frame.stamp
        if stamp:
            return Message(kind, stamp["ids"][place], sender, stamp["clock"], stamp["zxid"], content, body, reply)
        self._foreign += 1
        return Message(
            kind, f"{self._naming.brokers.id(sender)}.{FOREIGN}-{self._foreign}", sender, 0, 0, content, body, reply
        )


def lane_of(message: Message) -> tuple:
    """The lane on which a message travels."""
    if BY_KIND[message.kind] in CONTROL:
        return ("control",)
    return message.kind, message.content.get("p", 0)


def _frame(key: int, version: int, client: str, fields: dict, stamp: dict, number: int) -> bytes:
    return request_frame(key, version, number, client, fields, stamp)
