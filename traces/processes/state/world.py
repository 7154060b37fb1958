"""The whole cluster in both systems of the specification, and single steps of it, with what they ask and send."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from kafkaproof.checker.model.refusals import Refusal, refusal_of
from kafkaproof.spec.election.faults import delete_controller
from kafkaproof.spec.kafka.zookeeper import ANSWERED, CHANGED, DELETED, NOTHING, OK
from kafkaproof.spec.language.domains import NOBODY, Array, Record, record_of, values
from kafkaproof.spec.language.model import Property, Transition
from kafkaproof.spec.language.plain import Plain, new_state
from kafkaproof.spec.language.sets import intersection, with_member
from kafkaproof.spec.language.steps import names
from kafkaproof.spec.partition import failover, faults
from kafkaproof.spec.partition.brokers import broker_change
from kafkaproof.spec.partition.creation.zookeeper import leave_unused
from kafkaproof.spec.partition.deletion.zookeeper import group_topics
from kafkaproof.spec.replica.zookeeper import Answer
from kafkaproof.spec.replication.replication import truncate
from kafkaproof.spec.running.processes import ELECTION, PARTITION, Cluster, named, scopes
from kafkaproof.traces.processes.state.chains import Chain
from kafkaproof.traces.processes.state.compared import Compared, Records
from kafkaproof.traces.processes.state.knowledge import Knowledge
from kafkaproof.traces.processes.state.messages import Sent, delivered
from kafkaproof.traces.processes.state.seams import Seams
from kafkaproof.traces.processes.state.verdicts import PLANES, Verdicts
from kafkaproof.traces.processes.state.watched import Journal, Path, before, lengthen, show, undo, watched

SPARE = 2
GIVEN = frozenset({"delivery", "hw"})
"""Arguments that no process records."""
NEW_SESSION = names(faults.restart, failover.reopen)
LISTING = names(failover.load_brokers, broker_change)
"""Steps with which a broker registers anew, and those with which a controller lists the brokers."""


def _arrays_of_partitions(record: Record) -> Iterator[Path]:
    """The arrays in a record that have an element for each partition."""
    for name, field in record.fields.items():
        if isinstance(field.domain, Record):
            yield from ((name, *path) for path in _arrays_of_partitions(field.domain))
        elif isinstance(field.domain, Array) and field.domain.size == "partitions":
            yield (name,)


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
    """Both states of a cluster, at a scope that holds `epochs`, `terms` of controllers among them, and, in each partition, `log`
    records.

    `compared`: whether what is compared of a broker is also its replicas. At first no topic has the last `room`
    partitions; `offsets` is a topic of its own.
    """

    def __init__(
        self,
        cluster: Cluster,
        sizes: dict[str, int],
        epochs: int,
        log: int = 0,
        room: int = 0,
        compared: bool = True,
        offsets: int = -1,
        terms: int | None = None,
    ):
        self.cluster = cluster
        self.scopes = scopes(**sizes, epochs=epochs, log=log)
        self.scopes[PARTITION] = {**self.scopes[PARTITION], "epochs": min(epochs, terms or epochs)}
        self._names: list[list[int]] = [[] for _ in range(sizes["partitions"])]
        self._chains = [[Chain(names) for _ in range(sizes["brokers"])] for names in self._names]
        self.states: dict[str, Plain] = {}
        self._journals: dict[str, Journal] = {ELECTION: {}, PARTITION: {}}
        self._verdicts: dict[str, Verdicts] = {}
        self._records: list[Records] = []
        self._functions: dict[str, dict[str, Transition]] = {}
        self._partitions = [sizes["partitions"]] * sizes["brokers"]
        self._arrays = list(_arrays_of_partitions(record_of(cluster.partition.state, "brokers")))
        self.known = Knowledge(sizes["brokers"], sizes["partitions"])
        self.seams = Seams(cluster, self.known)
        for part in (ELECTION, PARTITION):
            model = cluster.model(part)
            state = new_state(model.state, {**self.scopes[part], "log": 0})
            model.initial(state)
            if part == PARTITION:
                leave_unused(state.zk, sizes["partitions"] - room)
                if cluster.deletes:
                    group_topics(state.zk, offsets)
            self.states[part] = watched(state, self._journals[part])
            self._verdicts[part] = Verdicts(model, self.states[part])
            self._functions[part] = {t.function.__name__: self.seams.watched(t) for t in model.transitions}
        self._records = [self._records_of(broker, compared) for broker in range(sizes["brokers"])]
        for broker in range(sizes["brokers"]):
            self.take(PARTITION, faults.crash.__name__, b=broker)
            self.take(PARTITION, faults.expire_orphan.__name__, b=broker)

    def show_partitions(self, broker: int, partitions: int) -> None:
        """The process of a broker has records for so many partitions, the first ones."""
        if self._partitions[broker] != partitions:
            self._partitions[broker] = partitions
            for path in self._arrays:
                show(self.states[PARTITION], ("brokers", broker, *path), partitions)
            self._records[broker].show(partitions)

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

    def follow(self, part: str, names: list[str], broker: int, delivery: int) -> Iterator[Outcome | None]:
        """Take the steps of a part that go with one of the other.

        The single step that an election is in *partition* took several in *election*: what ZooKeeper held of
        /controller and its epoch before the first of them is what it goes by.
        """
        if failover.elect.__name__ in names:
            zk = self.states[PARTITION].zk
            zk.controller, zk.epoch = NOBODY, self.record(broker)[0].epoch - 1
        for name in names:
            taken = self.take(part, name, b=broker, delivery=delivery)
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

    @contextmanager
    def hearing(self, broker: int, heard: int | None, waits: int) -> Iterator[None]:
        """Let a broker handle what the watch on /controller has said; what it said besides still `waits` then.

        The specification takes events for one that wait together, on their way or not; a process those that have come. A
        client that reconnects when /controller was deleted and created again hears of a change (setWatches).
        """
        zk = self.states[ELECTION].zk
        client = zk.clients[broker]
        reconnects = heard == CHANGED and client.fired == DELETED and zk.controller != NOBODY
        if heard is not None and (waits != NOTHING or reconnects):
            client.fired = heard
        yield
        if waits != NOTHING:
            client.fired = waits

    def label(self, part: str, name: str) -> str:
        """A transition's name with its module."""
        return self._functions[part][name].name

    def record(self, broker: int) -> tuple[Plain, Plain]:
        """What a broker knows, in both parts."""
        return self.states[ELECTION].brokers[broker], self.states[PARTITION].brokers[broker]

    def replicas(self, broker: int) -> list[Plain]:
        """The replicas of a broker, where there are data planes."""
        return [plane.brokers[broker] for plane in self._planes]

    @property
    def _planes(self) -> list[Plain]:
        return getattr(self.states[PARTITION], PLANES, [])

    def digest(self, broker: int) -> str:
        """The hash of a broker's record."""
        self._settle_all()
        return self._records[broker].digest()

    def fields(self, broker: int) -> Mapping[str, int | str]:
        """A broker's record, field by field."""
        self._settle_all()
        return self._records[broker].fields()

    def _records_of(self, broker, compared) -> Records:
        found: dict[tuple[str, Path], Compared] = {
            (part, ("brokers", broker)): Compared(part, record)
            for part, record in zip((ELECTION, PARTITION), self.record(broker))
        }
        replicas = named(self.replicas(broker)).items() if compared else ()
        for p, (name, replica) in enumerate(replicas):
            found[PARTITION, (PLANES, p, "brokers", broker)] = Compared(name, replica, (self._chains[p][broker].of,))
        return Records(found)

    def enabled(self, part: str, name: str, **arguments: int) -> bool:
        """Whether a step is enabled."""
        enabled = self._run(part, name, arguments)
        self._undo(part)
        return enabled

    def refusal(self, part: str, name: str, **arguments: int) -> Refusal | None:
        """The guard by which a transition refuses a step that is not enabled."""
        self._settle(part)
        values = self._values(part, name, arguments)
        found = refusal_of(
            self._functions[part][name].function, self.cluster.model(part).state, self.states[part], *values
        )
        self._undo(part)
        return found

    def take(self, part: str, name: str, record: int | None = None, **arguments: int) -> Outcome | None:
        """Take a step; None, and no change, when it is not enabled. `record` is the id of a batch that is offered."""
        if not self._run(part, name, arguments):
            self._undo(part)
            return None
        if name == delete_controller.__name__ and part == PARTITION:
            self._agree()
        state, written, changed = self.states[part], dict(self._journals[part]), self._settle(part)
        if record is not None and state.planes[arguments["p"]].clients.next_record > len(self._names[arguments["p"]]):
            self._names[arguments["p"]].append(record)
        former = before(state, written)
        answer = None if self.seams.answer is None else Answer.names[self.seams.answer]
        if part == PARTITION:
            self.known.note(state.zk, written)
        if name in LISTING and self.seams.answer == OK:
            self.known.list_brokers(arguments["b"], state.zk.registered)
        sent = tuple(self.seams.sent(arguments, former, state)) if part == PARTITION else ()
        broken = self._verdicts[part].broken_by(
            self._functions[part][name], self._values(part, name, arguments), former, changed
        )
        return Outcome(answer, sent, tuple(self._names[p][id] for p, id in self.seams.acked), tuple(broken))

    def _run(self, part, name, arguments) -> bool:
        """Let a transition act on the state; whether it was enabled. The journal tells what it has written."""
        self._settle(part)
        self.seams.begin(self._planes, arguments.get("delivery", ANSWERED))
        return bool(self._functions[part][name].function(self.states[part], *self._values(part, name, arguments)))

    def _values(self, part, name, arguments) -> list[int]:
        values = {"delivery": ANSWERED, "hw": 0, **arguments}
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
            elif path[0] == PLANES and path[4:6] == ("log", "slots"):
                self._chains[int(path[1])][int(path[3])].forget(int(path[6]))
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

    def broken(self, part: str) -> Iterator[Property]:
        """The properties of states that do not hold now."""
        self._settle(part)
        return self._verdicts[part].broken()

    @contextmanager
    def changing(self) -> Iterator[tuple[Plain, Plain]]:
        """Let what ZooKeeper holds be changed, in both parts, by somebody who records no steps."""
        elected, zk = self.states[ELECTION].zk, self.states[PARTITION].zk
        self._settle_all()
        yield elected, zk
        self._agree()
        self.known.note(zk, self._journals[PARTITION])
        self._settle_all()

    @contextmanager
    def arriving(self, message: Sent | None, broker: int) -> Iterator[None]:
        """Let a message that was sent be on its way to a broker, while a step is taken."""
        self.seams.message = message
        with delivered(self.states[PARTITION], message, broker):
            yield
        self.seams.message = None

    # Data planes

    def empty_disk(self, broker: int) -> None:
        """A broker that is to start has no records."""
        for replica in self.replicas(broker):
            truncate(replica.log, 0)
            replica.hw = 0

    def name_batch(self, p: int, batch: int) -> int:
        """The number of a batch that a process has named; the next one of its partition, if no producer of ours offered it."""
        names, clients = self._names[p], self.states[PARTITION].planes[p].clients
        if batch in names:
            return len(names) - 1 - names[::-1].index(batch)
        names.append(batch)
        clients.next_record += 1
        return len(names) - 1

    def batch(self, broker: int, p: int, place: int) -> int:
        """The id of a batch in the log of a replica, as the process named it."""
        return self._names[p][self.states[PARTITION].planes[p].brokers[broker].log.slots[place].id]

    def chain(self, broker: int, p: int) -> str:
        """The chain of a replica's log, each record named as the process named it."""
        self._settle(PARTITION)
        return self._chains[p][broker].of(self.states[PARTITION].planes[p].brokers[broker].log)
