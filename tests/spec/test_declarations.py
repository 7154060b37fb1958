"""What transitions are declared to be is what their texts do."""

import random

import pytest

from kafkaproof.checker.model.execution import Execution
from kafkaproof.spec.catalogue import all_models, find
from kafkaproof.spec.election import active_controller
from kafkaproof.spec.election.broker_state import IDLE
from kafkaproof.spec.language.model import CONTINUATION, FAULT
from kafkaproof.spec.partition.context import IDLE as WAITING
from kafkaproof.spec.running.processes import VARIANTS, cluster
from kafkaproof.spec.running.seams import answers_of

STEPS, WALK = 600, 20


def is_lossy(seam):
    """Whether the answer of a request may be lost: that of a write."""
    return "delivery" in seam.__code__.co_varnames[: seam.__code__.co_argcount]


@pytest.mark.parametrize("variant", VARIANTS)
def test_what_goes_with_a_write_of_the_other_part_writes_and_what_goes_with_a_read_reads(variant):
    partners = {
        t.name: (t.partner, answers_of(t.function)) for t in cluster(variant).partition.transitions if t.partner
    }
    assert {active_controller.clean, active_controller.load} == {partner for partner, _ in partners.values()}
    partners.pop("leader_zk.isr_notification", None)  # it reads, and deletes what it has read of
    for name, (partner, requests) in partners.items():
        assert (partner is active_controller.clean) == any(is_lossy(request) for request in requests), name


def walks(model):
    """States of short random walks, each with the steps that are enabled there."""
    chance, run = random.Random(5), Execution(model, model.scopes["quick"])
    for i in range(STEPS):
        if i % WALK == 0:
            state = chance.choice(run.initial_states())
        found = list(run.successors(state, dict.fromkeys(model.sizes, 0)))
        yield state, found
        state = chance.choice(found)[2] if found else state


@pytest.mark.parametrize(
    "system, variant", [(m.system, m.variant) for m in all_models() if m.system in ("election", "partition")]
)
def test_an_event_goes_on_only_while_one_is_in_progress(system, variant):
    (model,) = find(system, variant)
    continued = set()
    for state, enabled in walks(model):
        for transition, arguments, _ in enabled:
            if transition.kind == CONTINUATION:
                broker = state.brokers[arguments[0]]
                if system == "election":
                    assert broker.doing != IDLE or variant == "zkclient" and broker.to_register, transition.name
                else:
                    stands = variant.startswith("electing") and broker.doing != IDLE
                    assert stands or broker.controller.doing != WAITING, transition.name
                continued.add(transition.name)
    assert len(continued) > 3


@pytest.mark.parametrize("model", all_models(), ids=lambda model: f"{model.system}/{model.variant}")
def test_only_what_comes_from_outside_has_no_code_of_kafka_to_name(model):
    for transition in model.transitions:
        assert transition.kind == FAULT or "\nKafka:" in transition.function.__doc__.replace("    ", ""), (
            transition.name
        )
