"""Runs the transitions by which a controller has the replicas of a topic deleted, before it deletes its znodes (T1).

One partition stands for its topic: the replicas of each are deleted by themselves. What brokers are asked and answer is in
no log: those that were there have got the request, and have deleted their replicas.
"""

from functools import lru_cache
from typing import NamedTuple

from kafkaproof.spec.kafka.state_machines import REPLICA_DELETION_SUCCESSFUL
from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.spec.language.sets import only
from kafkaproof.spec.partition.context import NO_EPOCH, remember_leadership
from kafkaproof.spec.partition.deletion import deletion
from kafkaproof.spec.partition.deletion.replica import stop_replica
from kafkaproof.traces.evidence.features import Features
from kafkaproof.traces.explain.partitions.scene import EPOCH, LEADER_EPOCH, Scene, stage_of
from kafkaproof.traces.explain.partitions.strategies import Elected

_REMEMBERED = 20_000


class Doomed(NamedTuple):
    """A partition of a topic whose znodes are deleted: its replicas, and its state, None where it has none.

    `before`: the state before its controller last took a replica offline for that, and `raised` by how much that has raised
    the leader epoch: the same state and 0 where it need not have done so. `is_known`: the controller knows of the state;
    `there`: who has been registered since the deletion was asked for, None where nobody has asked for it.
    """

    replicas: tuple[int, ...]
    state: Elected | None
    before: Elected | None
    raised: int
    is_known: bool
    there: frozenset[int] | None


class Course(NamedTuple):
    """How a controller deletes the replicas of a partition: `begins`: it does; `fits`: what it writes to the state is in
    the log; `undeleted`: the brokers whose replicas are left, None where the znodes are deleted next.
    """

    begins: bool
    fits: bool
    undeleted: tuple[int, ...] | None


@lru_cache(_REMEMBERED)
def course_of(features: Features, doomed: Doomed) -> Course:
    """How it ends when a controller reads that the topic is to be deleted, and all who were there answer."""
    scene = Scene(stage_of(features.reassigning), doomed.before, doomed.replicas)
    s, known = scene.state, scene.partition
    there = doomed.there or frozenset()
    scene.register(there)
    scene.know(there)
    s.zk.clients[scene.seat].seen = scene.controller.live
    if not doomed.is_known:
        remember_leadership(known, NOBODY, 0, NO_EPOCH)
    s.zk.deleting = 0 if doomed.there is None else only(0)
    begins = scene.take(deletion.topic_deletion, scene.seat)
    tuple(scene.go_on())
    written = None if doomed.state is None else scene.written
    fits = written == doomed.state and s.zk.partitions[0].leader_epoch == _epoch(doomed.before) + doomed.raised
    numbers = {broker: scene.number[broker] for broker in doomed.replicas}
    for number in numbers.values():
        s.brokers[number].up = 1
        scene.take(stop_replica, number, EPOCH, 0)
    for number in numbers.values():
        scene.take(deletion.replica_stopped, scene.seat, 0, number)
        tuple(scene.go_on())
    deleted = [number for number, state in enumerate(known.replicas) if state == REPLICA_DELETION_SUCCESSFUL]
    undeleted = tuple(broker for broker, number in numbers.items() if number not in deleted)
    return Course(begins, fits, undeleted if s.zk.assignments[0].length else None)


def _epoch(state: Elected | None) -> int:
    """The leader epoch of a state in a scene."""
    return NO_EPOCH if state is None else LEADER_EPOCH
