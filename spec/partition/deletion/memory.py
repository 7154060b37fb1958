"""Properties of what a controller that deletes topics keeps: of what is left of a deletion in and between events, and terms.

Sources: TopicDeletionManager, ControllerContext.resetContext, 2.7 to 3.9.
"""

from kafkaproof.spec.language.model import always
from kafkaproof.spec.language.sets import difference, intersection, is_empty, union
from kafkaproof.spec.partition.context import CHANGING, ELECTING, IDLE, REMOVING, WRITING_LEADER, WRITING_REMOVAL
from kafkaproof.spec.partition.creation.creation import known_partitions
from kafkaproof.spec.partition.deletion.state import (
    DELETING_CONFIG,
    DELETING_LEFTOVERS,
    DELETING_MARKER,
    DELETING_STATES,
    DELETING_TOPIC,
    RESUMING,
    STOPPING,
)
from kafkaproof.spec.partition.properties.invariants import has_no_event, no_broker_moves


def deletions_end_with_term(s):
    """Without a term no topic is ineligible for deletion, is to be resumed, or is in hand."""
    for broker in s.brokers:
        controller = broker.controller
        left = union(controller.ineligible, union(controller.resuming, controller.dropping))
        if controller.epoch == 0 and not is_empty(left):
            return False
    return True


def has_topic_in_hand(doing):
    """Whether the next step of an event is for the topic in hand."""
    deletes = doing == DELETING_STATES or doing == DELETING_TOPIC or doing == DELETING_CONFIG
    return deletes or doing == DELETING_MARKER or doing == STOPPING


def deletion_in_order(s):
    """What is left of a deletion agrees with what is done next: whose replicas are stopped, or znodes deleted, is in hand;
    what is resumed is to be resumed. What is known of it is queued.
    """
    for broker in s.brokers:
        controller = broker.controller
        left = union(controller.ineligible, union(controller.resuming, controller.dropping))
        if not is_empty(difference(intersection(left, known_partitions(controller)), controller.deleting)):
            return False
        if has_topic_in_hand(controller.doing) and is_empty(controller.dropping):
            return False
        if controller.doing == RESUMING and (is_empty(controller.resuming) or not is_empty(controller.dropping)):
            return False
        dropped = intersection(controller.dropping, known_partitions(controller))
        if controller.doing == DELETING_LEFTOVERS and not is_empty(union(controller.resuming, dropped)):
            return False
    return True


def nothing_left_at_rest(s):
    """Between events nothing is left to be elected, to go offline, to be resumed or to be deleted."""
    for broker in s.brokers:
        controller = broker.controller
        left = union(controller.todo, union(controller.resuming, controller.dropping))
        if controller.doing == IDLE and (not is_empty(left) or not has_no_event(controller)):
            return False
    return True


def something_left_in_event(s):
    """A step that elects, takes replicas offline or handles brokers has something left to do."""
    for broker in s.brokers:
        controller = broker.controller
        doing = controller.doing
        if (doing == ELECTING or doing == WRITING_LEADER) and is_empty(controller.todo):
            return False
        if (doing == REMOVING or doing == WRITING_REMOVAL) and is_empty(controller.removing):
            return False
        if doing == CHANGING and no_broker_moves(controller):
            return False
    return True


MEMORY = (
    always(something_left_in_event),
    always(deletions_end_with_term),
    always(deletion_in_order),
    always(nothing_left_at_rest),
)
