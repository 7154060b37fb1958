"""The processes of brokers beside the models that run, in memory: elections, control requests, ISRs, creation, logs.

Of 1.1 to 2.0 the model is *partition*, of 2.7 and later *cluster*, with data planes and creation. A rule draws a
transition that is enabled, and one of its steps, and the processes take it, lost answers included. The answer, what
each broker knows, its replicas, and what ZooKeeper holds must then be equal.
"""

import pytest
from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule, run_state_machine_as_test
from kazoo.protocol.serialization import SetData

from kafkaproof.impl.broker.replica import Clients
from kafkaproof.impl.harness.conducting.conductor import Departs
from kafkaproof.impl.harness.conducting.counterexample import lose_undelivered, said_to, why_not
from kafkaproof.impl.harness.driving.cluster import TOPIC
from kafkaproof.impl.seams.network import PartitionNetwork
from kafkaproof.impl.seams.zookeeper.partition import PartitionZooKeeper
from kafkaproof.impl.seams.zookeeper.znodes import BROKER_IDS, Controller, ControllerEpoch, State
from kafkaproof.impl.server.ordered_steps import WATCHED
from kafkaproof.spec.election.broker_state import CHECKING, IDLE
from kafkaproof.spec.kafka.zookeeper import DELETED, EXPIRED, OK
from kafkaproof.spec.language.digest import fields_of
from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.spec.language.plain import members, new_state
from kafkaproof.spec.language.rebind import rebind
from kafkaproof.spec.language.sets import with_member
from kafkaproof.spec.language.steps import Step
from kafkaproof.spec.partition.creation.zookeeper import leave_unused
from kafkaproof.spec.partition.zookeeper import session_open
from kafkaproof.spec.replica.network import SENT
from kafkaproof.spec.replica.zookeeper import Answer
from kafkaproof.spec.running.processes import cluster, has_planes
from kafkaproof.traces.processes.state.watched import undo, watched
from tests.impl.memory_cluster import CREATED, InMemory, World
from tests.impl.memory_planes import PlanesInMemory

BROKERS, PARTITIONS, FAULTS = 2, 2, 8
SCOPE = {
    "brokers": BROKERS,
    "replicas": BROKERS,
    "partitions": PARTITIONS,
    "epochs": 10,
    "leader_epochs": 20,
    "faults": 20,
    "log": 5,
    "records": 5,
    "min_isr": 1,
}
SETTINGS = settings(
    max_examples=25,
    stateful_step_count=120,
    deadline=None,
    database=None,
    derandomize=True,
    report_multiple_bugs=False,
    phases=[Phase.generate],
)
CALM = 6
ALWAYS = ("faults.", "leader_zk.change", "rebalance.", "creation.configure", "data_plane.produce")
"""What may happen at any time, and comes only once in so many steps: the rest gets further meanwhile."""
NOT_SERVED = ("faults.ask_for_election", "triggers.admin_election")
"""Elections that an administrator asks for by a request."""
QUEUED = "faults.queue_deletion"
"""In a cluster that creates topics one is deleted by its name; the model without deletions knows but one topic."""
REQUESTS = {"cache.update_metadata": "UpdateMetadata", "halting.halt_replica": "StopFetching"}
"""What may have been sent to the address of a former process, and is lost (as LeaderAndIsr may be, up to 2.1)."""
RARE = 6
"""How many transitions so few walks may miss."""


def without_deletions(variant):
    """The cluster of a variant in which no topic is deleted: walks with deletions would seldom come further."""
    return cluster(variant, deletes=False)


class Model:
    """A model and its state; what it may do next, and the answers of that."""

    def __init__(self, variant):
        self.model, self.journal, self.answer = without_deletions(variant).partition, {}, None
        plain = new_state(self.model.state, SCOPE)
        self.model.initial(plain)
        if has_planes(self.model):
            leave_unused(plain.zk, PARTITIONS - 1)
        self.state = watched(plain, self.journal)
        noting = {seam: self._noting(seam) for seam in self.model.seams}
        self._functions = {t.name: rebind(t.function, noting) for t in self.model.transitions}
        self._choices = {t.name: (t, list(t.choices(SCOPE))) for t in self.model.transitions}

    def _noting(self, seam):
        def call(*arguments):
            self.answer = seam(*arguments)
            return self.answer

        return call

    def run(self, name, arguments):
        """Take a step; its text, None where it is not enabled."""
        self.answer = None
        self.journal.clear()
        if not self._functions[name](self.state, *arguments):
            return None
        answer = None if self.answer is None else Answer.names[self.answer]
        return Step(name, dict(zip(self._choices[name][0].arguments, arguments)), answer)

    def has_all(self, p):
        """Whether a partition has all records that there are."""
        return self.state.planes[p].clients.next_record == SCOPE["records"]

    def enabled(self, name):
        """The steps of a transition that are enabled; of those that differ in nothing but their delivery, one."""
        found = []
        for arguments in self._choices[name][1]:
            if name == "data_plane.produce" and self.has_all(arguments[1]):
                continue
            step = self.run(name, arguments)
            undo(self.state, self.journal)
            too_many = ("zk", "faults") in self.journal and self.state.zk.faults >= FAULTS
            if step and not too_many and (step.answer == "LOST") == (step.arguments.get("delivery", 0) != 0):
                found.append((step, arguments))
        return found


