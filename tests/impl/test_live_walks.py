"""Random walks of the models are taken by processes on a real ZooKeeper, step by step, and their recordings conform."""

import shutil

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kafkaproof.checker.model.execution import Execution
from kafkaproof.impl.harness.conducting.counterexample import lose_undelivered, why_not
from kafkaproof.spec.catalogue import find
from tests.impl.test_conductor import SCOPES, write_run

STEPS = 40


def walk(data, model, scope):
    """The texts of steps that are enabled one after the other, and that a cluster takes; each kind is as likely."""
    execution, texts = Execution(model, scope), []
    state = execution.initial_states()[0]
    for _ in range(STEPS):
        enabled = {}
        for transition, arguments, _, bound in execution.steps(state):
            if bound is None and why_not(model, state, execution.step(transition, arguments)) is None:
                enabled.setdefault(transition.name, []).append(arguments)
        if not enabled:
            break
        name = data.draw(st.sampled_from(list(enabled)))
        transition, arguments = model.transition(name), data.draw(st.sampled_from(enabled[name]))
        state = execution.after(state, transition, arguments)
        step = execution.step(transition, arguments)
        lose_undelivered(model, state, step)
        texts.append(str(step))
    return texts


@pytest.mark.parametrize("system, variant", [("election", "legacy"), ("election", "fenced"), ("partition", "legacy")])
@settings(max_examples=1, database=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_processes_do_what_the_model_does(kafkaproof, tmp_path, system, variant, data):
    texts = walk(data, find(system, variant)[0], SCOPES[system])
    shutil.rmtree(tmp_path / "run", ignore_errors=True)
    shutil.rmtree(tmp_path / "c", ignore_errors=True)
    run = write_run(tmp_path / "run", system, variant, *texts)
    ran = kafkaproof("run", "--json", "--from-counterexample", run, "--directory", "c")
    assert ran.code == 0 and len(texts) > 10, ran.out
    assert kafkaproof("replay", "--json", "c").json["verdict"] == "conforms"
