"""Requests that are refused before the group is looked at, because of a flaw of their own.

`allowed` and similar arguments are what the API layer has found. Clients of the model send valid requests; `refuse` is
an invalid one, from any sender.
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
    """Whether a group id is valid: it is given, and not empty unless the request is a commit, a fetch or similar.

    Kafka: GroupCoordinator.isValidGroupId, 2.0 to 3.9.
    """
    return given and (not empty or may_be_empty)


def refusal(valid_id, active, loading, owned):
    """The checks before any request: group id, coordinator active, loaded, owned. Special cases are in `verdicts`.

    Kafka: GroupCoordinator.validateGroupStatus, 2.0 to 3.9.
    """
    if not valid_id:
        return INVALID_GROUP_ID
    if not active:
        return COORDINATOR_NOT_AVAILABLE
    if loading:
        return COORDINATOR_LOAD_IN_PROGRESS
    return NONE if owned else NOT_COORDINATOR


def former_refusal(join, valid_id, active, loading, owned):
    """The same in OLD: the group id is checked only in a join.

    Kafka: GroupCoordinator.handleJoinGroup (and its like), 0.9 to 1.1; validateGroup, 0.11 to 1.1.
    """
    if not active:
        return COORDINATOR_NOT_AVAILABLE
    if join and not valid_id:
        return INVALID_GROUP_ID
    if not owned:
        return NOT_COORDINATOR
    return COORDINATOR_LOAD_IN_PROGRESS if loading else NONE


def session_refusal(timeout, least, most):
    """JoinGroup: the error for a session timeout, in ms, outside the broker's range.

    Kafka: GroupCoordinator.handleJoinGroup, 0.9 to 3.9 (group.min.session.timeout.ms and max).
    """
    return NONE if least <= timeout <= most else INVALID_SESSION_TIMEOUT


def metadata_refusal(size, most):
    """OffsetCommit of one partition: the error for metadata longer than offset.metadata.max.bytes.

    Kafka: GroupMetadataManager.validateOffsetMetadataLength, 0.9 to 3.9.
    """
    return NONE if size <= most else OFFSET_METADATA_TOO_LARGE


def authorization_refusal(allowed):
    """Any request: the error for a group that the sender may not describe, read or delete.

    Kafka: KafkaApis.authorize, 0.9 to 2.7; authHelper, 2.8 to 3.9.
    """
    return NONE if allowed else GROUP_AUTHORIZATION_FAILED


def flaw_verdict(broker, flaw):
    """The answer to a request with a flaw: a join's session timeout, the metadata of a commit without a group, and so
    on.
    """
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
    """An invalid request arrives at broker `b`.

    Guards:  none.
    Request: an error as in `flaw_verdict`.
    Effects: only the answer; except that a commit, whose metadata are checked last, creates an unknown group as Empty.
    Kafka:   GroupCoordinator.handleJoinGroup, KafkaApis.handleOffsetCommitRequest, 0.9 to 3.9;
             GroupCoordinator.doCommitOffsets, 0.10.1 to 3.9.
    """
    group = s.brokers[b].group
    verdict = answer_operator(s.network, flaw_verdict(s.brokers[b], flaw))
    if verdict == OFFSET_METADATA_TOO_LARGE:
        create_if_absent(group)
    return True
