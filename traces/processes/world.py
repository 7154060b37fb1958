"""The whole cluster in both systems of the specification, and single steps of it, with what they ask and send."""

from __future__ import annotations

from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass
from typing import Iterator

from spec.cluster.control import is_refused
from spec.cluster.faults import checkpointed
from spec.language.digest import EMPTY, digest, fields_of, link
from spec.language.domains import NOBODY
from spec.language.model import Property, Transition
from spec.language.plain import Plain, new_state
from spec.language.rebind import rebind
from spec.language.sets import contains, difference
from spec.partition.creation_zookeeper import leave_unused
from spec.planes import ASKED, departures
from spec.planes import fields_of as fields_in
from spec.processes import ELECTION, PARTITION, Cluster, has_planes, is_lost, named, scopes
from spec.replica.broker import LEADER, enough_in_sync
from spec.replica.clients.network import commit
from spec.replica.network import is_request
from spec.replica.zookeeper import Answer
from spec.seams import answers_of, seams_of
from spec.zookeeper import ANSWERED, LOST
from traces.processes.messages import REFUSED, Sent, delivered

SENDING = ("put_request", "put_request_with_isr", "put_error")


@dataclass(frozen=True)
class Outcome:
    """A step that was taken: the answer that it got, what it sent, the batches whose producers it answered, and the
    properties of steps that it breaks.
    """

    answer: str | None
    sent: tuple[Sent, ...]
    acked: tuple[int, ...]
    broken: tuple[Property, ...]


