"""Goals: every error code of a coordinator occurs, in an answer to a client or in one that a tool would get."""

from kafkaproof.spec.group.network import (
    COORDINATOR_LOAD_IN_PROGRESS,
    COORDINATOR_NOT_AVAILABLE,
    DISCONNECTED,
    FENCED_INSTANCE_ID,
    GROUP_ID_NOT_FOUND,
    GROUP_MAX_SIZE_REACHED,
    GROUP_SUBSCRIBED_TO_TOPIC,
    ILLEGAL_GENERATION,
    INCONSISTENT_GROUP_PROTOCOL,
    INVALID_COMMIT_OFFSET_SIZE,
    MEMBER_ID_REQUIRED,
    NON_EMPTY_GROUP,
    NOT_COORDINATOR,
    REBALANCE_IN_PROGRESS,
    REQUEST_TIMED_OUT,
    UNKNOWN_MEMBER_ID,
    UNKNOWN_SERVER_ERROR,
    UNSTABLE_OFFSET_COMMIT,
)
from kafkaproof.spec.group.verdicts import delete_group_verdict, delete_offset_verdict, fetch_verdict
from kafkaproof.spec.language.model import sometimes


def answered(s, verdict):
    """Whether an answer with this code is in flight."""
    for answer in s.network.answers:
        if answer.verdict == verdict:
            return True
    return False


def unknown_member(s):
    """UNKNOWN_MEMBER_ID."""
    return answered(s, UNKNOWN_MEMBER_ID)


def illegal_generation(s):
    """ILLEGAL_GENERATION."""
    return answered(s, ILLEGAL_GENERATION)


def rebalance_in_progress(s):
    """REBALANCE_IN_PROGRESS."""
    return answered(s, REBALANCE_IN_PROGRESS)


def load_in_progress(s):
    """COORDINATOR_LOAD_IN_PROGRESS."""
    return answered(s, COORDINATOR_LOAD_IN_PROGRESS)


def not_available(s):
    """COORDINATOR_NOT_AVAILABLE."""
    return answered(s, COORDINATOR_NOT_AVAILABLE)


def not_coordinator(s):
    """NOT_COORDINATOR."""
    return answered(s, NOT_COORDINATOR)


def timed_out(s):
    """REQUEST_TIMED_OUT."""
    return answered(s, REQUEST_TIMED_OUT)


def member_id_required(s):
    """MEMBER_ID_REQUIRED."""
    return answered(s, MEMBER_ID_REQUIRED)


def inconsistent_protocol(s):
    """INCONSISTENT_GROUP_PROTOCOL."""
    return answered(s, INCONSISTENT_GROUP_PROTOCOL)


def disconnected(s):
    """A coordinator dies while a client waits for its answer."""
    return answered(s, DISCONNECTED)


def fenced_instance(s):
    """FENCED_INSTANCE_ID."""
    return answered(s, FENCED_INSTANCE_ID)


def max_size_reached(s):
    """GROUP_MAX_SIZE_REACHED."""
    return answered(s, GROUP_MAX_SIZE_REACHED)


def server_error(s):
    """UNKNOWN_SERVER_ERROR: the record of the assignment is too large."""
    return answered(s, UNKNOWN_SERVER_ERROR)


def invalid_commit_size(s):
    """INVALID_COMMIT_OFFSET_SIZE."""
    return answered(s, INVALID_COMMIT_OFFSET_SIZE)


def non_empty_group(s):
    """NON_EMPTY_GROUP: a request to delete the group would get it now."""
    for broker in s.brokers:
        if delete_group_verdict(broker) == NON_EMPTY_GROUP:
            return True
    return False


def group_id_not_found(s):
    """GROUP_ID_NOT_FOUND: a request to delete the group would get it now."""
    for broker in s.brokers:
        if delete_group_verdict(broker) == GROUP_ID_NOT_FOUND:
            return True
    return False


def subscribed_to_topic(s):
    """GROUP_SUBSCRIBED_TO_TOPIC: a request to delete the offset would get it now."""
    for broker in s.brokers:
        if delete_offset_verdict(broker) == GROUP_SUBSCRIBED_TO_TOPIC:
            return True
    return False


def unstable_offset(s):
    """UNSTABLE_OFFSET_COMMIT: a request for a stable offset would get it now."""
    for broker in s.brokers:
        if fetch_verdict(broker, 1) == UNSTABLE_OFFSET_COMMIT:
            return True
    return False


CODES = (
    sometimes(unknown_member),
    sometimes(not_coordinator, epochs=2, brokers=2),
    sometimes(rebalance_in_progress, clients=2, ids=2, generations=2, log=2),
    sometimes(illegal_generation, clients=2, ids=3, generations=3, log=2, faults=1),
    sometimes(not_available, faults=1),
    sometimes(timed_out, faults=1, log=2),
    sometimes(server_error, faults=1),
    sometimes(invalid_commit_size, faults=1),
    sometimes(disconnected, faults=1),
    sometimes(inconsistent_protocol, clients=2, protocols=2),
)
LOADING = (sometimes(load_in_progress, brokers=2, epochs=2),)
DELETING = (sometimes(non_empty_group), sometimes(group_id_not_found))
REQUIRED = (sometimes(member_id_required),)
SUBSCRIBED = (sometimes(subscribed_to_topic),)
FENCED = (sometimes(fenced_instance, clients=2, ids=2),)
FULL = (sometimes(max_size_reached, clients=2, ids=2),)
UNSTABLE = (sometimes(unstable_offset),)
