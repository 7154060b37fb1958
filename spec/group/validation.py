"""What is refused for the request's own sake, before the group is looked at.

`allowed` and the like are what the API layer has found. Clients of the model send sound requests; `refuse` is one that
is not, from anybody.
"""

from kafkaproof.spec.group.join import create_if_absent
from kafkaproof.spec.group.network import (
    COORDINATOR_LOAD_IN_PROGRESS,
    COORDINATOR_NOT_AVAILABLE,
    GROUP_AUTHORIZATION_FAILED,
    INVALID_GROUP_ID,
    INVALID_SESSION_TIMEOUT,
    NONE,
    NOT_COORDINATOR,
    OFFSET_METADATA_TOO_LARGE,
    STORED,
    answer_operator,
)
from kafkaproof.spec.group.sorts import Broker
from kafkaproof.spec.group.verdicts import commit_verdict, gate
from kafkaproof.spec.language.domains import NOBODY, Choice

Flaw = Choice("NOT_ALLOWED", "NO_GROUP_ID", "SESSION_TOO_LONG", "METADATA_TOO_LONG")
NOT_ALLOWED, NO_GROUP_ID, SESSION_TOO_LONG, METADATA_TOO_LONG = Flaw


def is_valid_group_id(given, empty, may_be_empty):
    """Whether a group id will do: it is given, and not empty unless the request is a commit, a fetch or the like.

    Kafka: GroupCoordinator.isValidGroupId, 1.1 to 3.9.
    """
    return given and (not empty or may_be_empty)


def refusal(valid_id, active, loading, owned):
    """The gate of any request: group id, coordinator started, loaded, owned. Special cases are in `verdicts`.

    Kafka: GroupCoordinator.validateGroupStatus, 1.1 to 3.9.
    """
    if not valid_id:
        return INVALID_GROUP_ID
    if not active:
        return COORDINATOR_NOT_AVAILABLE
    if loading:
        return COORDINATOR_LOAD_IN_PROGRESS
    return NONE if owned else NOT_COORDINATOR


def former_refusal(join, valid_id, active, loading, owned):
    """The same in OLD: the group id is asked of a join alone.

    Kafka: GroupCoordinator.handleJoinGroup and the others, 0.9 to 0.10.2.
    """
    if not active:
        return COORDINATOR_NOT_AVAILABLE
    if join and not valid_id:
        return INVALID_GROUP_ID
    if not owned:
        return NOT_COORDINATOR
    return COORDINATOR_LOAD_IN_PROGRESS if loading else NONE


def session_refusal(timeout, least, most):
    """JoinGroup: a session timeout, in ms, out of the broker's range.

    Kafka: GroupCoordinator.handleJoinGroup, group.min.session.timeout.ms and max, 0.9 to 3.9.
    """
    return NONE if least <= timeout <= most else INVALID_SESSION_TIMEOUT


def metadata_refusal(size, most):
    """OffsetCommit, of one partition: metadata longer than offset.metadata.max.bytes.

    Kafka: GroupMetadataManager.validateOffsetMetadataLength, 0.9 to 3.9.
    """
    return NONE if size <= most else OFFSET_METADATA_TOO_LARGE


def authorization_refusal(allowed):
    """Any request of a group that the sender may not describe, read or delete.

    Kafka: KafkaApis.authHelper, 0.9 to 3.9.
    """
    return NONE if allowed else GROUP_AUTHORIZATION_FAILED


def flaw_verdict(broker, flaw):
    """A request with a flaw: of a join the session timeout, of a commit without a group the metadata."""
    if flaw == NOT_ALLOWED:
        return authorization_refusal(False)
    if flaw == NO_GROUP_ID:
        return INVALID_GROUP_ID
    if flaw == SESSION_TOO_LONG:
        verdict = gate(broker)
        return session_refusal(1, 0, 0) if verdict == NONE else verdict
    verdict = commit_verdict(broker, NOBODY, 0, 0)
    return metadata_refusal(1, 0) if verdict == STORED else verdict


def refuse(s, b: Broker, flaw: Flaw):
    """A request with a flaw of its own arrives at broker `b`.

    Guards:  none.
    Request: as `flaw_verdict`.
    Effects: none but the answer; but a commit, whose metadata are read last, makes an Empty group of an unknown one.
    Kafka:   GroupCoordinator.handleJoinGroup, doCommitOffsets, KafkaApis, 0.9 to 3.9.
    """
    group = s.brokers[b].group
    verdict = answer_operator(s.network, flaw_verdict(s.brokers[b], flaw))
    if verdict == OFFSET_METADATA_TOO_LARGE:
        create_if_absent(group)
    return True
