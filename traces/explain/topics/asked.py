"""Runs the transitions by which something is asked of a controller through a znode, and by which it takes that away."""

from functools import lru_cache

from kafkaproof.spec.kafka.zookeeper import ANSWERED
from kafkaproof.spec.language.sequences import push
from kafkaproof.spec.language.sets import only
from kafkaproof.spec.partition import log_dirs, triggers
from kafkaproof.spec.partition.deletion import deletion
from kafkaproof.spec.partition.deletion.faults import ask_for_deletion, ask_for_unknown_deletion
from kafkaproof.spec.partition.reassignment import admin_requests, reassignment
from kafkaproof.spec.partition.reassignment.network import REASSIGNMENT
from kafkaproof.spec.partition.reassignment.state import WRITING_TARGET
from kafkaproof.spec.partition.zookeeper import is_moved
from kafkaproof.traces.evidence.features import Features
from kafkaproof.traces.explain.partitions.scene import Scene, Stage, stage_of
from kafkaproof.traces.explain.partitions.strategies import Elected

_BROKER = 0
_REMEMBERED = 100


@lru_cache(_REMEMBERED)
def may_ask_for_deletion(features: Features, exists: bool) -> bool:
    """Whether an operator may ask for the deletion of a topic that has no marker yet; `exists`: there is such a topic."""
    scene = _scene(stage_of(features.reassigning), exists)
    return scene.take(ask_for_deletion, 0) if exists else scene.take(ask_for_unknown_deletion)


@lru_cache(_REMEMBERED)
def takes_marker_away(features: Features) -> bool:
    """Whether a controller deletes the marker of a topic that it does not know."""
    scene = _scene(stage_of(features.reassigning), False)
    scene.take(ask_for_unknown_deletion)
    scene.take(deletion.leftover_deletion, scene.seat)
    scene.take(deletion.delete_leftovers, scene.seat, ANSWERED)
    return not scene.state.zk.stray


@lru_cache(_REMEMBERED)
def takes_preferred_away(features: Features) -> bool:
    """Whether a controller deletes a request for preferred leaders when it has dealt with it."""
    scene = _scene(stage_of(features.handling), True)
    scene.state.zk.preferred = 1
    scene.take(triggers.preferred_election, scene.seat)
    tuple(scene.go_on())
    return not scene.state.zk.preferred


@lru_cache(_REMEMBERED)
def takes_request_off(features: Features) -> bool:
    """Whether a controller takes a partition off /admin/reassign_partitions for which an administrator asks something else,
    and leaves others in it (2.4 and later).
    """
    scene = Scene(stage_of(features.reassigning), Elected(_BROKER, frozenset({_BROKER})), (_BROKER,), partitions=2)
    scene.know((_BROKER,))
    zk, network = scene.state.zk, scene.state.network
    for target in zk.targets:
        push(target, scene.seat)
    if features.kip455:
        network.alteration.wanted = REASSIGNMENT
        scene.push(network.alteration.target, (_BROKER,))
        scene.take(admin_requests.alter_reassignment, scene.seat)
        scene.take(admin_requests.delete_request, scene.seat, ANSWERED)
    return [is_moved(zk, p) for p in range(len(zk.targets))] == [False, True]


@lru_cache(_REMEMBERED)
def takes_finished_off(features: Features, target: tuple[int, ...], listed: tuple[int, ...]) -> bool:
    """Whether a controller that has written the target of a reassignment takes a request off the list which wants these
    replicas (2.4 and later).
    """
    scene = Scene(stage_of(features.reassigning), Elected(target[0], frozenset(target)), target, listed)
    zk, controller = scene.state.zk, scene.controller
    scene.know(target)
    scene.push(zk.targets[0], listed)
    controller.doing, controller.moving, controller.finishing = WRITING_TARGET, only(0), 1
    scene.take(reassignment.write_target, scene.seat, 0, ANSWERED)
    scene.take(admin_requests.delete_request, scene.seat, ANSWERED)
    return not is_moved(zk, 0)


@lru_cache(_REMEMBERED)
def tells_of_log_directory(features: Features) -> bool:
    """Whether a broker whose log directory has failed tells the controller by a znode, in some release of a log."""
    return any(_tells(stage_of(variant)) for variant in features.explaining)


def _tells(stage: Stage) -> bool:
    scene = _scene(stage, True)
    broker = scene.state.brokers[_BROKER]
    broker.up = broker.unnotified = 1
    return scene.take(log_dirs.notify, _BROKER) and bool(scene.state.zk.log_dir_events)


def _scene(stage: Stage, exists: bool) -> Scene:
    """A controller at work, and a topic that a broker leads, or none."""
    replicas = (_BROKER,) if exists else ()
    scene = Scene(stage, Elected(_BROKER, frozenset(replicas)) if exists else None, replicas, (_BROKER,))
    scene.know((_BROKER,))
    return scene
