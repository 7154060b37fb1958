"""Metrics of the group system: one group, in the caches of the brokers that coordinate it or believe they do."""

from kafkaproof.spec.group.coordinator import members_of
from kafkaproof.spec.group.group_states import ABSENT, COMPLETING_REBALANCE, DEAD, EMPTY, PREPARING_REBALANCE, STABLE
from kafkaproof.spec.group.sorts import NOWHERE
from kafkaproof.spec.metrics.metric import Measure
from kafkaproof.spec.metrics.names import (
    GROUPS_ALL,
    GROUPS_COMPLETING,
    GROUPS_DEAD,
    GROUPS_EMPTY,
    GROUPS_PREPARING,
    GROUPS_STABLE,
    LEADER_ELECTIONS,
    LOADING,
    MEMBERS,
    OFFSETS,
    REBALANCES,
)


def in_state(s, state):
    """The number of caches in which the group is in a given state."""
    count = 0
    for broker in s.brokers:
        if broker.group.state == state:
            count += 1
    return count


def groups(s):
    """The number of caches that have the group.

    Kafka: GroupMetadataManager."NumGroups", 0.9 to 3.9.
    """
    return len(s.brokers) - in_state(s, ABSENT)


def groups_empty(s):
    """The number of caches in which the group is Empty."""
    return in_state(s, EMPTY)


def groups_preparing(s):
    """The number of caches in which the group is PreparingRebalance."""
    return in_state(s, PREPARING_REBALANCE)


def groups_completing(s):
    """The number of caches in which the group is CompletingRebalance."""
    return in_state(s, COMPLETING_REBALANCE)


def groups_stable(s):
    """The number of caches in which the group is Stable."""
    return in_state(s, STABLE)


def groups_dead(s):
    """The number of caches in which the group is Dead."""
    return in_state(s, DEAD)


def offsets(s):
    """The number of caches that have a committed offset.

    Kafka: GroupMetadataManager."NumOffsets", 0.9 to 3.9.
    """
    count = 0
    for broker in s.brokers:
        if broker.group.offset != NOWHERE:
            count += 1
    return count


def members(s):
    """The number of members of the group, in the cache that has the most."""
    most = 0
    for broker in s.brokers:
        most = max(most, members_of(broker.group))
    return most


def loading(s):
    """The number of brokers that are loading the offsets partition."""
    count = 0
    for broker in s.brokers:
        if broker.loading:
            count += 1
    return count


def rebalances(before, after):
    """The number of joins that a step completed: each raises the generation by one."""
    count = 0
    for b in range(len(after.brokers)):
        if after.brokers[b].group.generation == before.brokers[b].group.generation + 1:
            count += 1
    return count


def leader_elections(before, after):
    """The number of leaders of the offsets partition that a step elected."""
    return after.storage.epoch - before.storage.epoch


JOINS = ("complete_join", "join_timeout")
METRICS = (
    Measure(GROUPS_ALL, groups),
    Measure(GROUPS_EMPTY, groups_empty),
    Measure(GROUPS_PREPARING, groups_preparing),
    Measure(GROUPS_COMPLETING, groups_completing),
    Measure(GROUPS_STABLE, groups_stable),
    Measure(GROUPS_DEAD, groups_dead),
    Measure(OFFSETS, offsets),
    Measure(MEMBERS, members),
    Measure(LOADING, loading),
    Measure(REBALANCES, rebalances, of=JOINS),
    Measure(LEADER_ELECTIONS, leader_elections),
)