def machine(variant, taken):
    """The machine of a variant; `taken` collects the names of the transitions that were taken."""
    model = without_deletions(variant).partition
    planes = has_planes(model)
    room = 1 if planes else 0

    class Partition(RuleBasedStateMachine):
        """Takes steps of the model, and the same in processes."""

        def __init__(self):
            super().__init__()
            self.monkeypatch = pytest.MonkeyPatch()
            self.monkeypatch.setattr("kafkaproof.impl.broker.process.cluster", without_deletions)
            self.world = World(variant, self.monkeypatch, (BROKERS, BROKERS, PARTITIONS), room)
            self.conductor = PlanesInMemory(self.world, PARTITIONS) if planes else InMemory(self.world)
            self.model, self.taken, self.restarted = Model(variant), 1, set()
            self.conductor.state = self.model.state
            for b in range(BROKERS):
                self.conductor.take_all(f"session.start(b={b})", f"session.register_broker(b={b})")
            self.look()

        def look(self):
            """Find the steps that are enabled, and that processes take."""
            self.enabled = {}
            for transition in model.transitions:
                steps = [
                    (step, arguments)
                    for step, arguments in self.model.enabled(transition.name)
                    if why_not(model, self.model.state, step) is None and self.is_possible(step)
                ]
                if steps and not (planes and transition.name == QUEUED):
                    self.enabled[transition.name] = steps

        def is_possible(self, step):
            """Whether a process can take it: who has not heard that there is no controller does not stand for election
            (in *partition* anybody may), and a replica fails where it has been told of.
            """
            if step.transition in NOT_SERVED:
                return False
            if step.transition.split(".")[1] in (*WATCHED, "topic_change", "pending_election"):
                return session_open(self.model.state.zk, step.arguments["b"])
            if step.transition == "faults.restart" and planes:
                highest = max(plane.brokers[step.arguments["b"]].hw for plane in self.model.state.planes)
                return step.arguments["hw"] in (0, highest)
            if step.transition == "data_plane.serve_fetch":
                b, p, follower = (step.arguments[name] for name in ("b", "p", "follower"))
                return self.conductor.fetch_of(b, p, follower)
            if step.answer == "LOST" and step.transition == "triggers.delete_request":
                return len(self.world.orders[step.arguments["b"]][1].process.partition_zookeeper.log_dir_read) < 2
            if step.transition == "replica.leader_and_isr" and step.arguments["b"] in self.restarted:
                return self.has_arrived(step)
            if step.transition in REQUESTS and step.arguments["b"] in self.restarted:
                said = {name: step.arguments[name] for name in ("epoch", "p") if name in step.arguments}
                return self.conductor.found(step.arguments["b"], REQUESTS[step.transition], **said)
            if step.transition == "isr.refuse_change":
                return (
                    self.model.state.planes[step.arguments["p"]].network.alters[step.arguments["sender"]].state == SENT
                )
            if step.transition in ("control.alter_partition", "control.refuse_isr"):
                return self.knows_same_version(*(step.arguments[name] for name in ("b", "p", "sender")))
            if step.transition not in ("failover.elect", "faults.fail_log_dir"):
                return True
            b = step.arguments["b"]
            self.conductor.receive(b)
            process = self.world.orders[b][1].process
            if step.transition == "faults.fail_log_dir":
                return step.arguments["p"] in process.partition_zookeeper.replicas
            on_its_way = process.election.doing not in (IDLE, CHECKING)
            return on_its_way or process.election_zookeeper.waiting(b) == DELETED

        def has_arrived(self, step):
            """Whether LeaderAndIsr is there; one to the address of a former process is lost."""
            content = {name: step.arguments[name] for name in ("epoch", "p")} | said_to(model, self.model.state, step)
            return self.conductor.found(step.arguments["b"], "LeaderAndIsr", **content)

        def knows_same_version(self, b, p, leader):
            """Whether a leader knows the version that the controller knows: in the model every leader of the leader epoch
            does, also one that a deposed controller has told an older one.
            """
            known = self.world.orders[leader][1].leadership._versions.get(p)
            return known == self.world.orders[b][1].process.partition_zookeeper.version_of(p)

        @rule(data=st.data())
        def take(self, data):
            """Take one of the enabled steps of a transition on both sides, until there is none."""
            if not self.enabled:
                return
            names = [name for name in self.enabled if self.taken % CALM == 0 or not name.startswith(ALWAYS)]
            name = data.draw(st.sampled_from(names or list(self.enabled)))
            self.step(*data.draw(st.sampled_from(self.enabled[name])))
            self.look()

        def step(self, step, arguments):
            """Take a step that is enabled on both sides, and compare."""
            content, self.conductor.state = said_to(model, self.model.state, step), self.model.state.copy()
            self.model.run(step.transition, arguments)
            lose_undelivered(model, self.model.state, step)
            self.conductor.take(str(step), **content)
            self.conductor.state = self.model.state
            if step.transition == "faults.restart":
                self.restarted.add(step.arguments["b"])
            taken.add(step.transition)
            self.taken += 1
            self.compare()

        def compare(self):
            """Hold what the processes know, and what ZooKeeper holds, to the model."""
            state, zk, content = self.model.state, self.model.state.zk, self.world.content
            for b in range(BROKERS):
                if state.brokers[b].up:
                    found = fields_of({"broker": self.world.orders[b][1].process.partition})
                    known = fields_of({"broker": state.brokers[b]})
                    assert {k: (v, known[k]) for k, v in found.items() if known[k] != v} == {}
                    for p, plane in enumerate(self.world.orders[b][1].process.planes):
                        assert self.replica(p, plane.replica, self.conductor.ids[p].get) == self.replica(
                            p, state.planes[p].brokers[b], int
                        )
                assert (f"{BROKER_IDS}/{b}" in self.world.server.znodes) == session_open(zk, b)
            named, epoch = content(Controller.path), content(ControllerEpoch.path)
            assert (NOBODY if named is None else Controller.decode(named).broker) == zk.controller
            assert (0 if epoch is None else ControllerEpoch.decode(epoch).epoch) == zk.epoch
            for p in range(PARTITIONS):
                place = (CREATED, 0) if room and p == PARTITIONS - 1 else (TOPIC, p)
                found, held = content(State.path_of(*place)), zk.partitions[p]
                assert (found is None) == (held.leader_epoch == -1)
                if found:
                    written = State.decode(found)
                    assert (written.leader, members(written.isr), written.leader_epoch, written.controller_epoch) == (
                        held.leader,
                        held.isr,
                        held.leader_epoch,
                        held.controller_epoch,
                    )

        def replica(self, p, replica, number):
            """What is compared of a replica, its log as epochs and numbers of records."""

            def chain(log):
                return str([(entry.epoch, number(entry.id)) for entry in log.slots[: log.length]])

            return fields_of({"replica": replica}, [chain])

        def teardown(self):
            self.monkeypatch.undo()
            self.world.logs.cleanup()

    return Partition


