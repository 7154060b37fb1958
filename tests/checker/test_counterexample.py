"""A counterexample is a shortest behaviour: each of its steps is enabled, and its end violates."""

from dataclasses import replace

import pytest

from kafkaproof.checker.compile.kernel import Kernel
from kafkaproof.checker.explore.reference import explore
from kafkaproof.checker.model.execution import Execution
from kafkaproof.checker.runs.counterexample import TraceError, executed, trace_of
from kafkaproof.spec.catalogue import find
from kafkaproof.spec.language.model import always_step
from tests.checker.models import DIAMOND, TOYS, explored, kernel_of
from tests.toys import add, counter

KIP101, SCOPE = find("replication", "kip101")[0], {"brokers": 2, "log": 2, "records": 2, "epochs": 2}


def never_two_to_four(before, after, amount):
    """No step of two leads from 2 to 4."""
    return before.number != 2 or amount == 1


STEPPING = replace(counter(6), properties=(always_step(never_two_to_four, of=(add.__name__,)),))


def check_behaviour(trace, found):
    """The trace starts in an initial state, takes enabled steps, and is as long as was said."""
    execution = Execution(trace.model, trace.scope)
    assert trace.initial in execution.initial_states()
    state = trace.initial
    for step, transition, after in trace.steps:
        assert execution.after(state, transition, tuple(step.arguments.values())) == after
        state = after
    assert trace.states == 1 + len(trace.steps) == found.trace_length


def check_end(trace, prop):
    """The last state, or the last step, violates the property; none before does."""
    states = [trace.initial, *(after for _, _, after in trace.steps)]
    if prop.kind == "always":
        assert [bool(prop.predicate(state)) for state in states] == [True] * (len(states) - 1) + [False]
    else:
        execution, (step, transition, after) = Execution(trace.model, trace.scope), trace.steps[-1]
        assert execution.broken_by_step(states[-2], transition, tuple(step.arguments.values()), after) == [prop.name]


def check_all(run, kernel, context=None, partitions=1):
    """Check the counterexample of each violation; returns their lengths."""
    violations = explored(run, kernel, context, partitions).outcome.violations
    properties = {p.name: p for p in kernel.model.properties}
    for found in violations:
        trace = trace_of(run, kernel, found)
        check_behaviour(trace, found)
        check_end(trace, properties[found.name])
    return {found.name: found.trace_length for found in violations}


@pytest.mark.parametrize("name", [name for name in TOYS if name.startswith("failing")] + ["path", "diamond"])
def test_of_a_toy(run_directory, name):
    model = TOYS[name]
    assert check_all(run_directory, kernel_of(model)) == explore(model, model.scope).violated != {}


def test_of_a_step_ends_with_that_step(run_directory):
    assert check_all(run_directory, kernel_of(STEPPING)) == {"never_two_to_four": 3}
    (found,) = explored(run_directory, kernel_of(STEPPING)).outcome.violations
    assert [str(step) for step, _, _ in trace_of(run_directory, kernel_of(STEPPING), found).steps] == [
        "toys.add(amount=2)",
        "toys.add(amount=2)",
    ]


def test_of_a_deadlock_ends_in_a_state_without_steps(run_directory):
    kernel = kernel_of(TOYS["path"])
    deadlock = explored(run_directory, kernel, deadlock=True).outcome.violations[-1]
    trace = trace_of(run_directory, kernel, deadlock)
    check_behaviour(trace, deadlock)
    assert not list(Execution(trace.model, trace.scope).successors(trace.steps[-1][2], {}))


def test_of_the_museum_found_on_spark(run_directory, spark):
    kernel = Kernel(KIP101, SCOPE, KIP101.properties)
    assert check_all(run_directory, kernel, spark, 3) == {"weak_isr": 12, "strong_isr": 12}


def test_written_as_text_it_can_be_executed_again(run_directory):
    kernel = Kernel(KIP101, SCOPE, KIP101.properties)
    found = explored(run_directory, kernel).outcome.violations[0]
    trace = trace_of(run_directory, kernel, found)
    again = executed(KIP101, SCOPE, [str(step) for step, _, _ in trace.steps])
    assert again.steps == trace.steps


def test_from_another_initial_state_it_can_be_executed_again():
    assert executed(TOYS["clock"], {}, ["toys.tock()"]).initial.time == 1


@pytest.mark.parametrize(
    ("texts", "complaint"),
    [
        (["toys.follow(to=3)"], "step 1, toys.follow.*, is not enabled"),
        (["toys.follow(to=1)", "toys.follow(to=2)"], "step 2, toys.follow.*, is not enabled"),
        (["toys.follow(to=1)", "walk!"], "step 2: not a step: 'walk!'"),
        (["toys.jump(to=1)"], "step 1: graph/failing has no transition toys.jump"),
        (["toys.follow()"], r"step 1: toys.follow\(\): the arguments are to"),
        (["toys.follow(to=1, by=2)"], r"step 1: .*: the arguments are to"),
        (["toys.follow(to=17)"], r"step 1: toys.follow\(to=17\): to is out of its range in this scope"),
    ],
)
def test_a_trace_that_is_no_behaviour_is_refused_at_its_first_wrong_step(texts, complaint):
    with pytest.raises(TraceError, match=complaint):
        executed(DIAMOND, DIAMOND.scope, texts)
