"""Counterexamples in Apalache's Informal Trace Format: its rules, and the way back to our states."""

import json
import re

import pytest
from picture_examples import election

from kafkaproof.checker.model.execution import Execution
from kafkaproof.checker.pictures import to_itf
from kafkaproof.checker.runs.counterexample import executed
from kafkaproof.spec.catalogue import all_models, find
from kafkaproof.spec.language.domains import Array, Choice, Id, Record, SetOf
from kafkaproof.spec.language.plain import from_json
from tests.checker.arguments import kept, replication
from tests.toys import queue

PUTS = ["toys.put(value=2)", "toys.put(value=1)", "toys.take()"]


def is_expression(value):
    """Whether a value is one of the format's expressions."""
    if isinstance(value, dict) and any(name.startswith("#") for name in value):
        ((name, content),) = value.items()
        return {
            "#bigint": lambda: re.fullmatch("-?[0-9]+", content),
            "#set": lambda: isinstance(content, list) and all(map(is_expression, content)),
            "#tup": lambda: isinstance(content, list) and all(map(is_expression, content)),
            "#map": lambda: all(len(pair) == 2 and all(map(is_expression, pair)) for pair in content),
        }[name]()
    if isinstance(value, dict):
        return all(map(is_expression, value.values()))
    if isinstance(value, list):
        return all(map(is_expression, value))
    return isinstance(value, (str, bool)) or isinstance(value, int) and abs(value) < 2**53


def check_format(data):
    """Hold the rules of the format: every variable in every state, and nothing but expressions."""
    assert data.keys() <= {"#meta", "params", "vars", "states", "loop"} and {"vars", "states"} <= data.keys()
    assert all(isinstance(name, str) and not name.startswith("#") for name in data["vars"])
    for index, state in enumerate(data["states"]):
        assert state.keys() == {"#meta", *data["vars"]} and state["#meta"]["index"] == index
        assert all(is_expression(state[name]) for name in data["vars"])


def plain(domain, value):
    """A value of the format in our own JSON."""
    if isinstance(domain, Record) and isinstance(value, list):
        return [plain(domain.fields["slots"].domain.of, element) for element in value]
    if isinstance(domain, Record):
        return {name: plain(field.domain, value[name]) for name, field in domain.fields.items()}
    if isinstance(domain, Array):
        return [plain(domain.of, element) for element in value]
    if isinstance(domain, SetOf):
        return value["#set"]
    if isinstance(domain, Choice):
        assert value in domain.names
    return None if isinstance(domain, Id) and value == -1 else value


def states_of(model, scope, data):
    """The states that a trace in the format names."""
    return [from_json(model.state, plain(model.state, state), scope) for state in data["states"]]


def test_a_queue_is_a_list_and_each_state_names_its_step():
    data = to_itf(executed(queue(), {"room": 2}, PUTS), None)
    check_format(data)
    assert data["vars"] == ["waiting", "taken"]
    assert data["states"] == [
        {"#meta": {"index": 0}, "waiting": [], "taken": 0},
        {"#meta": {"index": 1, "step": "toys.put(value=2)"}, "waiting": [2], "taken": 0},
        {"#meta": {"index": 2, "step": "toys.put(value=1)"}, "waiting": [2, 1], "taken": 0},
        {"#meta": {"index": 3, "step": "toys.take()"}, "waiting": [1], "taken": 2},
    ]


def some_steps(model, scope, count=12):
    """The texts of the first steps that are enabled, one after the other, until none is."""
    run, texts = Execution(model, scope), []
    state = run.initial_states()[0]
    for _ in range(count):
        others = (step for step in run.successors(state, dict.fromkeys(scope, 0)) if step[2] != state)
        if (taken := next(others, None)) is None:
            break
        transition, arguments, after = taken
        run.after(state, transition, arguments)
        texts.append(str(run.step(transition, arguments)))
        state = after
    return texts


@pytest.mark.parametrize("model", all_models(), ids=lambda model: f"{model.system}-{model.variant}")
def test_every_model_s_states_come_back_from_the_format(model):
    trace = executed(model, model.scope, some_steps(model, model.scope))
    data = json.loads(json.dumps(to_itf(trace, None)))
    check_format(data)
    assert states_of(model, model.scope, data) == [trace.initial, *(after for _, _, after in trace.steps)]


def test_sets_names_and_nobody():
    model = find("replication", "kip320")[0]
    first = to_itf(executed(model, model.scope, []), model.properties[0])["states"][0]
    assert first["quorum"] == {"leader_epoch": -1, "leader": -1, "isr": {"#set": [0, 1, 2]}}
    broker = to_itf(
        executed(*find("election", "fenced"), {"brokers": 1, "epochs": 1, "faults": 0, "receivers": 1}, []), None
    )["states"][0]["brokers"][0]
    assert (broker["session"], broker["active"], broker["epoch"]) == ("DOWN", False, 0)


def test_a_run_s_counterexample_in_several_forms_at_once(kafkaproof, tmp_path):
    kafkaproof(*replication("kip101", 3, 1, 1, 1), *kept("bad"))
    answer = kafkaproof("show", "bad", "--itf", "a.itf.json", "--svg", "a.svg", "--dot", "a.dot", "--output", "a.html")
    assert answer.out == "11 steps; open a.svg, a.dot, a.itf.json, a.html\n"
    assert not (tmp_path / "bad/counterexample.html").exists()
    data = json.loads((tmp_path / "a.itf.json").read_text())
    check_format(data)
    assert len(data["states"]) == 12 and "strong_isr is violated" in data["#meta"]["description"]
    assert (
        "become_follower" in (tmp_path / "a.svg").read_text() and "become_follower" in (tmp_path / "a.dot").read_text()
    )
    both = kafkaproof("show", "bad", "--text", "--svg", "b.svg")
    assert "VIOLATED at step 11" in both.out and (tmp_path / "b.svg").exists()
    for form in ("dot", "itf"):
        assert f"--{form} shows one history" in kafkaproof("show", "bad", "--beside", "bad", f"--{form}", "c").complaint


def test_a_recorded_history_is_no_trace_of_a_model(kafkaproof, tmp_path):
    (tmp_path / "recorded.json").write_text(json.dumps(election()))
    assert kafkaproof("show", "recorded.json", "--svg", "r.svg").code == 0
    assert "recorded.json is a recorded history" in kafkaproof("show", "recorded.json", "--itf", "r.itf.json").complaint