@pytest.mark.parametrize("variant", ["legacy", "fenced"])
def test_processes_do_what_the_model_does(variant):
    taken = set()
    run_state_machine_as_test(machine(variant, taken), settings=SETTINGS)
    missed = (
        {transition.name for transition in without_deletions(variant).partition.transitions} - taken - {*NOT_SERVED}
    )
    assert len(missed) <= RARE, missed


def version_is_not_looked_at(self, p, state, write):
    """A state is written on whatever version it has."""
    return OK if write(SetData(State.path_of(*self.place_of(p)), state.encode(), -1)) == OK else EXPIRED


def isr_is_forgotten(self, epoch, p, leader, leader_epoch, isr, to):
    """LeaderAndIsr names the leader as the only member of the ISR."""
    return put_request(self, epoch, p, leader, leader_epoch, with_member(0, leader) if leader != NOBODY else isr, to)


def append_is_forgotten(self, broker, acks, enough):
    """A record is accepted, and not appended."""
    return OK


put_request = PartitionNetwork.put_request
MISTAKES = [
    ("legacy", PartitionZooKeeper, "_set", version_is_not_looked_at),
    ("fenced", PartitionZooKeeper, "_set", version_is_not_looked_at),
    ("fenced", PartitionNetwork, "put_request_with_isr", isr_is_forgotten),
    ("fenced", Clients, "take_record", append_is_forgotten),
]


@pytest.mark.parametrize("variant, seams, name, mistake", MISTAKES)
def test_the_machine_notices_a_mistake(variant, seams, name, mistake, monkeypatch):
    monkeypatch.setattr(seams, name, mistake)
    with pytest.raises((AssertionError, Departs)):
        run_state_machine_as_test(machine(variant, set()), settings=SETTINGS)
