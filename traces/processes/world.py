"""The whole cluster in both systems of the specification, and single steps of it, with what they ask and send.

The model's network keeps of the requests to a broker only the newest, and of a leader's wishes that it has some. In a
recording each message is known by itself: it is delivered with what it said, whatever was sent since.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import Iterator, NamedTuple

from spec.processes import ELECTION, PARTITION, Cluster, as_its_client_hears, scopes
from spec.language.digest import digest, fields_of
from spec.language.domains import NOBODY
from spec.language.model import Property, Transition
from spec.language.plain import Plain, new_state
from spec.language.rebind import rebind
from spec.language.sets import contains, with_member, without_member
from spec.seams import asks, seams_of
from spec.zookeeper import ANSWERED, Answer


class Sent(NamedTuple):
    """A message on its way: its kind, from whom, to whom (None: to the controller), and what it says."""

    kind: str
    sender: int
    receiver: int | None
    content: dict
    registrations: int = 0


@dataclass(frozen=True)
class Outcome:
    """A step that was taken: the answer that it got, what it sent, and the properties of steps that it breaks."""

    answer: str | None
    sent: tuple[Sent, ...]
    broken: tuple[Property, ...]


class World:
    """Both states of a cluster, at a scope that holds `epochs`."""

    def __init__(self, cluster: Cluster, sizes: dict[str, int], epochs: int):
        self.cluster, self._sizes = cluster, sizes
        self._scopes = scopes(*sizes.values(), epochs)
        self.states: dict[str, Plain] = {}
        self._spare: dict[str, Plain] = {}
        self._functions: dict[str, dict[str, Transition]] = {}
        self._properties = {}
        self.registrations = dict.fromkeys(range(sizes["brokers"]), 0)
        for part in (ELECTION, PARTITION):
            model = cluster.model(part)
            self.states[part] = new_state(model.state, self._scopes[part])
            model.initial(self.states[part])
            self._functions[part] = {t.function.__name__: self._watched(t) for t in model.transitions}
            self._properties[part] = [p for p in model.properties if p.kind in ("always", "step")]
        for broker in range(sizes["brokers"]):
            self.take(PARTITION, "crash", b=broker)
            self.take(PARTITION, "expire_orphan", b=broker)

    def _watched(self, transition: Transition) -> Transition:
        """A transition that notes what it asks and what it sends."""
        watched = {seam: self._watch(seam) for seam in seams_of(transition.function)}
        return Transition(rebind(transition.function, watched))

    def _watch(self, seam):
        def call(*arguments):
            answer = seam(*arguments)
            if asks(seam):
                answer = self._answer = as_its_client_hears(answer, self._fate)
            elif seam.__name__ == "put_request":
                self._put.append(arguments[1:])
            elif seam.__name__ == "put_error":
                self._errors.append(arguments[1:])
            return answer

        return call

    def has(self, part: str, name: str) -> bool:
        """Whether a part has a transition of this name."""
        return name in self._functions[part]

    def follow(self, part: str, names: list[str], broker: int, fate: int) -> Iterator[Outcome | None]:
        """Take the steps of a part that go with one of the other.

        The single step that an election is in *partition* took several in *election*: what ZooKeeper held of
        /controller and its epoch before the first of them is what it goes by.
        """
        if "elect" in names:
            zk = self.states[PARTITION].zk
            zk.controller, zk.epoch = NOBODY, self.record(broker)[0].epoch - 1
            self._spare.clear()
        for name in names:
            yield self.take(part, name, b=broker, fate=fate)
        self._agree()

    def _agree(self) -> None:
        """What ZooKeeper holds of /controller and its epoch is as *election* has it."""
        zk, elected = self.states[PARTITION].zk, self.states[ELECTION].zk
        zk.controller, zk.epoch = elected.controller, max(elected.epoch, 0)
        self._spare.clear()

    def label(self, part: str, name: str) -> str:
        """A transition's name with its module."""
        return self._functions[part][name].name

    def record(self, broker: int) -> tuple[Plain, Plain]:
        """What a broker knows, in both parts."""
        return self.states[ELECTION].brokers[broker], self.states[PARTITION].brokers[broker]

    def digest(self, broker: int) -> str:
        """The hash of a broker's record."""
        return digest(*self.record(broker))

    def fields(self, broker: int) -> dict[str, int]:
        """A broker's record, field by field."""
        return fields_of(dict(zip((ELECTION, PARTITION), self.record(broker))))

    def enabled(self, part: str, name: str, **arguments: int) -> bool:
        """Whether a step is enabled."""
        return self._after(part, name, arguments) is not None

    def take(self, part: str, name: str, **arguments: int) -> Outcome | None:
        """Take a step; None, and no change, when it is not enabled."""
        after = self._after(part, name, arguments)
        if after is None:
            return None
        before, self.states[part] = self.states[part], after
        self._spare.pop(part, None)
        if name in ("restart", "reopen") and part == PARTITION:
            self.registrations[arguments["b"]] += 1
        if part == ELECTION:
            self._agree()
        answer = None if self._answer is None else Answer.names[self._answer]
        sent = tuple(self._sent(part, arguments))
        return Outcome(answer, sent, tuple(self._broken(part, name, before, after, arguments)))

    def _after(self, part, name, arguments) -> Plain | None:
        """The state after a step, None when it is not enabled; a copy that a step has refused is used again."""
        after = self._spare.pop(part, None) or self.states[part].copy()
        self._answer, self._put, self._errors = None, [], []
        transition = self._functions[part][name]
        values = {"fate": ANSWERED, **arguments}
        self._fate = values["fate"]
        if transition.function(after, *(values[argument] for argument in transition.arguments)):
            return after
        self._spare[part] = after
        return None

    def _sent(self, part, arguments) -> Iterator[Sent]:
        if part != PARTITION:
            return
        for epoch, p, leader, leader_epoch, _, to in self._put:
            content = {"epoch": epoch, "p": p, "leader": leader, "leader_epoch": leader_epoch}
            for r in range(self._sizes["brokers"]):
                if contains(to, r):
                    yield Sent("LeaderAndIsr", arguments["b"], r, content, self.registrations[r])
        for epoch, p, b in self._errors:
            yield Sent("StorageError", b, None, {"epoch": epoch, "p": p})

    def _broken(self, part, name, before, after, arguments) -> Iterator[Property]:
        """The properties of steps that a step breaks."""
        transition = self._functions[part][name]
        values = [{"fate": ANSWERED, **arguments}[argument] for argument in transition.arguments]
        for prop in self._properties[part]:
            concerns = prop.kind == "step" and prop.concerns(transition)
            if concerns and not prop.predicate(before, after, *(values if prop.of else ())):
                yield prop

    def broken(self, part: str) -> Iterator[Property]:
        """The properties of states that do not hold now."""
        return (p for p in self._properties[part] if p.kind == "always" and not p.predicate(self.states[part]))

    @contextmanager
    def arriving(self, message: Sent | None, broker: int) -> Iterator[None]:
        """Let a message that was sent be on its way to a broker, while a step is taken."""
        with self._shown(message, broker):
            self._spare.clear()
            yield
        self._spare.clear()

    @contextmanager
    def _shown(self, message, broker):
        """Put what a message says into the model's network, and afterwards what the model keeps of it."""
        if message is None:
            yield
            return
        content, network = message.content, self.states[PARTITION].network
        match message.kind:
            case "LeaderAndIsr":
                request = network.requests[content["epoch"]][content["p"]]
                kept = request.leader, request.leader_epoch, request.to
                request.leader, request.leader_epoch = content["leader"], content["leader_epoch"]
                request.to = with_member(request.to, broker)
                yield
                self._keep_newest(message, kept, broker)
            case "StorageError":
                request = network.requests[content["epoch"]][content["p"]]
                request.errors = with_member(request.errors, message.sender)
                yield
            case "AlterPartition":
                kept = network.wishes[content["p"]][message.sender]
                network.wishes[content["p"]][message.sender] = content["leader_epoch"]
                yield
                self.states[PARTITION].network.wishes[content["p"]][message.sender] = kept
            case "ControlledShutdown":
                kept = network.shutdowns
                network.shutdowns = with_member(kept, message.sender)
                yield
                self.states[PARTITION].network.shutdowns = kept

    def _keep_newest(self, message, kept, broker):
        """Put back what the model keeps of a request; it is delivered where that is what arrived."""
        content = message.content
        request = self.states[PARTITION].network.requests[content["epoch"]][content["p"]]
        request.leader, request.leader_epoch, request.to = kept
        if kept[:2] == (content["leader"], content["leader_epoch"]):
            request.to = without_member(request.to, broker)
