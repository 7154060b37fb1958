"""Counterexamples of elections and deletions, and those that come along: what is held, awaited, seen, and left out."""

from pathlib import Path
from types import SimpleNamespace

import pytest
from kafka.errors import EligibleLeadersNotAvailableError, KafkaConnectionError

from kafkaproof.impl.harness.conducting.conductor import Departs
from kafkaproof.impl.harness.driving.cluster import Size
from kafkaproof.impl.harness.links.rules import HOLD
from kafkaproof.impl.harness.real import deeds, verdict
from kafkaproof.impl.harness.real.along import Along
from kafkaproof.impl.harness.real.behaviour import read_behaviour
from kafkaproof.impl.harness.real.control import control_of
from kafkaproof.impl.harness.real.held import Held
from kafkaproof.impl.harness.real.reproduction import concluded
from kafkaproof.spec.catalogue import find
from kafkaproof.spec.language.steps import Step
from kafkaproof.spec.partition.reassignment.properties import isr_assigned
from kafkaproof.spec.protocol.passed import ANSWER, REQUEST
from kafkaproof.spec.topics.properties.safety import force_elects, state_tells
from tests.impl.test_along import NOBODY_STANDS
from tests.impl.test_conductor import write_run

BUNDLED = Path(__file__).parents[2] / "traces" / "counterexamples"


@pytest.mark.parametrize(
    "name, omitted, skipped",
    [
        (
            "living-leader-forced-out",
            "faults.ask_for_election(kind=1)",
            ["admin_election", "read_for_election", "write_leader"],
        ),
        ("shutting-down-leader-replaced", "faults.allow_unclean()", ["write_leader"]),
        ("late-answer-ends-deletion", "replica.leader_and_isr(b=0, epoch=1, p=0)", []),
        ("epoch-edited", "faults.edit_epoch()", []),
        ("expansion-undone", "expansion.add_partitions(b=0, p=0, new=2, start=0, delivery=0)", []),
    ],
)
def test_bundled_counterexamples_have_a_control(name, omitted, skipped):
    found = control_of(read_behaviour(BUNDLED / f"{name}.json", "3.9.1"))
    assert (str(found.omitted), [step.name for step in found.skipped]) == (omitted, skipped)


@pytest.mark.parametrize(
    "name, holds",
    [
        ("cancelled-and-unled", force_elects),
        ("isr-shrinks-after-the-look", isr_assigned),
        ("cancelled-towards-the-dead", state_tells),
    ],
)
def test_reassignments_end_as_they_should_not(name, holds):
    found = read_behaviour(BUNDLED / f"{name}.json", "3.9.1")
    assert not holds(found.states[-1]) and all(holds(state) for state in found.states[:-1])


def test_a_controller_asks_nothing_that_it_knows():
    """Who removes a replica outside the ISR writes nothing, and who cancels does not look whether the target is in."""
    found = read_behaviour(BUNDLED / "cancelled-towards-the-dead.json", "3.9.1")
    asked = [
        (step.name, [wanted.pattern["operation"] for wanted in found.frames(number)])
        for number, step in enumerate(found.steps, 1)
        if step.name in ("check", "remove_replica")
    ]
    assert asked == [
        ("check", ["getData", "setData"]),
        ("remove_replica", ["getData"]),
        ("remove_replica", ["getData", "setData"]),
        ("check", []),
    ]


def test_who_is_asked_lives_and_may_begin_to_rule_meanwhile(monkeypatch):
    """A dead broker is not asked who rules, and a controller that has still to read what it likes answers nobody."""
    asked, told = [], SimpleNamespace(taken=[])
    monkeypatch.setattr(deeds, "Rule", lambda *_: told)
    monkeypatch.setattr(
        deeds, "Thread", lambda target, args, daemon: SimpleNamespace(start=lambda: asked.extend(args[0]))
    )
    monkeypatch.setattr(deeds, "_go_round", lambda link: None)

    def link_of(b):
        return SimpleNamespace(address=f"broker-{b}", add=lambda rule: rule, remove=lambda rule: None)

    def await_that(condition, what):
        assert not condition() and condition(), what

    cluster = SimpleNamespace(
        inner={b: link_of(b) for b in range(2)},
        children={b: SimpleNamespace(running=b == 1) for b in range(2)},
        await_that=await_that,
    )
    step = Step("faults.ask_for_cancellation", {"p": 0})
    deeds.Deeds(cluster).do(step, None, lambda: told.taken.append("request"))
    assert asked == ["broker-1"]


def test_answers_in_a_control_are_those_that_the_specification_gives_there(tmp_path):
    run = write_run(
        tmp_path / "run",
        "election",
        "fenced",
        *NOBODY_STANDS,
        name="one_controller",
        scope=find("election", "fenced")[0].scope | {"brokers": 2},
        loop=len(NOBODY_STANDS),
    )
    found = control_of(read_behaviour(run, "3.9.1"))
    assert str(found.omitted) == "faults.delete_controller()", "nothing is lost: the last fault"
    assert [str(step) for step in found.behaviour.steps[10:]] == ["election.maybe_resign(b=0) -> MINE"]


def test_an_election_that_is_asked_for_is_asked_for_when_the_controller_comes_to_it():
    found = read_behaviour(BUNDLED / "living-leader-forced-out.json", "3.9.1")
    names = [step.name for step in found.steps]
    assert names[-5:] == [
        "read_for_election",
        "ask_for_election",
        "admin_election",
        "read_for_election",
        "write_leader",
    ]


