"""How members stay in the group and leave it: Heartbeat, LeaveGroup, and the end of a session."""

from kafkaproof.spec.group.coordinator import (
    JOIN_PARKED,
    MEMBER,
    PENDING,
    SYNC_PARKED,
    forget_member,
    has_timers,
    is_heir,
)
from kafkaproof.spec.group.group_states import COMPLETING_REBALANCE, STABLE
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
from kafkaproof.spec.group.verdicts import heartbeat_verdict, leave_verdict
from kafkaproof.spec.language.domains import NOBODY


def heartbeat(s, b: Broker, m: Client):
    """Client `m` asks broker `b` whether it is still a member.

    Guards:  it works, and waits for nothing else.
    Request: NONE, or an error as in `heartbeat_verdict`.
    Effects: only the answer. (The session starts anew, but its time is not modelled.)
    Kafka:   GroupCoordinator.handleHeartbeat, 0.9 to 3.9 (NONE in CompletingRebalance: 2.6.1 to 3.9).
    """
    if asked(s.network, m, 0) != WORK:
        return False

    generation = generation_of(s.network, m, 0)
    answer(s.network, m, 0, heartbeat_verdict(s.brokers[b], id_of(s.network, m, 0), instance(s.network, m), generation))
    return True


def heartbeat_beside(s, b: Broker, m: Client):
    """The heartbeat thread of client `m` asks broker `b`, while the client waits for the answer to a sync or a commit.

    Guards:  it has a generation, and waits.
    Request: NONE, or an error as in `heartbeat_verdict`.
    Effects: none: the client acts on the answer that it waits for.
    Kafka:   GroupCoordinator.handleHeartbeat, AbstractCoordinator.HeartbeatThread, 2.7 to 3.9 (beside a sync).
    """
    if not waits_in_generation(s.network, m):
        return False

    generation = generation_of(s.network, m, 0)
    answer_operator(
        s.network, heartbeat_verdict(s.brokers[b], id_of(s.network, m, 0), instance(s.network, m), generation)
    )
    return True


def lose_member(group, id, heir):
    """Remove a member. If it led, `heir` leads. The group begins a rebalance, unless one goes on."""
    forget_member(group.members[id])
    group.leader = heir
    if group.state == STABLE or group.state == COMPLETING_REBALANCE:
        prepare_rebalance(group)


def leave(s, b: Broker, m: Client, heir: MemberId):
    """The LeaveGroup of client `m` arrives at broker `b`.

    Guards:  there is such a request; `heir` leads afterwards: it is any other member if the leader leaves.
    Request: NONE, or an error as in `leave_verdict`.
    Effects: on NONE the member is gone, and there is a rebalance. A pending member is only forgotten.
    Kafka:   GroupCoordinator.handleLeaveGroup, 0.9 to 3.9; onMemberFailure, 0.9 to 0.10.2;
             removeMemberAndUpdateGroup, 1.0 to 3.9.
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
    """Whether a member's session may end while its join is parked: only a new member's may (2.1.1+).

    Kafka: MemberMetadata.shouldKeepAlive, 2.1.1 to 2.4; hasSatisfiedHeartbeat, 2.5 to 3.9.
    """
    return member.fresh


def expire(s, b: Broker, id: KnownId, heir: MemberId):
    """The session of a member ends, or the time that a new member has for its first join.

    Guards:  it is a member, and no parked request keeps it alive; a new member's parked join does not. `heir` leads
             afterwards: it is any other member if the leader is gone.
    Effects: its parked join is refused, the member is removed, and there is a rebalance.
    Kafka:   GroupCoordinator.onExpireHeartbeat, 0.9 to 3.9 (new members: 2.1.1 to 3.9).
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
    """Whether `heir` may lead once members without a sync are gone: the leader if it sent one, else any that did."""
    if group.leader != NOBODY and has_synced(group.members[group.leader]):
        return heir == group.leader
    for member in group.members:
        if has_synced(member):
            return heir != NOBODY and has_synced(group.members[heir])
    return heir == NOBODY


def sync_timeout(s, b: Broker, heir: MemberId):
    """The members of a generation run out of time to send their syncs.

    Once the group is Stable, this amounts to the end of their sessions, one by one: Kafka does not track them
    otherwise.

    Guards:  the leader's assignment is awaited, and a member has not sent its sync; `heir` leads afterwards: any member
             that has sent its sync, if the leader has not.
    Effects: the members that have not sent theirs are removed, and there is a rebalance.
    Kafka:   GroupCoordinator.onExpirePendingSync, 2.8.1 to 3.9.
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
