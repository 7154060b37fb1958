"""The processes of brokers beside the model of *election*, in memory: whatever step is taken, they do what it does.

A rule for each transition: it draws one of the steps that are enabled, and the processes take it, lost answers
included. The answer, what each broker knows, /controller, its epoch and the registrations must then be equal.
"""

import pytest
from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule, run_state_machine_as_test

from kafkaproof.checker.model.execution import Execution
from kafkaproof.impl.harness.conducting.conductor import Departs
from kafkaproof.impl.harness.conducting.counterexample import why_not
from kafkaproof.impl.seams.zookeeper.election import ElectionZooKeeper
from kafkaproof.impl.seams.zookeeper.znodes import BROKER_IDS, Controller, ControllerEpoch
from kafkaproof.spec.catalogue import find
from kafkaproof.spec.kafka.zookeeper import ABSENT, CHANGED, LOST, MINE, OK
from kafkaproof.spec.language.digest import fields_of
from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.spec.language.steps import parse_step
from kafkaproof.spec.running.processes import ELECTION
from tests.impl.memory_cluster import InMemory, World

BROKERS = 2
SCOPE = {"brokers": BROKERS, "epochs": 4, "faults": 6, "receivers": 1}
SETTINGS = settings(
    max_examples=6,
    stateful_step_count=40,
    deadline=None,
    database=None,
    derandomize=True,
    report_multiple_bugs=False,
    phases=[Phase.generate],
)


def machine(variant, ids=()):
    """The machine of a variant: a rule for each of its transitions. `ids`: those of its brokers."""
    model = find(ELECTION, variant)[0]

    class Election(RuleBasedStateMachine):
        """Takes steps of the model, and the same in processes."""

        def __init__(self):
            super().__init__()
            self.monkeypatch = pytest.MonkeyPatch()
            self.world = World(variant, self.monkeypatch, ids=ids)
            self.conductor = InMemory(self.world)
            self.execution = Execution(model, SCOPE)
            (self.state,) = self.execution.initial_states()
            self.look()

        @rule()
        def rest(self):
            """Nothing happens: where all faults have been, nothing else may be left."""

        def look(self):
            """Find the steps that are enabled, and that processes take."""
            self.enabled = {}
            for transition, arguments, _, bound in self.execution.steps(self.state):
                step = self.execution.step(transition, arguments)
                if bound is None and why_not(model, self.state, step) is None:
                    self.enabled.setdefault(transition.name, []).append(arguments)

        def take(self, data, name):
            """Take one of the enabled steps of a transition on both sides."""
            self.step(name, data.draw(st.sampled_from(self.enabled[name])))
            self.look()

        def step(self, name, arguments):
            """Take a step that is enabled on both sides, and compare."""
            transition = model.transition(name)
            self.state = self.execution.after(self.state, transition, arguments)
            assert self.state, f"{name}{arguments} is not enabled in the model"
            self.conductor.take(str(self.execution.step(transition, arguments)))
            self.compare()

        def compare(self):
            """Hold what the processes know, and what ZooKeeper holds, to the model."""
            for b, (_, broker) in self.world.orders.items():
                known = fields_of({"broker": self.state.brokers[b]})
                assert fields_of({"broker": broker.process.election}) == known
            zk, content, brokers = self.state.zk, self.world.content, self.world.ids
            named, epoch = content(Controller.path), content(ControllerEpoch.path)
            assert (NOBODY if named is None else Controller.decode(named).broker) == brokers.id(zk.controller)
            assert (-1 if epoch is None else ControllerEpoch.decode(epoch).epoch) == zk.epoch
            for b, client in enumerate(zk.clients):
                assert (f"{BROKER_IDS}/{brokers.id(b)}" in self.world.server.znodes) == (client.registered != ABSENT)

        def teardown(self):
            self.monkeypatch.undo()
            self.world.logs.cleanup()

    for transition in model.transitions:

        def of(self, data, name=transition.name):
            self.take(data, name)

        def is_enabled(self, name=transition.name):
            return name in self.enabled

        of.__name__ = transition.name.replace(".", "_")
        setattr(Election, of.__name__, precondition(is_enabled)(rule(data=st.data())(of)))
    return Election


@pytest.mark.parametrize("variant", ["legacy", "fenced"])
def test_processes_do_what_the_model_does(variant):
    run_state_machine_as_test(machine(variant), settings=SETTINGS)


def test_processes_of_brokers_with_any_ids_do_too():
    run_state_machine_as_test(machine("fenced", (5, 101)), settings=SETTINGS)


def owner_is_always_mine(self, b):
    """A refused candidate takes any /controller for its own."""
    return MINE if read_owner(self, b) == OK else read_owner(self, b)


def deletion_is_not_heard(self, b):
    """Whatever the watch says, it counts as a change."""
    return min(waiting(self, b), CHANGED)


def loss_is_success(self, b, delivery):
    """A creation that was not answered is taken for one that succeeded."""
    answer = create_controller(self, b, delivery)
    return OK if answer == LOST else answer


read_owner, waiting = ElectionZooKeeper.read_owner, ElectionZooKeeper.waiting
create_controller = ElectionZooKeeper.create_controller
STANDING = [
    f"{name}(b={b})"
    for name in ("session.start", "session.register_broker", "election.maybe_resign", "legacy.look_for_controller")
    for b in (0, 1)
]
WALKS = {
    "read_owner": (
        owner_is_always_mine,
        ["legacy.create(b=0, delivery=0)", "legacy.create(b=1, delivery=0)", "legacy.confirm_owner(b=1)"],
    ),
    "waiting": (
        deletion_is_not_heard,
        [
            "legacy.create(b=0, delivery=0)",
            "legacy.create(b=1, delivery=0)",
            "legacy.confirm_owner(b=1)",
            "election.maybe_resign(b=1)",
            "faults.delete_controller()",
            "election.handle_change(b=1)",
        ],
    ),
    "create_controller": (loss_is_success, ["legacy.create(b=0, delivery=1)"]),
}
"""For each seam a mistake in it, and the steps behind `STANDING` in which it shows."""


def walk(texts):
    """Let the machine of *legacy* take given steps."""
    taking = machine("legacy")()
    try:
        for text in texts:
            step = parse_step(text)
            taking.step(step.transition, tuple(step.arguments.values()))
    finally:
        taking.teardown()


@pytest.mark.parametrize("name", WALKS)
def test_the_machine_notices_a_mistake(name, monkeypatch):
    mistake, steps = WALKS[name]
    walk([*STANDING, *steps])
    monkeypatch.setattr(ElectionZooKeeper, name, mistake)
    with pytest.raises((AssertionError, Departs)):
        walk([*STANDING, *steps])
