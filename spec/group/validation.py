"""Requests that are refused before the group is looked at, because of a flaw of their own.

`allowed` and similar arguments are what the API layer has found. Clients of the model send valid requests; `refuse` is
an invalid one, from any sender.
"""

from kafkaproof.spec.group.group_states import ABSENT, DEAD, EMPTY
from kafkaproof.spec.group.join import create_if_absent
from kafkaproof.spec.group.network import (
    COORDINATOR_LOAD_IN_PROGRESS,
    COORDINATOR_NOT_AVAILABLE,
    GROUP_AUTHORIZATION_FAILED,
    GROUP_SUBSCRIBED_TO_TOPIC,
    INCONSISTENT_GROUP_PROTOCOL,
    INVALID_GROUP_ID,
    INVALID_SESSION_TIMEOUT,
    NON_EMPTY_GROUP,
    NONE,
    NOT_COORDINATOR,
    OFFSET_METADATA_TOO_LARGE,
    STORED,
    UNKNOWN_MEMBER_ID,
    UNKNOWN_TOPIC_OR_PARTITION,
    answer_operator,
)
from kafkaproof.spec.group.protocols import supports_type
from kafkaproof.spec.group.sorts import Broker
from kafkaproof.spec.group.verdicts import commit_verdict, dead, delete_offset_verdict, gate
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


def partition_verdict(verdict, exists, fits):
    """OffsetCommit: the answer for one of several partitions, where `verdict` is that for the commit as a whole.

    A partition that does not exist is refused before the coordinator is asked, and one whose metadata do not fit after
    it has accepted the commit. The others are stored all the same.

    Kafka: KafkaApis.handleOffsetCommitRequest, 0.9 to 3.9; GroupMetadataManager.prepareStoreOffsets, 0.9 to 0.10.2;
           GroupMetadataManager.storeOffsets, 0.11 to 3.9.
    """
    if not exists:
        return UNKNOWN_TOPIC_OR_PARTITION
    return OFFSET_METADATA_TOO_LARGE if verdict == STORED and not fits else verdict


def offset_deletion_refusal(broker, consumers):
    """OffsetDelete: the error for the whole request, NONE for none. Of a group with members, only that of consumers is known
    to subscribe to topics.

    Kafka: GroupCoordinator.handleDeleteOffsets, 2.4 to 3.9.
    """
    verdict = delete_offset_verdict(broker)
    if verdict != NONE and verdict != GROUP_SUBSCRIBED_TO_TOPIC:
        return verdict
    return NONE if consumers or broker.group.state == EMPTY else NON_EMPTY_GROUP


def offset_deletion_verdict(broker, exists, subscribed):
    """OffsetDelete: the answer for one of several partitions, where the request as a whole is not refused. `subscribed`: a
    member of the group subscribes to its topic.

    Kafka: KafkaApis.handleOffsetDeleteRequest, GroupCoordinator.handleDeleteOffsets, 2.4 to 3.9.
    """
    if not exists:
        return UNKNOWN_TOPIC_OR_PARTITION
    return GROUP_SUBSCRIBED_TO_TOPIC if subscribed and broker.group.state != EMPTY else NONE


def authorization_refusal(allowed):
    """Any request: the error for a group that the sender may not describe, read or delete.

    Kafka: KafkaApis.authorize, 0.9 to 2.7; authHelper, 2.8 to 3.9.
    """
    return NONE if allowed else GROUP_AUTHORIZATION_FAILED


def type_verdict(broker, given, same):
    """JoinGroup: the error for a protocol type that the group does not take, NONE for one that it takes; the arguments are
    those of `supports_type`. A group that is not there begins Empty.
    """
    verdict = gate(broker)
    if verdict != NONE:
        return verdict
    if broker.group.state == DEAD:
        return dead()
    taken = given if broker.group.state == ABSENT else supports_type(broker.group, given, same)
    return NONE if taken else INCONSISTENT_GROUP_PROTOCOL


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
    return partition_verdict(commit_verdict(broker, NOBODY, 0, 0), True, metadata_refusal(1, 0) == NONE)


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


def refuse_type(s, b: Broker):
    """Somebody who is no member asks broker `b` to join with another protocol type.

    Guards:  none.
    Request: an error as in `type_verdict`; UNKNOWN_MEMBER_ID where the group would take the type.
    Effects: only the answer.
    Kafka:   GroupMetadata.supportsProtocols, 2.1 to 3.9.
    """
    verdict = type_verdict(s.brokers[b], True, False)
    answer_operator(s.network, UNKNOWN_MEMBER_ID if verdict == NONE else verdict)
    return True


def refuse_topic(s, b: Broker):
    """A commit to a topic that does not exist arrives at broker `b`.

    Guards:  none.
    Request: an error as in `partition_verdict`.
    Effects: only the answer: the coordinator is not asked.
    Kafka:   KafkaApis.handleOffsetCommitRequest, 0.9 to 3.9.
    """
    answer_operator(s.network, partition_verdict(STORED, False, True))
    return True
