"""What a reassignment is to make of an assignment, and which requests for one are refused."""

from kafkaproof.spec.kafka.assignment import append_members, is_complete, origin
from kafkaproof.spec.kafka.state_machines import NON_EXISTENT_REPLICA
from kafkaproof.spec.kafka.strategies import replicas_of
from kafkaproof.spec.language.domains import Choice
from kafkaproof.spec.language.sequences import begins_with
from kafkaproof.spec.language.sets import contains, difference, is_empty, with_member
from kafkaproof.spec.partition.context import alive, clear, copy, is_known, is_queued
from kafkaproof.spec.partition.reassignment.network import CANCELLATION, REASSIGNMENT
from kafkaproof.spec.partition.reassignment.progress import is_reassigned

Verdict = Choice(
    "ACCEPTED",
    "INVALID_REPLICA_ASSIGNMENT",
    "NO_REASSIGNMENT_IN_PROGRESS",
    "UNKNOWN_TOPIC_OR_PARTITION",
    "UNKNOWN_SERVER_ERROR",
)
(
    ACCEPTED,
    INVALID_REPLICA_ASSIGNMENT,
    NO_REASSIGNMENT_IN_PROGRESS,
    UNKNOWN_TOPIC_OR_PARTITION,
    UNKNOWN_SERVER_ERROR,
) = Verdict


def origin_of(partition):
    """The replicas before the reassignment in progress."""
    return origin(partition.assignment, partition.adding)


def plan(partition, planned):
    """ReplicaAssignment.reassignTo: the target, `planned`, then the other replicas; and what is added and removed.

    `planned` is the assignment that is then to be written, empty if that is the one that is there.
    """
    before = origin_of(partition)
    adding = difference(replicas_of(planned), before)
    removing = difference(before, replicas_of(planned))
    append_members(partition.assignment, before, planned)
    moved = adding != partition.adding or removing != partition.removing
    if moved or planned.length != partition.assignment.length or not begins_with(partition.assignment, planned):
        partition.adding = adding
        partition.removing = removing
        copy(planned, partition.assignment)
    else:
        clear(planned)


def plan_cancellation(partition, planned):
    """The same with the original replicas as the target."""
    clear(planned)
    append_members(partition.assignment, origin_of(partition), planned)
    plan(partition, planned)


def unneeded(partition):
    """The replicas of a reassignment that was replaced or cancelled, which the assignment does not have any more."""
    found = 0
    for r in range(len(partition.replicas)):
        if partition.replicas[r] != NON_EXISTENT_REPLICA and not contains(replicas_of(partition.assignment), r):
            found = with_member(found, r)
    return found


def is_ready(partition, isr):
    """Whether the reassignment of a partition can be completed with an ISR."""
    return is_complete(partition.assignment, partition.adding, partition.removing, isr)


def is_begun(verdict):
    """Whether a reassignment is begun that is answered so: where there is no state, it fails once the union is written."""
    return verdict == ACCEPTED or verdict == UNKNOWN_SERVER_ERROR


def verdict_on(controller, p, kind, replicas):
    """What AlterPartitionReassignments is answered of a partition.

    `kind` is REASSIGNMENT, to `replicas`, or CANCELLATION.
    Kafka:   KafkaController.processApiPartitionReassignment, maybeBuildReassignment, maybeTriggerPartitionReassignment,
             2.4 to 3.9; KafkaController.replicasAreValid, 2.4; KafkaController.validateReplicas, 2.5 to 3.9. (What is
             wrong with a request alone is not modelled: no replica, the same one twice, a negative id.)
    """
    partition = controller.partitions[p]
    if kind == CANCELLATION and not is_reassigned(partition):
        return NO_REASSIGNMENT_IN_PROGRESS
    if kind == REASSIGNMENT and not is_empty(difference(difference(replicas, origin_of(partition)), alive(controller))):
        return INVALID_REPLICA_ASSIGNMENT
    if partition.assignment.length == 0 or is_queued(controller, p):
        return UNKNOWN_TOPIC_OR_PARTITION
    return ACCEPTED if is_known(partition) else UNKNOWN_SERVER_ERROR
