"""Brokers of ours that do as they like are driven along counterexamples by their links, as real ones are."""

import json
import re
from pathlib import Path

import pytest

from kafkaproof.checker.pictures.history import checked
from kafkaproof.impl.harness.conducting.conductor import Departs
from kafkaproof.impl.harness.driving.cluster import Cluster, Size
from kafkaproof.impl.harness.real import held
from kafkaproof.impl.harness.real.along import Along
from kafkaproof.impl.harness.real.behaviour import DRIVEN, read_behaviour
from kafkaproof.impl.harness.real.moves import DEEDS, FRAMES, INSIDE, frames_of, how, is_known
from kafkaproof.impl.harness.real.recorded import HISTORY, Recorded
from kafkaproof.spec.catalogue import find
from kafkaproof.spec.errors import UserError
from kafkaproof.spec.language.steps import Step, parse_step
from tests.checker.test_cluster_system import LOSS

ASLEEP = ["failover.elect(b=0) -> OK", "failover.load_brokers(b=0) -> OK", "failover.load_state(b=0, p=0) -> NONODE"]
DEPOSED = [*ASLEEP, "faults.delete_controller()", "failover.elect(b=1) -> OK"]
LANDS = [*DEPOSED, "machines.create_first_state(b=0, p=0, delivery=0) -> OK"]
FENCED = [*DEPOSED, "machines.create_first_state(b=0, p=0, delivery=0) -> FENCED"]
STAYS_NEW = [
    *ASLEEP,
    "machines.create_first_state(b=0, p=0, delivery=1) -> LOST",
    "machines.create_first_state(b=0, p=0, delivery=0) -> NODEEXISTS",
]
CANDIDATES = [
    f"{step}(b={b}) -> {answer}"
    for step, answer in (
        ("session.start", "OK"),
        ("session.register_broker", "OK"),
        ("election.maybe_resign", "NONODE"),
        ("legacy.look_for_controller", "NONODE"),
    )
    for b in (0, 1)
]
FOREIGN_DELETE = [
    *CANDIDATES,
    "legacy.create(b=0, delivery=0) -> OK",
    "legacy.learn_epoch(b=0) -> NONODE",
    "legacy.raise_epoch(b=0, delivery=0) -> NONODE",
    "faults.delete_controller()",
    "legacy.create(b=1, delivery=0) -> OK",
    "legacy.learn_epoch(b=1) -> NONODE",
    "legacy.raise_epoch(b=1, delivery=0) -> NONODE",
    "legacy.found_epoch(b=1, delivery=0) -> OK",
    "legacy.found_epoch(b=0, delivery=0) -> NODEEXISTS",
    "legacy.delete_any_controller(b=0, delivery=0) -> OK",
]
NOBODY_STANDS = [
    "session.start(b=0) -> OK",
    "session.register_broker(b=0) -> OK",
    "election.maybe_resign(b=0) -> NONODE",
    "election.look_for_controller(b=0) -> NONODE",
    "election.learn_epoch(b=0) -> NONODE",
    "election.found_epoch(b=0, delivery=0) -> OK",
    "election.register(b=0, delivery=0) -> OK",
    "active_controller.clean(b=0, delivery=0) -> OK",
    "active_controller.load(b=0) -> OK",
    "election.handle_change(b=0)",
    "faults.delete_controller()",
    "election.maybe_resign(b=0) -> NONODE",
]
DROPPED = [
    *ASLEEP,
    "machines.create_first_state(b=0, p=0, delivery=2) -> LOST",
    "machines.create_first_state(b=0, p=0, delivery=0) -> OK",
]


class Told:
    """Keeps what a watcher would print."""

    def __init__(self):
        self.steps = []

    def say(self, text, **line):
        self.steps += [line["step"]] if "step" in line else []

    def look(self, cluster):
        pass


