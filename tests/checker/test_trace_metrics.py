"""Metrics compiled are those of Python, counters add up along a path, and reports agree with ZooKeeper when all is handled."""

from dataclasses import replace
from itertools import pairwise

import pytest

from kafkaproof.checker.check.local import explore_here
from kafkaproof.checker.model.execution import Execution
from kafkaproof.checker.pictures.histories import history_of
from kafkaproof.checker.runs.counterexample import Trace, executed
from kafkaproof.checker.runs.metrics import changing, metrics_over
from kafkaproof.spec.catalogue import all_models, find
from kafkaproof.spec.kafka.zookeeper import Answer
from kafkaproof.spec.language.model import always, sometimes
from kafkaproof.spec.metrics.metric import GAUGE
from kafkaproof.spec.metrics_catalogue import metrics_of
from kafkaproof.spec.partition.context import remember_leadership
from kafkaproof.spec.partition.metrics import (
    offline_partitions,
    offline_partitions_reported,
    partitions,
    partitions_reported,
    preferred_imbalance,
    preferred_imbalance_reported,
    topics_to_delete,
    topics_to_delete_reported,
)
from kafkaproof.spec.partition.model import scope
from kafkaproof.spec.partition.progress import mark_offline_leaders
from kafkaproof.spec.partition.properties.controllers import rules
from tests.checker.alone import Alone, records
from tests.checker.samples import sample, small_scope

MEASURED = [model for model in all_models() if metrics_of(model)]


@pytest.mark.parametrize("model", MEASURED, ids=lambda model: f"{model.system}-{model.variant}")
def test_compiled_metrics_are_those_of_python(model):
    """Compiled with checked indices; a gauge of every sampled state, a counter of every two that follow each other."""
    measures = [measure for measure in metrics_of(model) if measure.function]
    scope = small_scope(model)
    kinds = [[model.state] * (1 if measure.metric.kind == GAUGE else 2) for measure in measures]
    compiled = Alone(scope, list(zip((measure.function for measure in measures), kinds)))
    states = sample(Execution(model, scope), 40, among=160)
    packed = records(model.state, scope, states)
    for which, measure in enumerate(measures):
        for i in range(len(states) - len(kinds[which]) + 1):
            count = len(kinds[which])
            expected = measure.function(*states[i : i + count])
            found = compiled.call(which, *(packed[i + k : i + k + 1] for k in range(count)))
            assert found == expected, measure.metric.name


def trace(system, variant, scope, steps) -> Trace:
    model = find(system, variant)[0]
    return executed(model, scope, steps)


ZOMBIE = [
    "failover.elect(b=0)",
    "failover.load_brokers(b=0)",
    "failover.load_state(b=0, p=0)",
    "faults.delete_controller()",
    "failover.elect(b=1)",
    "machines.create_first_state(b=0, p=0, delivery=0)",
]


def test_a_trace_has_a_value_of_each_metric_for_each_state():
    shown = trace("partition", "fenced", scope(), ZOMBIE)
    series = metrics_over(shown)
    assert [values["active_controllers"] for values in series] == [0, 1, 1, 1, 1, 2, 1]
    assert [values["fenced_writes"] for values in series] == [0, 0, 0, 0, 0, 0, 1]
    assert [values["zookeeper_requests"] for values in series] == [0, 1, 2, 3, 3, 4, 5]
    assert all(values.keys() == {m.metric.name for m in metrics_of(shown.model)} for values in series)
    assert "brokers" not in changing(series) and "controller_epoch" in changing(series)


def test_counters_never_fall_and_answers_are_counted():
    shown = trace("partition", "legacy", scope(), ZOMBIE)
    for before, after in pairwise(metrics_over(shown)):
        for measure in metrics_of(shown.model):
            if measure.metric.kind != GAUGE:
                assert after[measure.metric.name] >= before[measure.metric.name]
    answered = [step.answer for step, _, _ in shown.steps if step.answer in Answer.names]
    assert metrics_over(shown)[-1]["zookeeper_requests"] == len(answered)


def test_a_history_has_the_metrics_that_change():
    shown = trace("partition", "legacy", scope(), ZOMBIE)
    metrics = {metric["name"]: metric["values"] for metric in history_of(shown, None)["metrics"]}
    assert metrics["active_controllers"] == [0, 1, 1, 1, 1, 2, 2]
    assert "brokers" not in metrics and "stale_versions" not in metrics


def has_handled_everything(s):
    """Whether a controller by right alone rules, has handled everything, and no log directory has failed."""
    handled = False
    for b in range(len(s.brokers)):
        controller = s.brokers[b].controller
        if controller.epoch > 0 and not rules(s, b):
            return False
        handled = handled or rules(s, b) and controller.deleting == s.zk.deleting
        for replica in s.brokers[b].replicas:
            if replica.failed:
                return False
    return handled and not s.zk.ghosts.lost


def offline_as_reported(s):
    """OfflinePartitionsCount is what ZooKeeper says, when everything is handled."""
    return not has_handled_everything(s) or offline_partitions(s) == offline_partitions_reported(s)


def imbalance_as_reported(s):
    """PreferredReplicaImbalanceCount is what ZooKeeper says, when everything is handled."""
    return not has_handled_everything(s) or preferred_imbalance(s) == preferred_imbalance_reported(s)


def deletion_as_reported(s):
    """TopicsToDeleteCount is what ZooKeeper says, when everything is handled."""
    return not has_handled_everything(s) or topics_to_delete(s) == topics_to_delete_reported(s)


def partitions_as_reported(s):
    """GlobalPartitionCount is what ZooKeeper says, when everything is handled."""
    return not has_handled_everything(s) or partitions(s) == partitions_reported(s)


def offline_and_handled(s):
    """A partition is offline, and there is nothing more to do about it."""
    return has_handled_everything(s) and offline_partitions(s) > 0


def imbalance_and_handled(s):
    """A leader is out of balance, and the controller knows."""
    return has_handled_everything(s) and preferred_imbalance(s) > 0


AGREE = (offline_as_reported, imbalance_as_reported, deletion_as_reported, partitions_as_reported)


def test_reports_are_what_zookeeper_has_when_everything_is_handled():
    """Every state of the quick scope: reported gauges equal their recomputation (C12)."""
    model = find("partition", "fenced")[0]
    asked = replace(
        model, properties=(*map(always, AGREE), sometimes(offline_and_handled), sometimes(imbalance_and_handled))
    )
    explored = explore_here(asked, model.scopes["quick"])
    assert explored.outcome.finished and explored.traces == {}
    assert explored.outcome.reached == {"offline_and_handled", "imbalance_and_handled"}


def mark_nothing(controller):
    """partitionsWithOfflineLeader stay as they are: a mistake."""
    return 0


def remember_nobody(partition, leader, isr, leader_epoch):
    """The cache remembers leader 0, whoever was elected: a mistake."""
    partition.leader = 0
    partition.isr = isr
    partition.leader_epoch = leader_epoch


@pytest.mark.parametrize(
    ("mistake", "noticed"),
    [
        ({mark_offline_leaders: mark_nothing}, "offline_as_reported"),
        ({remember_leadership: remember_nobody}, "imbalance_as_reported"),
    ],
)
def test_a_report_that_is_not_kept_up_is_noticed(mistake, noticed):
    model = find("partition", "fenced")[0].rebound(mistake)
    asked = replace(model, properties=tuple(map(always, AGREE)))
    assert noticed in explore_here(asked, model.scopes["quick"], only=noticed, keep_going=False).traces