class World:
    """Both states of a cluster, at a scope that holds `epochs` and, in each partition, `log` records.

    `compared`: whether what is compared of a broker is also its replicas. At first no topic has the last `room`
    partitions.
    """

    def __init__(self, cluster: Cluster, sizes: dict[str, int], epochs: int, log: int = 0, room: int = 0):
        self.cluster, self._sizes = cluster, sizes
        self.scopes = scopes(*sizes.values(), epochs, log)
        self._names: list[list[int]] = [[] for _ in range(sizes["partitions"])]
        self._chains = [self._chain_in(p) for p in range(sizes["partitions"])]
        self._message: Sent | None = None
        self.compared = True
        self.states: dict[str, Plain] = {}
        self._spare: dict[tuple, Plain] = {}
        self._functions: dict[str, dict[str, Transition]] = {}
        self._properties = {}
        self.registrations = dict.fromkeys(range(sizes["brokers"]), 0)
        for part in (ELECTION, PARTITION):
            model = cluster.model(part)
            self.states[part] = new_state(model.state, self.scopes[part])
            model.initial(self.states[part])
            if part == PARTITION:
                leave_unused(self.states[part].zk, sizes["partitions"] - room)
            self._functions[part] = {t.function.__name__: self._watched(t) for t in model.transitions}
            self._properties[part] = [p for p in model.properties if p.kind in ("always", "step")]
        for broker in range(sizes["brokers"]):
            self.take(PARTITION, "crash", b=broker)
            self.take(PARTITION, "expire_orphan", b=broker)

    def _watched(self, transition: Transition) -> Transition:
        """A transition that notes what it asks and what it sends."""
        answering = answers_of(transition.function)
        watched = {each: self._watch(each, each in answering)
                   for each in seams_of(transition.function) | answering
                   if each in answering or each.__name__ in SENDING}
        watched |= {commit: self._acknowledging(commit), is_refused: self._hears_refusal, checkpointed: _as_found}
        return Transition(rebind(transition.function, watched))

    def _watch(self, function, answers):
        name = function.__name__

        def call(*arguments):
            answer = LOST if answers and is_lost(function, self._fate) else function(*arguments)
            if answers:
                self._answer = answer
            elif name == "put_error":
                self._errors.append(arguments[1:])
            else:
                self._put.append(arguments[1:])
            return answer

        return call

    def _hears_refusal(self, s, b, p, sender, isr) -> bool:
        """A leader hears that controller `b` has refused its ISR: later than that was so."""
        found = self._message
        return found is not None and (found.kind, found.sender, found.content["fields"]["isr"]) == (REFUSED, b, isr)

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

    def replicas(self, broker: int) -> list[Plain]:
        """The replicas of a broker, where there are data planes."""
        planes = getattr(self.states[PARTITION], "planes", [])
        return [plane.brokers[broker] for plane in planes]

    def digest(self, broker: int) -> str:
        """The hash of a broker's record."""
        return digest(self._records(broker), self._chains)

    def fields(self, broker: int) -> dict[str, int | str]:
        """A broker's record, field by field."""
        return fields_of(self._records(broker), self._chains)

    def _records(self, broker):
        replicas = self.replicas(broker) if self.compared else []
        return dict(zip((ELECTION, PARTITION), self.record(broker))) | named(replicas)

    def enabled(self, part: str, name: str, **arguments: int) -> bool:
        """Whether a step is enabled."""
        return self._after(part, name, arguments) is not None

    def take(self, part: str, name: str, record: int | None = None, **arguments: int) -> Outcome | None:
        """Take a step; None, and no change, when it is not enabled. `record` is the id of a batch that is offered."""
        after = self._after(part, name, arguments)
        if after is None:
            return None
        if record is not None and after.planes[arguments["p"]].clients.next_record > len(self._names[arguments["p"]]):
            self._names[arguments["p"]].append(record)
        before, self.states[part] = self.states[part], after
        self._spare.clear()
        if name in ("restart", "reopen") and part == PARTITION:
            self.registrations[arguments["b"]] += 1
        if part == ELECTION:
            self._agree()
        answer = None if self._answer is None else Answer.names[self._answer]
        sent = tuple(self._sent(part, arguments, before))
        return Outcome(answer, sent, tuple(self._names[p][id] for p, id in self._acked),
                       tuple(self._broken(part, name, before, after, arguments)))

    def _after(self, part, name, arguments) -> Plain | None:
        """The state after a step, None when it is not enabled; a copy that a step has refused is used again."""
        reach = part, arguments.get("b"), arguments.get("p"), arguments.get("sender")
        after = self._spare.pop(reach, None) or self._copy(*reach)
        self._answer, self._put, self._errors, self._acked, self._after_step = None, [], [], [], after
        transition = self._functions[part][name]
        values = {"fate": ANSWERED, "hw": 0, **arguments}
        self._fate = values["fate"]
        if transition.function(after, *(values[argument] for argument in transition.arguments)):
            return after
        self._spare[reach] = after
        return None

    def _copy(self, part: str, b: int | None, p: int | None, sender: int | None) -> Plain:
        """A copy of what a step of broker `b` (and `sender`) may write, all else shared.

        A step about partition `p` leaves other data planes alone.
        """
        state = self.states[part]
        if b is None or not hasattr(state, "planes"):
            return state.copy()
        after = copy(state)
        after.zk, after.network = state.zk.copy(), state.network.copy()
        after.brokers = [broker.copy() if i == b else broker for i, broker in enumerate(state.brokers)]
        after.planes = [_copy_plane(plane, (b, sender)) if p in (None, i) else plane
                        for i, plane in enumerate(state.planes)]
        return after

    def _sent(self, part, arguments, before) -> Iterator[Sent]:
        if part != PARTITION:
            return
        for epoch, p, leader, leader_epoch, isr, to in self._put:
            content = {"epoch": epoch, "p": p, "leader": leader, "leader_epoch": leader_epoch, "isr": isr}
            for r in range(self._sizes["brokers"]):
                if contains(to, r):
                    yield Sent("LeaderAndIsr", arguments["b"], r, content, self.registrations[r])
        for epoch, p, b in self._errors:
            yield Sent("StorageError", b, None, {"epoch": epoch, "p": p})
        if has_planes(self.cluster.partition) and "p" in arguments:
            p = arguments["p"]
            networks = [state.planes[p].network for state in (before, self.states[PARTITION])]
            for kind, receiver, fields in departures(*networks, arguments["b"]):
                yield Sent(kind, arguments["b"], receiver, {"p": p, "fields": fields})

    def _broken(self, part, name, before, after, arguments) -> Iterator[Property]:
        """The properties of steps that a step breaks."""
        transition = self._functions[part][name]
        values = [{"fate": ANSWERED, "hw": 0, **arguments}[argument] for argument in transition.arguments]
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
        self._message = message
        with delivered(lambda: self.states[PARTITION], message, broker):
            self._spare.clear()
            yield
        self._spare.clear()
        self._message = None

    def may_send(self, kind: str, broker: int, content: dict, answered: Sent | None) -> bool:
        """Whether a broker may send a message that is no step of its own; `answered` is the one that it answers."""
        state = self.states[PARTITION]
        match kind:
            case "ControlledShutdown":
                return contains(state.network.shutdowns, broker)
            case "AlterPartition":
                replica = state.planes[content["p"]].brokers[broker]
                return (replica.state, replica.leader_epoch, replica.pending) == (
                    LEADER, content["leader_epoch"], content["isr"])
            case "IsrRefused":
                with delivered(lambda: state, answered, broker):
                    return is_refused(state, broker, content["p"], answered.sender, content["fields"]["isr"])
            case "Fetch":
                return self._asks_again(broker, content["p"], content["fields"])
        return False

    def _asks_again(self, broker: int, p: int, fields: dict) -> bool:
        """Whether a follower may send its request again: it is the present one, which may have been answered since."""
        message = self.states[PARTITION].planes[p].network.messages[broker]
        if fields_in(message) != fields:
            self.take(PARTITION, "send_request", b=broker, p=p)
            message = self.states[PARTITION].planes[p].network.messages[broker]
        return fields_in(message) == fields

    def first_request(self, broker: int, p: int) -> tuple[Sent, ...]:
        """What a new follower asks at once although a request of the former process may be on its way still.

        In the model it asks in a step of its own, unless that request was the same.
        """
        self.take(PARTITION, "send_request", b=broker, p=p)
        plane = self.states[PARTITION].planes[p]
        message, replica = plane.network.messages[broker], plane.brokers[broker]
        if not is_request(plane.network, broker) or message.epoch != replica.leader_epoch:
            return ()
        return (Sent(ASKED, broker, message.peer, {"p": p, "fields": fields_in(message)}),)

    # Data planes

    def batch(self, broker: int, p: int, place: int) -> int:
        """The id of a batch in the log of a replica, as the process named it."""
        return self._names[p][self.replicas(broker)[p].log.slots[place].id]

    def chain(self, broker: int, p: int) -> str:
        """The chain of a replica's log, each record named as the process named it."""
        return self._chains[p](self.states[PARTITION].planes[p].brokers[broker].log)

    def _chain_in(self, p):
        def chain(log):
            names, found = self._names[p], EMPTY
            for entry in log.slots[:log.length]:
                found = link(found, entry.epoch, names[entry.id])
            return found

        return chain

    def _acknowledging(self, commit):
        """`commit`, which notes the producers that it answers."""
        def call(clients, zk, b, broker):
            waited = broker.waiting
            commit(clients, zk, b, broker)
            p = next(p for p, plane in enumerate(self._after_step.planes) if plane.clients is clients)
            if enough_in_sync(broker):
                answered = difference(waited, broker.waiting)
                self._acked += [(p, id) for id in range(answered.bit_length()) if contains(answered, id)]

        return call


def _as_found(replica, hw):
    """The high watermark that a new process finds: each as it was found, before the step."""
    return replica.hw


def _copy_plane(plane, writers):
    after = copy(plane)
    after.zk, after.network, after.clients = plane.zk.copy(), plane.network.copy(), plane.clients.copy()
    after.brokers = [replica.copy() if b in writers else replica for b, replica in enumerate(plane.brokers)]
    return after
