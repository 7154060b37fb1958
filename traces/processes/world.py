"""The whole cluster in both systems of the specification, and single steps of it, with what they ask and send."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from spec.cluster.control import is_refused
from spec.cluster.faults import checkpointed
from spec.cluster.zookeeper import is_not_older
from spec.language.digest import EMPTY, link
from spec.language.domains import NOBODY, values
from spec.language.model import Property, Transition
from spec.language.plain import Plain, new_state
from spec.language.rebind import rebind
from spec.language.sequences import push
from spec.language.sets import contains, difference, everybody, intersection, with_member
from spec.partition.context import NO_EPOCH
from spec.partition.creation_zookeeper import leave_unused
from spec.partition.deletion.zookeeper import group_topics
from spec.partition.reassignment.faults import put_target
from spec.partition.zookeeper import as_they_are, assigned, known_as_they_are
from spec.planes import departures
from spec.processes import ELECTION, PARTITION, Cluster, has_planes, is_lost, named, scopes
from spec.replica.broker import enough_in_sync
from spec.replica.clients.network import commit
from spec.replica.zookeeper import Answer
from spec.seams import answers_of, seams_of
from spec.zookeeper import ANSWERED, CHANGED, DELETED, LOST, OK
from traces.processes.compared import Compared, Records
from traces.processes.knowledge import Knowledge
from traces.processes.messages import REFUSED, Sent, delivered
from traces.processes.verdicts import PLANES, Verdicts
from traces.processes.watched import Journal, before, lengthen, undo, watched

SPARE = 2
GIVEN = frozenset({"fate", "hw"})
"""Arguments that no process records."""
NEW_SESSION, LISTING = ("restart", "reopen"), ("load_brokers", "broker_change")
SENDING = ("put_request", "put_request_with_isr", "put_error", "put_stop", "put_removal", "put_stopped")

STOPS = ("put_stop", "put_removal")


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

    `listed`: the replicas that a request for a reassignment lists, when an operator makes one.
    `compared`: whether what is compared of a broker is also its replicas. At first no topic has the last `room`
    partitions; `offsets` is a topic of its own.
    """

    def __init__(self, cluster: Cluster, sizes: dict[str, int], epochs: int, log: int = 0, room: int = 0,
                 compared: bool = True, offsets: int = -1):
        self.cluster, self._sizes = cluster, sizes
        self.scopes = scopes(*sizes.values(), epochs, log)
        self._names: list[list[int]] = [[] for _ in range(sizes["partitions"])]
        self._chains = [self._chain_in(p) for p in range(sizes["partitions"])]
        self._message: Sent | None = None
        self.states: dict[str, Plain] = {}
        self._journals: dict[str, Journal] = {ELECTION: {}, PARTITION: {}}
        self._verdicts: dict[str, Verdicts] = {}
        self._records: list[Records] = []
        self._functions: dict[str, dict[str, Transition]] = {}
        self.known = Knowledge(sizes["brokers"], sizes["partitions"])
        self._told = 0
        self.listed: list[int] = []
        for part in (ELECTION, PARTITION):
            model = cluster.model(part)
            state = new_state(model.state, self.scopes[part] | {"log": 0})
            model.initial(state)
            if part == PARTITION:
                leave_unused(state.zk, sizes["partitions"] - room)
                if cluster.deletes:
                    group_topics(state.zk, offsets)
            self.states[part] = watched(state, self._journals[part])
            self._verdicts[part] = Verdicts(model, self.states[part])
            self._functions[part] = {t.function.__name__: self._watched(t) for t in model.transitions}
        self._records = [self._records_of(broker, compared) for broker in range(sizes["brokers"])]
        for broker in range(sizes["brokers"]):
            self.take(PARTITION, "crash", b=broker)
            self.take(PARTITION, "expire_orphan", b=broker)

    def _watched(self, transition: Transition) -> Transition:
        """A transition that notes what it asks and what it sends."""
        answering = answers_of(transition.function)
        watched = {each: self._watch(each, each in answering)
                   for each in seams_of(transition.function) | answering
                   if each in answering or each.__name__ in SENDING}
        watched |= {each: self._telling(each) for each in (known_as_they_are, as_they_are)}
        if self.cluster.reassigns:
            watched |= {assigned: self._taken_for_assigned, put_target: self._put_listed}
        watched |= {is_not_older: self._is_not_older, commit: self._acknowledging(commit),
                    is_refused: self._hears_refusal, checkpointed: _as_found}
        return Transition(rebind(transition.function, watched))

    def _taken_for_assigned(self, zk, p):
        """The brokers that may take themselves for replicas of a partition: what they were told of it may be old."""
        return everybody(len(zk.clients))

    def _put_listed(self, zk, first, others):
        """The target of a reassignment as it was listed, in any order."""
        for broker in self.listed:
            push(zk.reassignment.target, broker)

    def _telling(self, known):
        """Which brokers of some a request reaches; it is sent to the others, too, who refuse it."""
        def call(zk, b, members):
            self._told = members
            return known(zk, b, members)

        return call

    def _watch(self, function, answers):
        name = function.__name__

        def call(*arguments):
            answer = LOST if answers and is_lost(function, self._fate) else function(*arguments)
            if answers:
                self._answer = answer
            elif name in ("put_error", "put_stopped"):
                self._others.append((name, arguments[1:]))
            else:
                self._put.append((name, *arguments[1:-1], self._told))
            return answer

        return call

    def _hears_refusal(self, s, b, p, sender, isr) -> bool:
        """A leader hears that controller `b` has refused its ISR: later than that was so."""
        found = self._message
        return found is not None and (found.kind, found.sender, found.content["fields"]["isr"]) == (REFUSED, b, isr)

    def _is_not_older(self, zk, b, p) -> bool:
        """Whether the version that a controller has cached is at least that of the leader who proposes."""
        return self.known.version(b, p) >= self._message.content["version"]

    def has(self, part: str, name: str) -> bool:
        """Whether a part has a transition of this name."""
        return name in self._functions[part]

    def out_of_range(self, part: str, name: str, arguments: Mapping[str, int]) -> str | None:
        """An argument that a transition does not have, or not with this value, None where there is none such."""
        domains = {each: domain for each, domain in self._functions[part][name].arguments.items() if each not in GIVEN}
        for each in dict.fromkeys((*domains, *(arguments.keys() - GIVEN))):
            if each not in domains or arguments.get(each) not in values(domains[each], self.scopes[part]):
                return f"{each}={arguments.get(each)}"
        return None

    def follow(self, part: str, names: list[str], broker: int, fate: int) -> Iterator[Outcome | None]:
        """Take the steps of a part that go with one of the other.

        The single step that an election is in *partition* took several in *election*: what ZooKeeper held of
        /controller and its epoch before the first of them is what it goes by.
        """
        if "elect" in names:
            zk = self.states[PARTITION].zk
            zk.controller, zk.epoch = NOBODY, self.record(broker)[0].epoch - 1
        for name in names:
            taken = self.take(part, name, b=broker, fate=fate)
            self.known.registrations[broker] += taken is not None and name in NEW_SESSION
            yield taken
        self._agree()

    def _agree(self) -> None:
        """What ZooKeeper holds of /controller and its epoch is as *election* has it."""
        zk, elected = self.states[PARTITION].zk, self.states[ELECTION].zk
        zk.controller, zk.epoch = elected.controller, max(elected.epoch, 0)

    def keep_notifications(self, brokers: int) -> None:
        """Only these brokers' notifications of failed log directories are left: a new controller deletes the others."""
        zk = self.states[PARTITION].zk
        zk.log_dir_events = intersection(zk.log_dir_events, brokers)
        zk.log_dir_read = intersection(zk.log_dir_read, brokers)

    def leave_isr_change(self, p: int) -> None:
        """A notification of a partition's ISR is there still: one came behind the list, or its deletion was lost."""
        zk = self.states[PARTITION].zk
        zk.isr_changed = with_member(zk.isr_changed, p)

    def leave_log_dir_event(self, broker: int) -> None:
        """A notification of a broker's failed log directory is there, before the broker has heard that it is."""
        zk = self.states[PARTITION].zk
        zk.log_dir_events = with_member(zk.log_dir_events, broker)

    def hear(self, broker: int, heard: int | None) -> None:
        """What the watch on /controller has said, as its broker handles that.

        A client that reconnects when /controller was deleted and created again hears of a change (setWatches).
        """
        zk = self.states[ELECTION].zk
        if heard == CHANGED and zk.clients[broker].fired == DELETED and zk.controller != NOBODY:
            zk.clients[broker].fired = CHANGED

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
        self._settle_all()
        return self._records[broker].digest()

    def fields(self, broker: int) -> Mapping[str, int | str]:
        """A broker's record, field by field."""
        self._settle_all()
        return self._records[broker].fields()

    def _records_of(self, broker, compared) -> Records:
        found = {(part, ("brokers", broker)): Compared(part, record)
                 for part, record in zip((ELECTION, PARTITION), self.record(broker))}
        replicas = named(self.replicas(broker)).items() if compared else ()
        return Records(found | {(PARTITION, (PLANES, p, "brokers", broker)): Compared(name, replica, (self._chains[p],))
                                for p, (name, replica) in enumerate(replicas)})

    def enabled(self, part: str, name: str, **arguments: int) -> bool:
        """Whether a step is enabled."""
        enabled = self._run(part, name, arguments)
        self._undo(part)
        return enabled

    def take(self, part: str, name: str, record: int | None = None, **arguments: int) -> Outcome | None:
        """Take a step; None, and no change, when it is not enabled. `record` is the id of a batch that is offered."""
        if not self._run(part, name, arguments):
            self._undo(part)
            return None
        if name == "delete_controller" and part == PARTITION:
            self._agree()
        state, written, changed = self.states[part], dict(self._journals[part]), self._settle(part)
        if record is not None and state.planes[arguments["p"]].clients.next_record > len(self._names[arguments["p"]]):
            self._names[arguments["p"]].append(record)
        former = before(state, written)
        answer = None if self._answer is None else Answer.names[self._answer]
        if part == PARTITION:
            self.known.note(state.zk, written)
        if name in LISTING and self._answer == OK:
            self.known.list_brokers(arguments["b"], state.zk.registered)
        sent = tuple(self._sent(part, arguments, former))
        broken = self._verdicts[part].broken_by(
            self._functions[part][name], self._values(part, name, arguments), former, changed)
        return Outcome(answer, sent, tuple(self._names[p][id] for p, id in self._acked), tuple(broken))

    def _run(self, part, name, arguments) -> bool:
        """Let a transition act on the state; whether it was enabled. The journal tells what it has written."""
        self._settle(part)
        self._answer, self._put, self._others, self._acked = None, [], [], []
        self._fate = arguments.get("fate", ANSWERED)
        return bool(self._functions[part][name].function(self.states[part], *self._values(part, name, arguments)))

    def _values(self, part, name, arguments) -> list[int]:
        values = {"fate": ANSWERED, "hw": 0, **arguments}
        return [values[argument] for argument in self._functions[part][name].arguments]

    def _undo(self, part) -> None:
        undo(self.states[part], self._journals[part])
        self._journals[part].clear()

    def _settle(self, part) -> set:
        """What was written stays: forget what was known of it. The questions that are to be asked again."""
        journal = self._journals[part]
        changed = self._verdicts[part].forget(journal)
        for records in self._records:
            records.forget(part, journal)
        for path in journal:
            if path[0] == PLANES and path[-1] == "length":
                self._make_room(self.states[part].planes[path[1]])
        journal.clear()
        return changed

    def _settle_all(self) -> None:
        for part in (ELECTION, PARTITION):
            self._settle(part)

    def _make_room(self, plane) -> None:
        """Logs have places for the next record, and few more: properties look at each."""
        size = max(replica.log.length for replica in plane.brokers) + SPARE
        for array in (plane.clients.places, *(replica.log.slots for replica in plane.brokers)):
            lengthen(array, size)

    def _sent(self, part, arguments, before) -> Iterator[Sent]:
        if part != PARTITION:
            return
        for name, epoch, p, *about, to in self._put:
            kind = "StopReplica" if name in STOPS else "LeaderAndIsr"
            said = {"leader_epoch": about[0] if about else NO_EPOCH} if name in STOPS else dict(
                zip(("leader", "leader_epoch", "isr"), about))
            content = {"epoch": epoch, "p": p, **said}
            for r in range(self._sizes["brokers"]):
                known = self.known.registration(arguments["b"], r)
                if contains(to, r) and known:
                    yield Sent(kind, arguments["b"], r, content, known)
        for name, (epoch, p, b, *failed) in self._others:
            content = {"epoch": epoch, "p": p}
            if name == "put_stopped":
                yield Sent("Stopped", b, None, content | {"failed": failed[0]})
            else:
                yield Sent("StorageError", b, None, content)
        if has_planes(self.cluster.partition) and {"b", "p"} <= arguments.keys():
            p = arguments["p"]
            networks = [state.planes[p].network for state in (before, self.states[PARTITION])]
            for kind, receiver, fields in departures(*networks, arguments["b"]):
                yield Sent(kind, arguments["b"], receiver, {"p": p, "fields": fields})

    def broken(self, part: str) -> Iterator[Property]:
        """The properties of states that do not hold now."""
        self._settle(part)
        return self._verdicts[part].broken()

    @contextmanager
    def arriving(self, message: Sent | None, broker: int) -> Iterator[None]:
        """Let a message that was sent be on its way to a broker, while a step is taken."""
        self._message = message
        with delivered(self.states[PARTITION], message, broker):
            yield
        self._message = None

    # Data planes

    def batch(self, broker: int, p: int, place: int) -> int:
        """The id of a batch in the log of a replica, as the process named it."""
        return self._names[p][self.states[PARTITION].planes[p].brokers[broker].log.slots[place].id]

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
            p = next(p for p, plane in enumerate(self.states[PARTITION].planes) if plane.clients is clients)
            if enough_in_sync(broker):
                answered = difference(waited, broker.waiting)
                self._acked += [(p, id) for id in range(answered.bit_length()) if contains(answered, id)]

        return call


def _as_found(replica, hw):
    """The high watermark that a new process finds: each as it was found, before the step."""
    return replica.hw