@pytest.fixture
def behaviour(tmp_path):
    """A counterexample, as a run has left it."""

    def of(variant, trace, system="partition", **sizes):
        scope = {**find(system, variant)[0].scope, **sizes}
        violations = [{"property": "p", "trace": trace}]
        (tmp_path / "run.json").write_text("{}")
        (tmp_path / "result.json").write_text(
            json.dumps({"system": system, "variant": variant, "scope": scope, "violations": violations})
        )
        return read_behaviour(tmp_path, "3.9.1")

    return of


def drive(behaviour, directory, variant):
    """Drive brokers of a variant along; what was told."""
    told, brokers = Told(), behaviour.scope["brokers"]
    size = Size(brokers, 2, 1, variant=variant, session_timeout=60, recorded=False)
    with Cluster(directory, size) as cluster, Recorded(told, cluster, behaviour) as recorded:
        driver = Along(cluster, recorded, behaviour)
        try:
            if not behaviour.starts_brokers:
                cluster.start_all()
                driver.await_started(*range(brokers))
            driver.take_all()
            driver.compare_end()
        finally:
            driver.let_all_go()
    return told.steps


@pytest.mark.parametrize(
    "variant, trace",
    [("legacy", LANDS), ("fenced", FENCED), ("fenced", STAYS_NEW), ("fenced", DROPPED), ("legacy", DROPPED)],
)
def test_they_go_along(behaviour, tmp_path, variant, trace):
    steps = drive(behaviour(variant, trace, brokers=2), tmp_path / "cluster", variant)
    assert steps == [str(parse_step(text)) for text in trace]
    history = written(tmp_path)
    assert [step["text"] for step in history["steps"]] == steps
    for text, step in zip(trace, history["steps"]):
        assert step["notes"][0] == how(parse_step(text)) and len(step["time"]) == len("12:34:56.789")
    state = history["steps"][-1]["state"]["zookeeper"]["partitions"]["events-0"]
    assert (state and sorted(state["isr"])) == (None if trace == FENCED else [0, 1])
    assert not any("violates" in step for step in history["steps"]), "nobody has said that it was reproduced"


def written(tmp_path):
    """The history that a run has left, which is one that can be shown; nothing half-written is beside it."""
    assert [file.name for file in (tmp_path / "cluster" / "recording").glob("history*")] == ["history.json"]
    return checked(json.loads((tmp_path / "cluster" / HISTORY).read_text()))


@pytest.mark.parametrize("variant, trace", [("legacy", FOREIGN_DELETE), ("fenced", NOBODY_STANDS)])
def test_they_go_along_an_election_from_before_they_start(behaviour, tmp_path, variant, trace):
    steps = drive(behaviour(variant, trace, system="election", brokers=2), tmp_path / "cluster", variant)
    assert steps == [str(parse_step(text)) for text in trace]


def test_where_they_go_otherwise_the_step_is_named(behaviour, tmp_path):
    told = r"step 6, machines.create_first_state\(.*\) -> OK: the answer is FENCED"
    with pytest.raises(Departs, match=told):
        drive(behaviour("legacy", LANDS, brokers=2), tmp_path / "cluster", "fenced")
    history = written(tmp_path)
    last = history["steps"][-1]
    assert (len(history["steps"]), last["text"]) == (6, FENCED[-1])
    assert re.search(f"It goes otherwise: {told}", history["story"]) and re.search(told, last["notes"][-1])
    assert "violates" not in last


def test_a_step_that_does_not_come_is_named_with_what_is_done_instead(behaviour, tmp_path, monkeypatch):
    monkeypatch.setattr(held, "WAIT", 5.0)
    trace = [*ASLEEP, "machines.create_first_state(b=0, p=0, delivery=0) -> OK"]
    found = behaviour("fenced", trace, brokers=2)
    found.steps[2] = parse_step("machines.write_leader(b=0, p=0, delivery=0) -> OK")
    told = "write_leader.*waited 5 seconds for setData .*; it does create /brokers/topics/events"
    with pytest.raises(Departs, match=told):
        drive(found, tmp_path / "cluster", "fenced")
    history = written(tmp_path)
    assert [step["text"] for step in history["steps"]] == ASLEEP[:2], "it ends before the step that did not come"
    assert re.search(told, history["steps"][-1]["notes"][-1])