def test_answers_come_before_a_controller_finds_that_their_senders_have_gone():
    """In the order in which they are handled, and each when the one before has come."""
    found, told = read_behaviour(BUNDLED / "late-answer-ends-deletion.json", "3.9.1"), []

    class Stub:
        def await_frame(self, step, wanted):
            told.append((step.name, wanted.broker))
            return SimpleNamespace(let_go=lambda: told.append("let go"))

        def go_round(self, b):
            told.append(f"round {b}")

    along = Along.__new__(Along)
    along._steps, along._held, along._deeds, along._done = found.steps, Stub(), Stub(), set()
    number = next(n for n, step in enumerate(found.steps, 1) if step.name == "broker_change")
    along._let_answers_come(number)
    one = ["let go", "round 1"]
    assert told == [("broker_change", 1), ("replica_stopped", 1), *one, ("replica_stopped", 0), *one]
    assert [found.steps[n - 1].name for n in sorted(along._done)] == ["replica_stopped"] * 2


@pytest.mark.parametrize(
    "violated, is_control, wanted",
    [(True, False, ["nobody rules"]), (False, True, []), (False, False, None), (True, True, None)],
)
def test_what_holds_is_no_reproduction_and_what_does_not_is_no_control(violated, is_control, wanted):
    behaviour = SimpleNamespace(violated="p", steps=["last"])
    if wanted is None:
        with pytest.raises(Departs):
            concluded(behaviour, "nobody rules", violated, is_control or None)
    else:
        assert concluded(behaviour, "nobody rules", violated, is_control or None) == wanted


class Rules:
    """A link that keeps its rules, and does nothing."""

    def __init__(self):
        self.rules = []

    def add(self, rule):
        self.rules.append(rule)
        return rule

    def held(self, **said):
        """Whether a rule holds a frame."""
        return any(rule.action == HOLD and rule.take(said) for rule in self.rules)


def held_of(name):
    """The rules on the links of broker 0 for a bundled counterexample: to ZooKeeper, and of Kafka."""
    found = read_behaviour(BUNDLED / f"{name}.json", "3.9.1")
    brokers = range(found.size.brokers)
    cluster = SimpleNamespace(size=found.size, links={b: Rules() for b in brokers}, inner={b: Rules() for b in brokers})
    Held(cluster, None, found)
    return cluster.links[0], cluster.inner[0]


@pytest.mark.parametrize("part", [REQUEST, ANSWER])
def test_stop_replica_and_its_answer_are_held_where_they_delete(part):
    _, inner = held_of("late-answer-ends-deletion")
    said = {"part": part, "api": "StopReplica"}
    assert inner.held(**said, topics=[{"delete_partition": True}])
    assert not inner.held(**said, topics=[{"delete_partition": False}])
    assert not inner.held(part=ANSWER, api="LeaderAndIsr")
    assert not held_of("living-leader-forced-out")[1].held(**said, topics=[{"delete_partition": True}])


def test_what_is_held_of_an_election():
    zookeeper, _ = held_of("epoch-edited")
    for operation, path, data in (
        ("create", "/controller", "{}"),
        ("setData", "/controller_epoch", "2"),
        ("delete", "/controller", ""),
        ("create", "/brokers/ids/0", "{}"),
    ):
        assert zookeeper.held(part=REQUEST, operation=operation, path=path, data=data), (operation, path)
    multi = [
        {"operation": "check", "path": "/controller_epoch"},
        {"operation": "create", "path": "/brokers/topics/t/partitions", "data": ""},
    ]
    assert not zookeeper.held(part=REQUEST, operation="multi", operations=multi), "a check is no write"


def test_whether_a_new_topic_gets_a_state_is_asked_of_one_topic(monkeypatch):
    created, topics = [], []
    cluster = SimpleNamespace(
        below=lambda path: topics,
        registered=lambda: [0],
        create_events=lambda assigned: (created.append(assigned), topics.append("events")),
    )
    states = iter([None, "state"])
    monkeypatch.setattr(verdict, "state_in", lambda cluster, p: next(states))
    _, holds = verdict.MENDED["trapped"]
    assert [holds(cluster), holds(cluster)] == [False, True] and created == [[[0]]]


@pytest.mark.parametrize(
    "answer, leader, elects",
    [
        (EligibleLeadersNotAvailableError, -1, False),
        (EligibleLeadersNotAvailableError, 1, True),
        (KafkaConnectionError, -1, True),
        (None, -1, True),
    ],
)
def test_a_forced_election_is_refused_by_its_answer_and_not_by_silence(monkeypatch, answer, leader, elects):
    def elect(kind, partitions):
        if answer:
            raise answer

    admin = SimpleNamespace(elect_leaders=elect, close=lambda: None)
    monkeypatch.setattr(verdict, "KafkaAdminClient", lambda bootstrap_servers: admin)
    monkeypatch.setattr(verdict, "known_state_in", lambda cluster, p: SimpleNamespace(leader=leader))
    _, holds = verdict.MENDED["force_elects"]
    assert holds(SimpleNamespace(inner={}, children={})) is elects


def test_a_deletion_leaves_no_log():
    logs = {(1, 0)}
    _, holds = verdict.HOLDS["removed_when_deleted"]
    cluster = SimpleNamespace(size=Size(brokers=2), has_log=lambda b, p: (b, p) in logs)
    assert not holds(cluster)
    logs.clear()
    assert holds(cluster)
