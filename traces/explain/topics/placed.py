"""Runs the transitions by which topics get partitions, and lose those that came too late.

One partition stands for all that are alike. Which brokers it is given is the placement rule's, which replay runs for all
partitions of a topic (`Creations.balanced`).
"""

from functools import lru_cache

from kafkaproof.spec.kafka.zookeeper import ANSWERED
from kafkaproof.spec.language.sequences import push
from kafkaproof.spec.language.sets import everybody
from kafkaproof.spec.partition.context import NO_EPOCH
from kafkaproof.spec.partition.creation import creation
from kafkaproof.spec.partition.deletion.zookeeper import join_topic
from kafkaproof.spec.partition.expansion import expansion
from kafkaproof.traces.evidence.features import Features
from kafkaproof.traces.explain.partitions.events import Partition, Seen, events_of
from kafkaproof.traces.explain.partitions.scene import TOPICS, Scene, Stage, stage_of
from kafkaproof.traces.explain.partitions.strategies import Elected

_REMEMBERED = 1000
_OLD, _NEW = 0, 1
_BROKER = 0


@lru_cache(_REMEMBERED)
def replicas_created(features: Features, brokers: int, replicas: int) -> int:
    """How many replicas the partitions of a new topic get that is asked for with so many; 0 where it is refused.

    `brokers`: how many are there, at least one.
    """
    return max(_created(stage_of(variant, TOPICS), brokers, replicas) for variant in features.making)


def _created(stage: Stage, brokers: int, replicas: int) -> int:
    scene = _scene(stage, brokers, replicas, partitions=1)
    scene.take(creation.create_topic, scene.seat, everybody(1), replicas, 0, 0, ANSWERED)
    return scene.state.zk.assignments[_OLD].length


@lru_cache(_REMEMBERED)
def replicas_added(features: Features, brokers: int, replicas: int, moving: bool) -> int:
    """How many replicas partitions get that are added to a topic whose first partition has so many; 0 where they are
    refused. `moving`: a partition of the topic is being reassigned.
    """
    return max(_added(stage_of(variant, TOPICS), brokers, replicas, moving) for variant in features.making)


def _added(stage: Stage, brokers: int, replicas: int, moving: bool) -> int:
    scene = _scene(stage, brokers, replicas, partitions=2)
    zk = scene.state.zk
    for broker in range(replicas):
        push(zk.assignments[_OLD], broker)
    zk.topics[_NEW] = _NEW
    if moving and hasattr(zk, "adding"):
        zk.adding[_OLD] = 1
    elif moving:
        push(zk.targets[_OLD], 0)
    scene.take(expansion.add_partitions, scene.seat, _OLD, 1 << _NEW, 0, ANSWERED)
    return zk.assignments[_NEW].length


@lru_cache(_REMEMBERED)
def is_restored(features: Features, queued: bool) -> bool:
    """Whether a controller that finds a partition added which has no znode yet takes it back, and no other; `queued`: the
    topic is queued for deletion.
    """
    return any(_restores(stage_of(variant, TOPICS), queued) for variant in features.making)


def _restores(stage: Stage, queued: bool) -> bool:
    scene = Scene(stage, Elected(0, frozenset({0})), (0,), partitions=2)
    zk, controller = scene.state.zk, scene.controller
    join_topic(zk, _NEW, _OLD)
    zk.partitions[_NEW].leader_epoch, controller.partitions[_NEW].assignment.length = NO_EPOCH, 0
    zk.deleting, controller.deleting = everybody(2) * queued, queued << _OLD
    scene.take(expansion.restore_partitions, scene.seat, _OLD, ANSWERED)
    return [assignment.length > 0 for assignment in zk.assignments] == [True, False]


@lru_cache(_REMEMBERED)
def is_begun(features: Features, queued: bool) -> bool:
    """Whether a controller that reads of a new topic creates the state of its partition; `queued`: it is queued for
    deletion.
    """
    partition, seen = Partition((_BROKER,)), Seen(frozenset({_BROKER}), queued=queued)
    return any(events_of(variant, TOPICS).makes(partition, seen) for variant in features.making)


def _scene(stage: Stage, brokers: int, replicas: int, partitions: int) -> Scene:
    """A state without topics; of the brokers as many are there as matter, the controller among them."""
    there = min(brokers, replicas)
    scene = Scene(stage, None, (), range(max(replicas, 1) - 1), partitions=partitions)
    scene.state.zk.registered = scene.controller.live = everybody(there - 1) | 1 << scene.seat
    return scene
