"""How a reassignment goes on: what follows the elections and removals of the event in progress.

The removed replicas go offline like any others, once the leader has moved; then StopReplica is sent to them.
"""

from kafkaproof.spec.kafka.assignment import target
from kafkaproof.spec.language.sets import difference, intersection, is_empty, only, union, with_member, without_member
from kafkaproof.spec.partition.context import CHANGING, IDLE, OFFLINE, clear
from kafkaproof.spec.partition.deletion.progress import to_take_offline as to_take_offline_else
from kafkaproof.spec.partition.deletion.state import RESUMING
from kafkaproof.spec.partition.progress import go_on as go_on_else
from kafkaproof.spec.partition.progress import is_at_machines as is_at_machines_else
from kafkaproof.spec.partition.progress import is_next
from kafkaproof.spec.partition.progress import start_replicas as start_machine
from kafkaproof.spec.partition.reassignment.state import CHECKING, STOPPING_REMOVED, WRITING_ASSIGNMENT, WRITING_TARGET


def is_reassigned(partition):
    """Whether a partition is being reassigned, as far as the controller knows."""
    return not is_empty(union(partition.adding, partition.removing))


def reassigned(controller):
    """The partitions that are being reassigned."""
    found = 0
    for p in range(len(controller.partitions)):
        if is_reassigned(controller.partitions[p]):
            found = with_member(found, p)
    return found


def target_of(partition):
    """The target of a reassignment in progress."""
    return target(partition.assignment, partition.removing)


def reassigned_to(controller, brokers):
    """The reassigned partitions whose target has a replica on some of the brokers."""
    found = 0
    for p in range(len(controller.partitions)):
        partition = controller.partitions[p]
        if is_reassigned(partition) and not is_empty(intersection(target_of(partition), brokers)):
            found = with_member(found, p)
    return found


def in_hand(controller):
    """The partition whose reassignment is handled now, as a set."""
    found = 0
    for p in range(len(controller.partitions)):
        if is_next(controller.moving, p):
            found = only(p)
    return found


def to_take_offline(controller, r):
    """The partitions whose replicas on broker `r` go offline: the one in hand, where its removed replicas do."""
    removes = controller.finishing == 1 or not is_empty(controller.removed)
    return in_hand(controller) if removes else to_take_offline_else(controller, r)


def go_on(controller):
    """No election and no removal is left: reassignments come next, then the rest of the event."""
    if is_empty(controller.moving):
        go_on_else(controller)
    elif not is_empty(controller.removed):
        controller.doing = STOPPING_REMOVED
    elif controller.finishing:
        controller.doing = WRITING_TARGET
    else:
        take_up(controller)


def is_at_machines(controller):
    """Whether an election, a removal or a reassignment of the event in progress is still to be done."""
    return is_at_machines_else(controller) or not is_empty(controller.moving)


def take_up(controller):
    """The next reassignment is to be written, if it has just been asked for, or to be checked."""
    controller.doing = WRITING_ASSIGNMENT if controller.target.length > 0 else CHECKING


def start_replicas(controller):
    """The state machine of replicas starts up; the reassignments in the topic znodes are gone on with when both have
    (KafkaController.initializePartitionReassignments, maybeResumeReassignments, 2.4 to 3.9).
    """
    controller.moving = reassigned(controller)
    start_machine(controller)


def look_later(controller, partitions):
    """The reassignments of some partitions are to be checked, as soon as elections and removals are done."""
    controller.moving = union(controller.moving, partitions)
    waits = controller.doing == IDLE or controller.doing == CHANGING or controller.doing == RESUMING
    if waits and not is_empty(controller.moving):
        controller.doing = CHECKING


def leave(controller, p):
    """Partition `p` is done in this event."""
    controller.moving = without_member(controller.moving, p)
    controller.finishing = 0
    controller.removed = 0
    controller.replicas = 0
    controller.strategy = OFFLINE
    clear(controller.target)


def resume_deletion(controller, topic):
    """resumeDeletionForTopics: a topic is no longer ineligible; if it is queued for deletion, all deletions are resumed."""
    controller.ineligible = difference(controller.ineligible, topic)
    if not is_empty(intersection(controller.deleting, topic)):
        controller.resuming = controller.deleting
