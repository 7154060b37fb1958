"""How members are kept and lost: Heartbeat, LeaveGroup, and the end of a session."""

from kafkaproof.spec.group.coordinator import (
    JOIN_PARKED,
    MEMBER,
    PENDING,
    SYNC_PARKED,
    forget_member,
    has_timers,
    is_heir,
)
from kafkaproof.spec.group.join import prepare_rebalance
from kafkaproof.spec.group.network import (
    LEAVE,
    NONE,
    REBALANCE_IN_PROGRESS,
    UNKNOWN_MEMBER_ID,
    WORK,
    answer,
    answer_operator,
    asked,
    generation_of,
    give_error,
    id_of,
    instance,
    refuse,
    waits_in_generation,
)
from kafkaproof.spec.group.sorts import Broker, Client, KnownId, MemberId
from kafkaproof.spec.group.states import COMPLETING_REBALANCE, STABLE
from kafkaproof.spec.group.verdicts import heartbeat_verdict, leave_verdict
from kafkaproof.spec.language.domains import NOBODY


def heartbeat(s, b: Broker, m: Client):
    """Client `m` asks broker `b` whether it is still a member.

    Guards:  it works, and waits for nothing else.
    Request: NONE, or as `heartbeat_verdict`.
    Effects: none but the answer; the session begins anew, which time is left out of.
    Kafka:   GroupCoordinator.handleHeartbeat; NONE in CompletingRebalance: 2.6 to 3.9.
    """
    if asked(s.network, m, 0) != WORK:
        return False

    generation = generation_of(s.network, m, 0)
    answer(s.network, m, 0, heartbeat_verdict(s.brokers[b], id_of(s.network, m, 0), instance(m), generation))
    return True


def heartbeat_beside(s, b: Broker, m: Client):
    """The heartbeat thread of client `m`, which waits for the answer to its sync or its commit, asks broker `b`.

    Guards:  it has a generation, and waits.
    Request: NONE, or as `heartbeat_verdict`.
    Effects: none: the client goes by the answer that it waits for.
    Kafka:   GroupCoordinator.handleHeartbeat; AbstractCoordinator.HeartbeatThread, beside a sync: 2.7 to 3.9.
    """
    if not waits_in_generation(s.network, m):
        return False

    generation = generation_of(s.network, m, 0)
    answer_operator(s.network, heartbeat_verdict(s.brokers[b], id_of(s.network, m, 0), instance(m), generation))
    return True


def lose_member(group, id, heir):
    """A member is gone; another leads if it did, and a group that was not in a rebalance begins one."""
    forget_member(group.members[id])
    group.leader = heir
    if group.state == STABLE or group.state == COMPLETING_REBALANCE:
        prepare_rebalance(group)


def leave(s, b: Broker, m: Client, heir: MemberId):
    """The LeaveGroup of client `m` arrives at broker `b`.

    Guards:  there is one; `heir` is who leads afterwards: anybody, if the leader leaves.
    Request: NONE; else as `leave_verdict`.
    Effects: on NONE the member is gone, and there is a rebalance. A pending member is only forgotten.
    Kafka:   GroupCoordinator.handleLeaveGroup, removeMemberAndUpdateGroup, 0.9 to 3.9.
    """
    group = s.brokers[b].group
    id = id_of(s.network, m, 1)
    if asked(s.network, m, 1) != LEAVE:
        return False
    verdict = leave_verdict(s.brokers[b], id)
    if not is_heir(group, id if verdict == NONE else NOBODY, heir):
        return False

    answer(s.network, m, 1, verdict)
    if verdict == NONE and group.members[id].status == MEMBER:
        give_error(s.network, group.members[id].waiter, UNKNOWN_MEMBER_ID)
        refuse(s.network, group, SYNC_PARKED, REBALANCE_IN_PROGRESS)
        lose_member(group, id, heir)
    elif verdict == NONE:
        forget_member(group.members[id])
    return True


def patience_is_over(member):
    """Whether the time may be over in which a member must have been let in: only a new one's (2.1+)."""
    return member.fresh


def expire(s, b: Broker, id: KnownId, heir: MemberId):
    """The session of a member ends, or the time in which a new one must have joined.

    Guards:  it is a member, and no parked request keeps it alive; a parked join does not that of a new member.
             `heir` is who leads afterwards: anybody, if the leader is gone.
    Effects: its parked join is refused, it is gone, and there is a rebalance.
    Kafka:   GroupCoordinator.onExpireHeartbeat, 0.9 to 3.9; new members: 2.1 to 3.9.
    """
    group = s.brokers[b].group
    member = group.members[id]
    if not has_timers(group) or member.status != MEMBER or member.parked == SYNC_PARKED:
        return False
    if member.parked == JOIN_PARKED and not patience_is_over(member) or not is_heir(group, id, heir):
        return False

    give_error(s.network, member.waiter, UNKNOWN_MEMBER_ID)
    refuse(s.network, group, SYNC_PARKED, REBALANCE_IN_PROGRESS)
    lose_member(group, id, heir)
    return True


def expire_pending(s, b: Broker, id: KnownId):
    """A pending member has not joined in time.

    Guards:  it is pending.
    Effects: it is forgotten.
    Kafka:   GroupCoordinator.onExpireHeartbeat, 2.2 to 3.9 (KIP-394).
    """
    group = s.brokers[b].group
    member = group.members[id]
    if not has_timers(group) or member.status != PENDING:
        return False

    forget_member(member)
    return True


def has_synced(member):
    """Whether a member of the generation that is being completed has sent its sync."""
    return member.parked == SYNC_PARKED


def all_synced(group):
    """Whether every member has sent its sync."""
    for member in group.members:
        if member.status == MEMBER and not has_synced(member):
            return False
    return True


def is_successor(group, heir):
    """Whether `heir` may lead when who has not sent a sync is gone: the leader if it has, else anybody who has."""
    if group.leader != NOBODY and has_synced(group.members[group.leader]):
        return heir == group.leader
    for member in group.members:
        if has_synced(member):
            return heir != NOBODY and has_synced(group.members[heir])
    return heir == NOBODY


def sync_timeout(s, b: Broker, heir: MemberId):
    """The time is over in which the members of a generation must send their syncs.

    Once the group is Stable this comes to the end of their sessions, one by one: Kafka keeps no other account of them.

    Guards:  the leader's assignment is awaited, and a member has not sent its sync; `heir` is who leads afterwards:
             anybody who has, if the leader has not.
    Effects: those who have not are gone, and there is a rebalance.
    Kafka:   GroupCoordinator.onExpirePendingSync, 2.8 to 3.9.
    """
    group = s.brokers[b].group
    if group.state != COMPLETING_REBALANCE or all_synced(group) or not is_successor(group, heir):
        return False

    for member in group.members:
        if member.status == MEMBER and not has_synced(member):
            forget_member(member)
    group.leader = heir
    refuse(s.network, group, SYNC_PARKED, REBALANCE_IN_PROGRESS)
    prepare_rebalance(group)
    return True