def test_what_brokers_hear_of_at_once_comes_late(behaviour):
    trace = [ASLEEP[0], "faults.delete_controller()", *ASLEEP[1:], *DEPOSED[4:], *FENCED[5:]]
    assert [str(step) for step in behaviour("fenced", trace, brokers=2).steps] == FENCED


def test_of_every_step_of_a_controller_it_is_known_what_it_is_outside():
    known = {*FRAMES, *DEEDS, *INSIDE}
    for system, variant in (("partition", "fenced"), ("partition", "legacy"), ("topics", "kip455")):
        names = {
            t.name.split(".")[1]
            for t in find(system, variant)[0].transitions
            if t.name.split(".")[0] in ("failover", "machines", "brokers", "isr", "reassignment", "term")
        }
        assert names <= known, names - known


@pytest.mark.parametrize(
    "text, wanted",
    [
        ("failover.elect(b=1) -> OK", "held until then: create /controller, of broker 1"),
        (
            "isr.alter_partition(b=2, p=0, sender=0, isr=1, delivery=0) -> OK",
            "held until then: AlterPartition 0 of broker 0, to broker 2, "
            "then setData /brokers/topics/events/partitions/0/state, of broker 2",
        ),
        ("faults.crash(b=1)", "done by the driver"),
        ("brokers.broker_failure(b=1)", "inside the process"),
    ],
)
def test_the_plan_says_how_each_step_is_brought_about(text, wanted):
    assert wanted in how(parse_step(text))


def test_what_is_not_known_outside_is_refused_before_anything_starts(behaviour):
    for step in (
        "session.reopen(b=0) -> OK",
        "active_controller.write_state(b=0, delivery=0) -> OK",
        "requests.leader_and_isr(b=0, epoch=1)",
    ):
        with pytest.raises(UserError, match="step 1, .*nothing is known of what it is outside of a process"):
            behaviour("fenced", [step], system="election")


def test_systems_whose_brokers_are_not_driven_are_refused(behaviour):
    with pytest.raises(UserError, match="group is not driven: election, partition, topics, cluster are"):
        behaviour("current", [], system="group")


def test_a_partition_without_a_state_is_read_and_not_written():
    assert frames_of(parse_step("machines.create_first_state(b=1, p=0)")) == []
    (read,) = frames_of(parse_step("reassignment.tell_replicas(b=1, p=0) -> NONODE"))
    assert read.text == "getData /brokers/topics/events/partitions/0/state, of broker 1"


def test_of_all_known_steps_of_driven_systems_there_are_frames():
    """Steps of one name in several systems have the same arguments, or nothing is known of one of them."""
    for model in [model for system in DRIVEN for model in find(system)]:
        for transition in model.transitions:
            step = Step(transition.name, dict.fromkeys(transition.arguments, 0), None)
            if is_known(step):
                assert how(step), step


def test_a_run_may_be_a_file_with_one_trace(tmp_path):
    recordings = Path(__file__).parents[2] / "traces" / "recordings"
    lost = read_behaviour(recordings / "3.9.1-lost-records" / "counterexample.json", "3.9.1")
    assert (lost.model.system, lost.violated, len(lost.steps)) == ("cluster", "committed", len(LOSS.split("\n")[1:-1]))
    new = read_behaviour(recordings / "3.9.1-stays-new" / "counterexample.json", "3.9.1")
    assert [str(step) for step in new.steps] == STAYS_NEW
    file = tmp_path / "trace.json"
    for content in ("[]", "{}", '{"system": "cluster", "variant": "fenced", "scope": {}, "trace": [1]}'):
        file.write_text(content)
        with pytest.raises(UserError, match="not the result of a run"):
            read_behaviour(file, "3.9.1")
