"""Liveness of Kafka's control plane: the recorded lassos are found, in memory, in rounds and by plain Python."""

from dataclasses import replace
from importlib import import_module

import pytest

from kafkaproof.checker.compile.kernel import Kernel
from kafkaproof.checker.explore.reference import violations
from kafkaproof.checker.liveness.decide import decide
from kafkaproof.checker.liveness.lasso import reasons
from kafkaproof.checker.runs.counterexample import executed
from kafkaproof.spec.catalogue import find
from kafkaproof.spec.group.scopes import scope as group_scope
from kafkaproof.spec.language.model import LIVENESS, Property
from tests.checker.in_process import InProcess
from tests.checker.models import explored

RECORDED = {
    "election": ("legacy", "fenced", "fenced-standing"),
    "requests": ("current",),
    "partition": ("legacy", "fenced"),
    "topics": ("two-phase", "kip455"),
    "replica": ("hw", "current"),
    "consumer": ("checked", "orderly"),
}
ONE_BROKER = {"brokers": 1, "epochs": 2, "faults": 1, "receivers": 1}


def assumed(system):
    """The transitions that the assumptions of a system's properties of liveness name, for whichever variant."""
    found = vars(import_module(f"kafkaproof.spec.{system}.properties.liveness")).values()
    properties = [p for value in found for p in (value if isinstance(value, tuple) else (value,))]
    return {name for p in properties if isinstance(p, Property) for a in p.given for name in a.of}


@pytest.mark.parametrize("system", [*RECORDED, "group"])
def test_every_transition_that_is_assumed_to_be_fair_is_one_of_some_variant(system):
    assert assumed(system) and assumed(system) <= {
        t.function.__name__ for model in find(system) for t in model.transitions
    }


CREATED_BY_A_ZOMBIE = (
    "failover.elect(b=0)",
    "failover.load_brokers(b=0)",
    "failover.load_state(b=0, p=0)",
    "faults.delete_controller()",
    "failover.elect(b=1)",
    "failover.load_brokers(b=1)",
    "failover.load_state(b=1, p=0)",
    "machines.create_first_state(b=0, p=0, delivery=0)",
    "failover.resign(b=0)",
    "replica.leader_and_isr(b=0, epoch=1, p=0)",
    "replica.leader_and_isr(b=1, epoch=1, p=0)",
    "machines.create_first_state(b=1, p=0, delivery=0)",
)


@pytest.mark.parametrize("variant", ["legacy", "zkclient", "rolling"])
@pytest.mark.parametrize(
    ("name", "texts"),
    [
        ("reassignment_dealt_with", ("faults.ask_for_reassignment(p=0, target=0)", *CREATED_BY_A_ZOMBIE)),
        ("may_go", ("faults.shut_down(b=0)", *CREATED_BY_A_ZOMBIE, "brokers.controlled_shutdown(b=1, leaver=0)")),
    ],
)
def test_a_controller_that_did_not_create_a_partition_deals_with_nothing_of_it(variant, name, texts):
    (model,) = find("partition", variant)
    trace = executed(model, model.scope | {"brokers": 2, "faults": 2}, texts)
    (prop,) = [p for p in model.properties if p.name == name]
    assert "is waited for" in reasons(replace(trace, loop=len(texts)), prop)[0]


def kernel_of(system, variant, scope):
    """The kernel of a variant with its properties of liveness alone."""
    (model,) = find(system, variant)
    return Kernel(model, scope, tuple(p for p in model.properties_at(scope) if p.kind in LIVENESS))


def lengths(decided):
    """The states of the way to each lasso."""
    return {d.prop.name: d.lasso.states for d in decided if d.lasso}


def of_liveness(model, recorded):
    """What is recorded of liveness alone."""
    return {p.name: recorded[p.name] for p in model.properties if p.kind in LIVENESS and p.name in recorded}


@pytest.mark.parametrize(("system", "variant"), [(s, v) for s, variants in RECORDED.items() for v in variants])
def test_the_recorded_lassos_are_found_at_the_quick_scope(run_directory, system, variant):
    (model,) = find(system, variant)
    kernel = kernel_of(system, variant, model.scopes["quick"])
    explored(run_directory, kernel)
    decided = decide(run_directory, kernel)
    assert lengths(decided) == of_liveness(model, model.expectation(kernel.scope))
    assert decided and not any(d.vacuous for d in decided)
    for violated in filter(lambda d: d.lasso, decided):
        again = executed(model, kernel.scope, [str(step) for step, _, _ in violated.lasso.steps])
        assert reasons(replace(again, loop=violated.lasso.loop), violated.prop) == list(violated.reasons)


@pytest.mark.parametrize("variant", ["locked", "current"])
def test_groups_that_nobody_needs_are_removed(run_directory, variant):
    kernel = kernel_of("group", variant, group_scope(generations=2, periods=1))
    explored(run_directory, kernel)
    decided = {d.prop.name: (bool(d.lasso), d.vacuous) for d in decide(run_directory, kernel)}
    assert decided == dict.fromkeys(("all_work", "is_answered", "has_left", "is_removed"), (False, False))


@pytest.mark.parametrize("variant", ["zkclient", "fenced"])
def test_plain_python_and_rounds_of_messages_find_the_same_lassos(run_directory, monkeypatch, variant):
    kernel = kernel_of("election", variant, ONE_BROKER)
    explored(run_directory, kernel)
    here = decide(run_directory, kernel)
    monkeypatch.setattr("kafkaproof.checker.liveness.decide.Partitions", InProcess)
    there = decide(run_directory, kernel, context=True, partitions=3, in_memory=0)
    assert lengths(here) == lengths(there) == of_liveness(kernel.model, violations(kernel.model, ONE_BROKER))
    assert [(d.waiting, d.cut, d.vacuous) for d in here] == [(d.waiting, d.cut, d.vacuous) for d in there]
