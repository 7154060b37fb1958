"""group.max.size (KIP-389, 2.2+), at its minimum: there is room for one member."""

from kafkaproof.spec.group.coordinator import JOIN_PARKED, MEMBER, members_of, status
from kafkaproof.spec.group.group_states import COMPLETING_REBALANCE, PREPARING_REBALANCE, STABLE


def awaiting(group):
    """How many members have a parked join."""
    n = 0
    for member in group.members:
        if member.parked == JOIN_PARKED:
            n += 1
    return n


def accepts_one(group, id):
    """Whether there is room for a client that joins with this member id. During a rebalance, the members that have
    joined count; otherwise all members do.

    Not modelled: up to 2.5 a client without a member id is turned away where the group is full, and a member that has
    not joined where the group is too large.
    Kafka: GroupCoordinator.acceptJoiningMember, 2.6 to 3.9.
    """
    known = status(group, id) == MEMBER
    if group.state == PREPARING_REBALANCE:
        return awaiting(group) < 1 or known and group.members[max(id, 0)].parked == JOIN_PARKED
    if group.state == COMPLETING_REBALANCE or group.state == STABLE:
        return known or members_of(group) < 1
    return True
