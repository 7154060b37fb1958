"""A session shows each place as the model has it: what is possible, what is not and why, and what each property says."""

import json
import random

import pytest
from served import legacy

from kafkaproof.checker.basics.errors import UserError
from kafkaproof.checker.interactive.session import Session
from kafkaproof.checker.interactive.written import command_of, page_of, scenario_text, trace_text
from kafkaproof.checker.model.execution import Execution
from kafkaproof.checker.scenarios.parse import read_scenario
from kafkaproof.checker.scenarios.play import play
from kafkaproof.spec.catalogue import find

MODELS = [("election", "legacy"), ("partition", "fenced"), ("replication", "kip101"), ("group", "current")]

EXPIRED = ["session.start(b=0) -> OK", "faults.expire_session(b=0)"]
KIP101 = [
    "replication.elect_leader(leader=0)",
    "replication.become_leader(leader=0, request=0)",
    "replication.leader_write(leader=0)",
    "unfenced_replication.leader_shrink_isr(leader=0, follower=1)",
    "replication.elect_leader(leader=2)",
    "kip101.become_follower(leader=0, follower=2, request=0)",
    "unfenced_replication.follower_replicate(leader=0, follower=2)",
    "unfenced_replication.leader_inc_high_watermark(leader=0)",
    "replication.become_leader(leader=2, request=1)",
    "kip101.become_follower(leader=2, follower=1, request=1)",
    "unfenced_replication.leader_expand_isr(leader=2, follower=1)",
]


def possible(seen):
    """The texts of the steps that are possible."""
    return [step["text"] for group in seen["possible"] for step in group["steps"]]


def wandered(session, steps, seed):
    """The trace of a random walk."""
    chooser, trace = random.Random(seed), session.trace(0, [])
    for _ in range(steps):
        ways = possible(session.look(trace))
        if not ways:
            break
        trace = session.trace(0, [*(str(step) for step, _, _ in trace.steps), chooser.choice(ways)])
    return trace


@pytest.mark.parametrize("name", MODELS, ids="/".join)
def test_what_is_possible_is_what_the_model_has_and_the_rest_says_why(name):
    model = find(*name)[0]
    session, execution = Session(model, model.scope), Execution(model, model.scope)
    for seed in range(3):
        trace = wandered(session, 8, seed)
        seen = session.look(trace)
        within, beyond = [], []
        for transition, arguments, _, bound in execution.steps(trace.last):
            (beyond if bound else within).append(str(execution.step(transition, arguments)))
        assert sorted(possible(seen)) == sorted(within)
        assert sorted(step["text"] for step in seen["beyond"]) == sorted(beyond)
        enabled = {text.partition("(")[0] for text in within + beyond}
        assert {each["transition"] for each in seen["impossible"]} == {t.name for t in model.transitions} - enabled
        for each in seen["impossible"]:
            assert all(" refuses: " in guard for guard in session.why(trace.last, each["transition"]))
        assert any(session.why(trace.last, each["transition"]) for each in seen["impossible"])


def test_the_changed_fields_are_those_that_the_last_step_changed():
    session = legacy()
    seen = session.look(session.trace(0, ["session.start(b=0) -> OK"]))
    assert {f["field"]: f["was"] for group in seen["state"] for f in group["fields"] if f["was"]} == {
        "zk.clients[0].session": "false",
        "brokers[0].session": "DOWN",
        "brokers[0].doing": "IDLE",
    }
    assert [group["of"] for group in seen["state"]] == ["zk", "brokers[0]", "brokers[1]", "network"]


def test_a_property_says_where_it_was_violated_reached_or_is_awaited():
    model = find("replication", "kip101")[0]
    scope = {"brokers": 3, "log": 1, "records": 1, "epochs": 1}
    session = Session(model, scope)
    trace = session.trace(0, KIP101)
    status = {each["name"]: each for each in session.look(trace)["properties"]}
    assert (status["strong_isr"]["status"], status["strong_isr"]["mark"]) == ("violated here", "bad")
    before = {each["name"]: each for each in session.look(session.trace(0, KIP101[:-1]))["properties"]}
    assert before["strong_isr"]["status"] == "holds so far"
    assert session.look(trace)["path"][-1]["breaks"] == ["strong_isr"]
    last = session.look(session.trace(0, KIP101[:-1]))["possible"]
    assert ["strong_isr"] in [step["breaks"] for group in last for step in group["steps"]]
    election = legacy()
    waits = {each["name"]: each["status"] for each in election.look(election.trace(0, []))["properties"]}
    assert waits["one_controller"] == "waiting since the start" and waits["two_controllers"] == "not reached so far"


def test_a_step_that_is_not_possible_is_refused_with_its_guard():
    session = legacy()
    with pytest.raises(UserError, match=r"register_broker\(b=0\), is not enabled: spec/election/.* refuses: "):
        session.trace(0, ["session.register_broker(b=0) -> OK"])
    beyond = [*EXPIRED, session.look(session.trace(0, EXPIRED))["beyond"][0]["text"]]
    with pytest.raises(UserError, match="goes beyond the bound faults"):
        session.trace(0, beyond)
    with pytest.raises(UserError, match="no initial state 7"):
        session.trace(7, [])
    with pytest.raises(UserError, match="no transition nothing"):
        session.why(session.initial_states[0], "nothing")


def test_what_is_written_is_read_again(tmp_path):
    model = find("replication", "kip101")[0]
    session = Session(model, {"brokers": 3, "log": 1, "records": 1, "epochs": 1})
    trace = session.trace(0, KIP101)
    (file := tmp_path / "path.scenario").write_text(scenario_text(session, trace))
    scenario = read_scenario(file)
    told = play(scenario, scenario.parts[0])
    assert told.failure is None and [str(step) for step, _, _ in told.trace.steps] == KIP101
    written = json.loads(trace_text(session, trace))
    assert written["trace"] == KIP101 and written["property"] == "strong_isr"
    assert command_of(session, trace).startswith("kafkaproof explore replication --variant kip101 --brokers 3 --log 1 ")
    assert '"violates":["strong_isr"]' in page_of(session, trace)
