"""AlterPartition (KIP-497, 2.7 and later): what the controller answers, in the order of Kafka's checks, and what a leader
does with the answer.

Each function returns an error code, NONE where the ISR is to be written or is there already. A request names the version
of the state (the partition epoch) that its leader knows; whether that is the one that the controller remembers is an
argument. Then the write itself may find another version: INVALID_UPDATE_VERSION.

Requests that name topics by their ids (3.3 and later) are answered UNKNOWN_TOPIC_ID before anything else is looked at; the
earlier ones get OPERATION_NOT_ATTEMPTED in place of INELIGIBLE_REPLICA. INVALID_REQUEST is for a leader that asks to be
RECOVERING with others in the ISR, or once it is RECOVERED (3.2 and later): none does, since a leader is RECOVERED as soon
as it leads (`recovering`). NEW_LEADER_ELECTED exists only without ZooKeeper.
"""

from kafkaproof.spec.language.domains import Choice
from kafkaproof.spec.language.sets import contains, difference, is_empty
from kafkaproof.spec.partition.context import alive, is_known
from kafkaproof.spec.partition.progress import at_work

AlterError = Choice(
    "NONE",
    "NOT_CONTROLLER",
    "STALE_BROKER_EPOCH",
    "UNKNOWN_TOPIC_OR_PARTITION",
    "UNKNOWN_TOPIC_ID",
    "FENCED_LEADER_EPOCH",
    "INVALID_UPDATE_VERSION",
    "INVALID_REQUEST",
    "INELIGIBLE_REPLICA",
    "OPERATION_NOT_ATTEMPTED",
)
(
    NONE,
    NOT_CONTROLLER,
    STALE_BROKER_EPOCH,
    UNKNOWN_TOPIC_OR_PARTITION,
    UNKNOWN_TOPIC_ID,
    FENCED_LEADER_EPOCH,
    INVALID_UPDATE_VERSION,
    INVALID_REQUEST,
    INELIGIBLE_REPLICA,
    OPERATION_NOT_ATTEMPTED,
) = AlterError
Version = Choice("OLDER", "SAME", "NEWER")
OLDER, SAME, NEWER = Version
Reaction = Choice(
    "TAKE",  # the ISR that the leader has proposed is the committed one
    "ASK_AGAIN",
    "TAKE_BACK",  # the committed ISR stays, and another one may be proposed
    "WAIT",  # it keeps its proposal, and asks no more until LeaderAndIsr of a higher leader epoch
)
TAKE, ASK_AGAIN, TAKE_BACK, WAIT = Reaction


def compared(version, known):
    """How the version that a leader knows compares with the one that is known here, both as numbers."""
    if version == known:
        return SAME
    return NEWER if version > known else OLDER


def are_eligible(controller, isr):
    """Whether all members of a proposed ISR are live and not shutting down.

    Kafka: KafkaController.processAlterPartition, 3.3 to 3.9 (KIP-841).
    """
    return is_empty(difference(isr, alive(controller)))


def is_there(partition, sender, isr):
    """Whether the proposed state is the one that the controller remembers, whatever version the leader knows.

    Kafka: LeaderAndIsr.equalsIgnoreZk, 2.7 to 3.2; equalsAllowStalePartitionEpoch, 3.3 to 3.9.
    """
    return isr == partition.isr and sender == partition.leader


def leadership_error(partition, leader_epoch, version):
    """Whether a request is of the leader epoch, and of no later version, that the controller remembers.

    A leader that knows more has heard of a later controller, which it is to look for.
    """
    if version == NEWER or leader_epoch > partition.leader_epoch:
        return NOT_CONTROLLER
    return FENCED_LEADER_EPOCH if leader_epoch < partition.leader_epoch else NONE


def change_error(controller, isr, version):
    """Whether a request is for a change that the controller may write."""
    if version == OLDER:
        return INVALID_UPDATE_VERSION
    return NONE if are_eligible(controller, isr) else INELIGIBLE_REPLICA


def alter_error(controller, partition, sender, leader_epoch, isr, version):
    """The error with which a broker answers AlterPartition of `sender`, NONE where the ISR is to be written, or is there.

    Kafka: KafkaController.processAlterIsr, 2.7 to 3.1; processAlterPartition, 3.2 to 3.9 (NOT_CONTROLLER for a leader that
           knows more, and INVALID_UPDATE_VERSION before the write: 3.3 to 3.9).
    """
    if not at_work(controller):
        return NOT_CONTROLLER
    if not contains(controller.live, sender):
        return STALE_BROKER_EPOCH
    if not is_known(partition):
        return UNKNOWN_TOPIC_OR_PARTITION
    error = leadership_error(partition, leader_epoch, version)
    if error != NONE or is_there(partition, sender, isr):
        return error
    return change_error(controller, isr, version)


def reaction(error):
    """What a leader does when its AlterPartition is answered.

    Kafka: Partition.handleAlterIsrResponse, 2.7 to 3.0; handleAlterIsrError, 3.1; handleAlterPartitionError, 3.2 to 3.9
           (TAKE_BACK: 3.1 to 3.9).
    """
    if error == NONE:
        return TAKE
    if error == INELIGIBLE_REPLICA or error == OPERATION_NOT_ATTEMPTED:
        return TAKE_BACK
    if error == NOT_CONTROLLER or error == STALE_BROKER_EPOCH:
        return ASK_AGAIN
    return WAIT
