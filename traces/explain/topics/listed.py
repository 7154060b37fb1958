"""Runs the transitions by which a controller up to 2.3 takes up /admin/reassign_partitions, and takes requests off it."""

from kafkaproof.spec.language.plain import Plain
from kafkaproof.spec.language.sets import only
from kafkaproof.spec.partition.context import DELETING_REQUEST, IDLE, clear
from kafkaproof.spec.partition.phases.lists import delete_listed, find_request
from kafkaproof.spec.partition.phases.phases import write_union
from kafkaproof.traces.explain.partitions.topic_steps import Scene, Step, TopicSteps
from kafkaproof.traces.zookeeper.znodes.assignments import Assignment

_NO_ASSIGNMENT = Assignment((), (), ())


def is_taken_off(
    steps: TopicSteps, known: Assignment | None, target: tuple[int, ...], scene: Scene, queued: bool, exists: bool
) -> bool:
    """Whether a controller that takes up a request takes it off the list with no other write of its own before that.

    `known`: the assignment that it remembers, None where it does not know the partition; `queued`: its topic is queued for
    deletion; `exists`: the topic is there. What it has written before stands: the union of old and new replicas.
    """
    s = steps.at_work(known or _NO_ASSIGNMENT, scene.state, scene.epoch, target)
    controller = s.brokers[0].controller
    controller.doing, controller.moving = IDLE, 0
    clear(controller.partitions[0].aim)
    if queued:
        s.zk.deleting = controller.deleting = only(0)
    if not exists:
        clear(s.zk.assignments[0])
    steps.take(find_request, s)
    return _ends(steps, s, known, scene)


def _ends(steps: TopicSteps, s: Plain, known: Assignment | None, scene: Scene) -> bool:
    """Whether the request is taken off the list next."""
    for step in filter(None, steps.next_writes(s, scene)):
        if step.name == delete_listed.__name__:
            return True
        if _is_no_write(step, known) and _ends(steps, step.after, known, scene):
            return True
    return False


def _is_no_write(step: Step, known: Assignment | None) -> bool:
    """Whether the first write of a reassignment changes nothing in the log: it is refused, or what stands there."""
    if step.name != write_union.__name__ or not isinstance(step.written, Assignment):
        return False
    refused = step.after.brokers[0].controller.doing == DELETING_REQUEST
    return refused or known is not None and set(step.written.replicas) == set(known.replicas)
