"""Lemmas of groups with room for one member (limited), beside those of *current*.

In short: of those who join only one is kept waiting, and who does not wait has no part in the next generation.
"""

from spec.group.coordinator import JOIN_PARKED, MEMBER
from spec.group.sorts import Broker, KnownId
from spec.group.states import COMPLETING_REBALANCE, STABLE
from spec.language.sets import contains, is_empty
from spec.properties.group_lemmas import Place
from spec.properties.group_member_lemmas import CURRENT


def one_waits(s, b: Broker, id: KnownId, other: KnownId):
    """No two joins wait in a group."""
    members = s.brokers[b].group.members
    return id == other or members[id].parked != JOIN_PARKED or members[other].parked != JOIN_PARKED


def one_is_member(s, b: Broker, id: KnownId, other: KnownId):
    """A generation that is complete has one member, and so has one that is being loaded."""
    group = s.brokers[b].group
    if group.state != COMPLETING_REBALANCE and group.state != STABLE and not s.brokers[b].loading:
        return True
    return id == other or group.members[id].status != MEMBER or group.members[other].status != MEMBER


def one_is_stored(s, p: Place, id: KnownId, other: KnownId):
    """So has one in the log."""
    members = s.storage.log.slots[p].members
    return id == other or not contains(members, id) or not contains(members, other)


def nobody_is_static(s, b: Broker, id: KnownId):
    """No member has a group.instance.id, which would keep it in the group while it does not join."""
    return is_empty(s.brokers[b].group.members[id].instance)


def no_static_is_stored(s, p: Place):
    """Nor has one in the log."""
    for instance in s.storage.log.slots[p].instances:
        if not is_empty(instance):
            return False
    return True


LIMITED = (*CURRENT, one_waits, one_is_member, one_is_stored, nobody_is_static, no_static_is_stored)
