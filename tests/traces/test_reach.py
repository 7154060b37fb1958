"""What runs is what real logs are held to: replay runs each transition that a process of a running cluster runs, but for
those that leave nothing in a log of ZooKeeper."""

import ast
import importlib
from pathlib import Path

import pytest

from kafkaproof.spec.catalogue import find
from kafkaproof.spec.election.model import MODELS as ELECTIONS
from kafkaproof.spec.language.model import FAULT
from kafkaproof.spec.running.processes import VARIANTS, cluster
from kafkaproof.traces.evidence.features import RANGES
from kafkaproof.traces.explain.election.possibilities import own_steps
from kafkaproof.traces.explain.election.single_steps import ElectionSteps
from kafkaproof.traces.explain.partitions.scene import PARTITION, TOPICS, stage_of

ROOT = Path(__file__).parents[2]
MODULES = sorted(
    file for part in ("election", "partitions", "topics") for file in (ROOT / "traces" / "explain" / part).rglob("*.py")
)
"""The modules of replay that take steps; others name them in reports."""

REQUESTS = "a request between brokers, or its answer, of which ZooKeeper hears nothing"
DATA_PLANE = "messages of partitions are in no log of ZooKeeper"
WISH = "what a leader wants is seen when the controller, or itself, writes the ISR"
IN_STEPS = "a log shows the steps that it is made of, which replay runs"
NO_WRITE = "it reads what an operator or a broker has written, and the log shows only the steps that follow"
ANYBODY = "tools and other brokers write the same znode: what the controller remembers says nothing of them"
NOT_SHOWN = {
    "partition": {
        "leader_and_isr": REQUESTS,
        "update_metadata": REQUESTS,
        "halt_replica": REQUESTS,
        "receive_error": REQUESTS,
        "produce": DATA_PLANE,
        "consume": DATA_PLANE,
        "send_request": DATA_PLANE,
        "serve_fetch": DATA_PLANE,
        "receive_answer": DATA_PLANE,
        "expand_isr": WISH,
        "shrink_isr": WISH,
        "learn_isr": WISH,
        "refuse_isr": WISH,
        "confirm_isr": WISH,
        "refuse_change": WISH,
        "elect": IN_STEPS,
        "resign": IN_STEPS,
        "reopen": IN_STEPS,
        "reassignment": IN_STEPS,
        "reassign": NO_WRITE,
        "drop_reassignment": NO_WRITE,
        "drop_unknown": NO_WRITE,
        "isr_notification": NO_WRITE,
        "mark_topic": ANYBODY,
        "configure_topic": ANYBODY,
    },
    "election": {"send": REQUESTS, "leader_and_isr": REQUESTS, "update_metadata": REQUESTS, "stop_replica": REQUESTS},
}
"""By part: what processes run and replay of a real log does not, and why."""


def running(part):
    """The transitions that processes run, by their names."""
    return {
        transition.function.__name__: transition.function
        for variant in VARIANTS
        for transition in cluster(variant).model(part).transitions
        if transition.kind != FAULT
    }


def named_in(file, known):
    """The names of the transitions that a module of replay names, as objects, in its code."""
    module = importlib.import_module("kafkaproof." + ".".join(file.relative_to(ROOT).with_suffix("").parts))
    for node in ast.walk(ast.parse(file.read_text())):
        match node:
            case ast.Attribute(ast.Name(owner), name):
                value = getattr(getattr(module, owner, None), name, None)
            case ast.Name(name):
                value = getattr(module, name, None)
            case _:
                continue
        yield from (known[part.__code__] for part in parts_of(value) if part.__code__ in known)


def parts_of(value):
    """A function, and the steps that it joins into one; nothing of what is no function."""
    if hasattr(value, "__code__"):
        yield value
        for name in getattr(value, "__joins__", ()):
            yield from parts_of(value.__globals__[name])


def reached(part):
    """The transitions that replay runs: those that it names, those with which an event of a controller goes on, and of an
    election all hidden ones."""
    known = {t.function.__code__: t.function.__name__ for model in find(part) for t in model.transitions}
    found = {name for file in MODULES for name in named_in(file, known)}
    if part == "election":
        return found.union(*(own_steps(ElectionSteps(model)) for model in ELECTIONS))
    variants = {
        (variant, PARTITION)
        for each in RANGES
        for variant in (each.electing, each.handling, each.reassigning, *each.explaining)
    } | {(variant, TOPICS) for each in RANGES for variant in each.making}
    return found | {name for variant in variants for name, *_ in stage_of(*variant).continuations}


def unreached(part, transitions):
    """The names of those that replay does not reach and that are not listed."""
    return sorted(transitions.keys() - reached(part) - NOT_SHOWN[part].keys())


@pytest.mark.parametrize("part", NOT_SHOWN)
def test_replay_reaches_what_runs(part):
    assert unreached(part, running(part)) == []


@pytest.mark.parametrize("part", NOT_SHOWN)
def test_what_logs_do_not_show_is_what_runs_and_is_not_reached(part):
    assert sorted(NOT_SHOWN[part].keys() - running(part).keys()) == []
    assert sorted(NOT_SHOWN[part].keys() & reached(part)) == []


@pytest.mark.parametrize("part", NOT_SHOWN)
def test_a_transition_that_replay_knows_nothing_of_is_found(part):
    assert unreached(part, running(part) | {"planted": lambda s, b: False}) == ["planted"]


def test_a_transition_that_replay_forgets_is_found(monkeypatch):
    forgetful = [file for file in MODULES if file.name not in ("events.py", "proposals.py")]
    monkeypatch.setattr(f"{__name__}.MODULES", forgetful)
    found = unreached("partition", running("partition"))
    assert {"alter_partition", "change_isr", "broker_change", "controlled_shutdown", "rebalance"} <= set(found)
