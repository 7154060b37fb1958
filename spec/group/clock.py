"""When the timers of a group end. The transitions know no time; what runs them, or holds a recording to them, does.

All times are in ms.
"""

from kafkaproof.spec.group.coordinator import JOIN_PARKED
from kafkaproof.spec.group.network import (
    COMMIT,
    COORDINATOR_NOT_AVAILABLE,
    JOIN,
    MEMBER_ID_REQUIRED,
    NONE,
    PARKED,
    REBALANCE_IN_PROGRESS,
    STORED,
    SYNC,
    WORK,
)

NEW_MEMBER = 300_000


def patience_with(member, session):
    """How long a coordinator waits for a member that says nothing: its session timeout, or five minutes while a new
    member's first join is parked.

    Kafka: GroupCoordinator.NewMemberJoinTimeoutMs, 2.1.1 to 3.9.
    """
    return NEW_MEMBER if member.fresh and member.parked == JOIN_PARKED else session


def patience_in_rebalance(timeouts):
    """How long a coordinator waits for the joins of a group: the longest rebalance timeout of its members.

    Kafka: GroupMetadata.rebalanceTimeoutMs, 0.10.1 to 3.9.
    """
    return max(timeouts)


def begins_anew(request, verdict):
    """Whether a member's session begins anew in every release with a request that is answered so; `request` is WORK for a
    heartbeat. (From 0.10.1 on it does, too, with a heartbeat that is answered with REBALANCE_IN_PROGRESS while members
    are to join.)

    Kafka: GroupCoordinator.completeAndScheduleNextHeartbeatExpiration, 0.9 to 3.9.
    """
    if request == JOIN:
        return verdict == MEMBER_ID_REQUIRED or verdict == PARKED or verdict == STORED
    if request == SYNC or request == COMMIT:
        return verdict == NONE or verdict == STORED
    return request == WORK and verdict == NONE


def begins_anew_lately(request, verdict):
    """Whether it begins anew with the answer to a request in the latest releases; where a request is parked, it does with
    what is answered later. A member whose group or offset the log refuses to take is answered with
    COORDINATOR_NOT_AVAILABLE.

    Kafka: GroupCoordinator.completeAndScheduleNextHeartbeatExpiration, 2.8 to 3.9.
    """
    if request == JOIN:
        return verdict == MEMBER_ID_REQUIRED
    if request == SYNC:
        return verdict == NONE or verdict == COORDINATOR_NOT_AVAILABLE
    if request == COMMIT:
        return verdict == STORED or verdict == COORDINATOR_NOT_AVAILABLE
    return request == WORK and (verdict == NONE or verdict == REBALANCE_IN_PROGRESS)
