"""Everything that a running broker does is a transition of the specification, and every seam of it is live."""

from inspect import signature
from types import FunctionType

import pytest

from kafkaproof.impl.broker.rebinding import Calls, bound
from kafkaproof.impl.broker.replica import Clients, Plane
from kafkaproof.impl.seams.network import PartitionNetwork
from kafkaproof.impl.seams.storage.log import FileLog
from kafkaproof.impl.seams.zookeeper.election import ElectionZooKeeper
from kafkaproof.impl.seams.zookeeper.partition import PartitionZooKeeper
from kafkaproof.impl.seams.zookeeper.partner_answers import Told
from kafkaproof.impl.server.main import ELECTION_STEPS
from kafkaproof.spec.language.rebind import globals_used
from kafkaproof.spec.language.steps import names
from kafkaproof.spec.running.processes import CONTINUATIONS, ELECTION, PARTITION, READS, VARIANTS, WRITES, cluster
from kafkaproof.spec.running.seams import is_seam, seams_of

EVENTS = (
    "leader_and_isr",
    "shut_down",
    "notify",
    "fail_log_dir",
    "broker_change",
    "unclean_enabled",
    "topic_deletion",
    "preferred_election",
    "reassignment",
    "log_dir_notification",
    "isr_notification",
    "alter_partition",
    "change_isr",
    "controlled_shutdown",
    "receive_error",
    "storage_error",
    "rebalance",
    "confirm_isr",
    "refuse_isr",
    "produce",
    "consume",
    "send_request",
    "serve_fetch",
    "receive_answer",
    "expand_isr",
    "shrink_isr",
    "learn_isr",
    "configure_topic",
    "create_topic",
    "topic_change",
)
TAKEN = {
    ELECTION: ("start", "notice_expiry", "reopen", "handle_change", "clean", *names(*ELECTION_STEPS)),
    PARTITION: (*CONTINUATIONS, *EVENTS),
}
FOLLOWING = {ELECTION: ("clean", "load"), PARTITION: ("restart", "reopen", "elect", "resign", "stop")}
LIVE = {
    ELECTION: {"zk": ElectionZooKeeper},
    PARTITION: {
        "zk": PartitionZooKeeper,
        "network": PartitionNetwork,
        "log": FileLog,
        "clients": Clients,
        "data": Plane,
    },
}


def live(part, seam):
    """The class that does what a seam stands for."""
    return LIVE[part][next(iter(signature(seam).parameters))]


def transitions(variant, part, names):
    model = cluster(variant).model(part)
    return [t for t in model.transitions if t.function.__name__ in names]


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("part", (ELECTION, PARTITION))
def test_every_seam_of_a_step_that_a_broker_takes_is_live(variant, part):
    taken = transitions(variant, part, TAKEN[part])
    assert taken
    for transition in taken:
        for seam in seams_of(transition.function):
            assert callable(getattr(live(part, seam), seam.__name__, None)), (transition.name, seam)


def parameters(function):
    return list(signature(function).parameters)[1:]


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("part", (ELECTION, PARTITION))
def test_a_live_seam_takes_what_its_seam_takes(variant, part):
    seams = {seam for t in transitions(variant, part, TAKEN[part]) for seam in seams_of(t.function)}
    for seam in seams:
        method = getattr(live(part, seam), seam.__name__)
        assert len(parameters(method)) == len(parameters(seam)), seam


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("part", (ELECTION, PARTITION))
def test_every_seam_of_a_step_that_follows_another_is_told(variant, part):
    for transition in transitions(variant, part, FOLLOWING[part]):
        for seam in seams_of(transition.function):
            kind = live(part, seam)
            kind = Told if kind in (ElectionZooKeeper, PartitionZooKeeper) else kind
            assert hasattr(kind, seam.__name__), (transition.name, seam)


def reached(function):
    """All functions that a bound transition calls, down to the live seams."""
    found, waiting = set(), [function]
    while waiting:
        for callee in globals_used(waiting.pop()).values():
            if isinstance(callee, FunctionType) and callee not in found:
                found.add(callee)
                if callee.__module__.startswith("kafkaproof.spec."):
                    waiting.append(callee)
    return found


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("part", (ELECTION, PARTITION))
def test_nothing_of_a_models_zookeeper_or_network_is_left(variant, part):
    for function in bound(cluster(variant).model(part), Calls()).values():
        assert not any(
            is_seam(callee) for callee in reached(function) if callee.__module__.startswith("kafkaproof.spec.")
        )


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_code_of_a_bound_transition_is_the_checked_one(variant):
    for part in (ELECTION, PARTITION):
        model = cluster(variant).model(part)
        functions = bound(model, Calls())
        for transition in model.transitions:
            assert functions[transition.function.__name__].__code__ is transition.function.__code__


@pytest.mark.parametrize("variant", VARIANTS)
def test_every_step_in_the_tables_of_the_cluster_is_a_transition_of_some_variant(variant):
    known = {t.function.__name__ for each in VARIANTS for t in cluster(each).partition.transitions}
    assert {*READS, *WRITES, *EVENTS, *CONTINUATIONS} <= known
