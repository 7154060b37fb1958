"""Metrics keep the writing rules, are declared once, and say of a partition what Kafka says."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkaproof.spec.catalogue import all_models
from kafkaproof.spec.kafka.state_machines import (
    OFFLINE_PARTITION,
    REPLICA_DELETION_INELIGIBLE,
    REPLICA_DELETION_SUCCESSFUL,
)
from kafkaproof.spec.language.accepted import require_predicate
from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.spec.language.kinds import Part
from kafkaproof.spec.language.plain import new_state
from kafkaproof.spec.language.sets import contains, difference, everybody, is_empty, with_member, without_member
from kafkaproof.spec.metrics import names, rules
from kafkaproof.spec.metrics.metric import COUNTER, GAUGE, Metric
from kafkaproof.spec.metrics_catalogue import SYSTEMS, VARIANTS, metrics_of

BROKERS = 5
METRICS = [value for value in vars(names).values() if isinstance(value, Metric)]
MEASURES = {
    f"{model.name} {measure.metric.name}": (model, measure) for model in all_models() for measure in metrics_of(model)
}
sets = st.integers(0, everybody(BROKERS))
brokers = st.integers(0, BROKERS - 1)
leaders = st.integers(NOBODY, BROKERS - 1)


@pytest.mark.parametrize("name", MEASURES)
def test_a_metric_is_written_in_the_little_language(name):
    model, measure = MEASURES[name]
    if measure.function:
        states = ("s",) if measure.metric.kind == GAUGE else ("before", "after")
        require_predicate(measure.function, tuple(Part(model.state, name) for name in states))
    known = {
        transition.function.__name__
        for variant in all_models()
        if variant.system == model.system
        for transition in variant.transitions
    }
    assert set(measure.of) <= known and set(measure.answers) <= set(model.answers)


def test_names_are_declared_once_and_used():
    assert len({metric.name for metric in METRICS}) == len(METRICS)
    used = {measure.metric for measures in (*SYSTEMS.values(), *VARIANTS.values()) for measure in measures}
    assert used == set(METRICS)
    for measures in SYSTEMS.values():
        assert len({measure.metric.name for measure in measures}) == len(measures)


def test_every_metric_says_what_it_is_and_a_counter_counts():
    for metric in METRICS:
        assert metric.kind in (GAUGE, COUNTER) and metric.text
    for _, measure in MEASURES.values():
        assert (measure.metric.kind == GAUGE) <= (
            measure.function is not None and not measure.of and not measure.answers
        )


def test_every_system_that_is_neither_abstract_nor_composed_has_metrics():
    without = {m.system for m in all_models() if not metrics_of(m)}
    assert without == {m.system for m in all_models() if m.abstract or m.parts} - {"topics"}, (
        "topics are a slice, and have theirs"
    )


@given(sets)
def test_the_size_of_a_set_is_how_many_it_contains(members):
    assert rules.size(members, BROKERS) == sum(contains(members, b) for b in range(BROKERS)) == members.bit_count()


@given(leaders, sets)
def test_nobody_and_who_is_not_registered_lead_nothing(leader, registered):
    assert rules.is_led(leader, registered) == (leader >= 0 and registered >> leader & 1 == 1)


@given(sets, sets, sets)
def test_replicas_that_are_added_are_not_missed(isr, replicas, adding):
    """KIP-352: only as many as before the reassignment are expected."""
    expected = difference(replicas, adding).bit_count()
    assert rules.is_under_replicated(isr, replicas, adding, BROKERS) == (isr.bit_count() < expected)
    assert not rules.is_under_replicated(replicas, replicas, adding, BROKERS)


@given(brokers, leaders, sets, sets)
def test_balance_is_the_preferred_replica_leading(preferred, leader, isr, adding):
    adding = without_member(adding, preferred)
    assert rules.is_imbalanced(preferred, leader, isr, adding) == (leader != preferred)


@given(brokers, leaders, sets, sets)
def test_a_preferred_replica_that_is_added_counts_when_it_is_in_the_isr(preferred, leader, isr, adding):
    adding = with_member(adding, preferred)
    assert rules.is_imbalanced(preferred, leader, isr, adding) == contains(isr, preferred)


@given(sets, leaders, leaders)
def test_an_unclean_leader_was_not_in_the_isr(isr, former, leader):
    if rules.is_election(former, leader):
        assert leader not in (former, NOBODY)
        assert rules.is_unclean(isr, leader) != contains(isr, leader)
    assert not rules.is_unclean(isr, NOBODY)


@given(sets, sets)
def test_what_is_lost_one_way_is_gained_the_other(isr, after):
    assert rules.lost(isr, after) == rules.gained(after, isr) == (not is_empty(difference(isr, after)))


def gauges(system, variant):
    model = next(m for m in all_models() if (m.system, m.variant) == (system, variant))
    functions = {measure.metric.name: measure.function for measure in metrics_of(model) if measure.metric.kind == GAUGE}
    state = new_state(model.state, model.scope)
    model.initial(state)
    return state, functions


def test_the_greatest_report_counts_where_two_act_as_controller():
    state, functions = gauges("partition", "fenced")
    for epoch, broker in enumerate(state.brokers, start=1):
        broker.controller.epoch = epoch
    state.brokers[1].controller.partitions[0].state = OFFLINE_PARTITION
    assert functions["active_controllers"](state) == len(state.brokers)
    assert functions["offline_partitions_reported"](state) == 1
    state.brokers[1].controller.deleting = 1
    assert functions["offline_partitions_reported"](state) == 0


def test_a_partition_is_offline_by_its_leaders_registration_not_by_who_says_so():
    state, functions = gauges("partition", "fenced")
    assert functions["offline_partitions"](state) == 0, "no state yet: New, not Offline"
    state.zk.partitions[0].leader_epoch = 0
    state.zk.partitions[0].leader = 0
    state.zk.partitions[0].isr = 1
    assert (functions["offline_partitions"](state), functions["under_replicated"](state)) == (0, 1)
    state.zk.registered = without_member(state.zk.registered, 0)
    assert (functions["offline_partitions"](state), functions["under_replicated"](state)) == (1, 0)
    state.zk.deleting = 1
    assert functions["offline_partitions"](state) == 0


def test_replicas_to_delete_are_those_not_deleted_yet():
    state, functions = gauges("topics", "kip455")
    controller = state.brokers[0].controller
    controller.deleting = 1
    assigned = controller.partitions[0].assignment
    assigned.length, assigned.slots[0] = 1, 0
    controller.partitions[0].replicas[0] = REPLICA_DELETION_INELIGIBLE
    assert functions["replicas_to_delete_reported"](state) == functions["replicas_ineligible_reported"](state) == 1
    controller.partitions[0].replicas[0] = REPLICA_DELETION_SUCCESSFUL
    assert functions["replicas_to_delete_reported"](state) == functions["replicas_ineligible_reported"](state) == 0


def test_up_to_1_0_a_broker_is_active_while_it_has_a_channel_manager():
    state, functions = gauges("election", "zkclient")
    state.brokers[0].active = 1
    assert functions["active_controllers"](state) == 0
    state.brokers[1].ruling = 2
    assert functions["active_controllers"](state) == 1
    assert gauges("election", "fenced")[1]["active_controllers"](state) == 1
