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
from kafkaproof.spec.language.model import FAULT
from kafkaproof.spec.language.rebind import globals_used
from kafkaproof.spec.running.processes import ELECTION, PARTITION, VARIANTS, cluster
from kafkaproof.spec.running.seams import is_seam, seams_of

OWN_FAULTS = ("shut_down", "fail_log_dir")
"""What a process does by itself, and the environment in a model."""
NOT_TAKEN = {
    ELECTION: (
        *("load", "write_state", "write_when_asked", "trigger_move", "delete_own_controller", "send"),
        *("leader_and_isr", "update_metadata", "stop_replica"),
    ),
    PARTITION: ("elect", "resign", "reopen", "admin_election"),
}
"""The steps of each part that stand for those of the other, or are their partners; and an election that no client asks
these brokers for.
"""
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


def taken_by_a_process(variant, part):
    for transition in cluster(variant).model(part).transitions:
        name = transition.function.__name__
        if name in OWN_FAULTS or transition.kind != FAULT and name not in NOT_TAKEN[part]:
            yield transition


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("part", (ELECTION, PARTITION))
def test_every_seam_of_a_step_that_a_broker_takes_is_live(variant, part):
    taken = list(taken_by_a_process(variant, part))
    assert taken
    for transition in taken:
        for seam in seams_of(transition.function):
            assert callable(getattr(live(part, seam), seam.__name__, None)), (transition.name, seam)


def parameters(function):
    return list(signature(function).parameters)[1:]


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("part", (ELECTION, PARTITION))
def test_a_live_seam_takes_what_its_seam_takes(variant, part):
    seams = {seam for t in taken_by_a_process(variant, part) for seam in seams_of(t.function)}
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
