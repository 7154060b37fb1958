"""Properties of what a controller that reassigns keeps: of what is left of a reassignment in and between events, and terms.

Sources: KafkaController.onPartitionReassignment, ControllerContext.resetContext, 2.7 to 3.9.
"""

from kafkaproof.spec.language.model import always
from kafkaproof.spec.language.sets import is_empty, union
from kafkaproof.spec.partition.context import CHANGING, IDLE, WRITING_LEADER, WRITING_REMOVAL
from kafkaproof.spec.partition.deletion.state import RESUMING
from kafkaproof.spec.partition.reassignment.state import (
    CHECKING,
    STOPPING_REMOVED,
    TELLING,
    WRITING_ASSIGNMENT,
    WRITING_TARGET,
)


def has_nothing_in_hand(controller):
    """Whether no reassignment is in hand, or still to be checked."""
    return is_empty(controller.moving) and controller.finishing == 0 and is_empty(controller.removed)


def is_elsewhere(controller):
    """Whether no reassignment is handled now: between events, while other brokers are, or while a deletion goes on."""
    return controller.doing == IDLE or controller.doing == CHANGING or controller.doing == RESUMING


def reassignments_end_with_term(s):
    """Without a term nothing is added or removed, and no reassignment is in hand."""
    for broker in s.brokers:
        controller = broker.controller
        if controller.epoch == 0 and not has_nothing_in_hand(controller):
            return False
        for partition in controller.partitions:
            if controller.epoch == 0 and not is_empty(union(partition.adding, partition.removing)):
                return False
    return True


def reassignment_in_order(s):
    """Between events, and before other brokers are handled or a deletion goes on, no reassignment is in hand or still to be
    checked; for the steps of one there is one.
    """
    for broker in s.brokers:
        controller = broker.controller
        doing = controller.doing
        if is_elsewhere(controller) and not has_nothing_in_hand(controller):
            return False
        moves = doing == WRITING_ASSIGNMENT or doing == CHECKING or doing == TELLING
        moves = moves or doing == STOPPING_REMOVED or doing == WRITING_TARGET
        if moves and is_empty(controller.moving) or doing == WRITING_TARGET and controller.finishing == 0:
            return False
        written = doing == WRITING_LEADER or doing == WRITING_REMOVAL or doing == TELLING
        if written != (controller.result.leader_epoch >= 0):
            return False
    return True


MEMORY = (always(reassignments_end_with_term), always(reassignment_in_order))
