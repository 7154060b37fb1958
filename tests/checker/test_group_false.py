"""What is false of groups beyond the recorded scopes: behaviours at the sizes of the proofs are executed."""

import pytest

from kafkaproof.checker.model.execution import Execution
from kafkaproof.checker.prove.table import proved_scope
from kafkaproof.checker.runs.counterexample import executed
from kafkaproof.spec.catalogue import find
from kafkaproof.spec.proofs import PROOFS
from tests.checker.group_behaviours import FALSE


@pytest.mark.parametrize("variant, broken", [(variant, name) for variant, names in FALSE.items() for name in names])
def test_what_is_false_beyond_the_recorded_scopes_is_violated_at_the_sizes_of_the_proof(variant, broken):
    (model,) = find("group", variant)
    ends = {"generations": 4, "epochs": 4, "faults": 4, "periods": 2}
    trace = executed(model, proved_scope(model) | ends, FALSE[variant][broken])
    (_, _, before), (step, transition, after) = trace.steps[-2:]
    (prop,) = [p for p in model.properties if p.name == broken]
    arguments = tuple(step.arguments.values())
    by_step = Execution(model, trace.scope).broken_by_step(before, transition, arguments, after)
    assert broken in by_step if prop.kind == "step" else not prop.predicate(after)


def test_they_are_those_that_are_told():
    plans = {variant: plan for (system, variant), plan in PROOFS.items() if system == "group"}
    told = {(variant, name) for variant, plan in plans.items() for name in plan.false_beyond}
    assert told == {(variant, name) for variant, names in FALSE.items() for name in names}
