"""The states of a group, and the states from which each may be entered.

`Absent` is not a state in Kafka: it means that the group is not in the coordinator's cache. CompletingRebalance was
called AwaitingSync up to 1.0.

Source: kafka.coordinator.group.GroupMetadata.validPreviousStates, 0.11 to 2.4;
        kafka.coordinator.group.GroupState.validPreviousStates, 2.5 to 3.9.
"""

from kafkaproof.spec.language.domains import Choice

GroupState = Choice("Absent", "Empty", "PreparingRebalance", "CompletingRebalance", "Stable", "Dead")
ABSENT, EMPTY, PREPARING_REBALANCE, COMPLETING_REBALANCE, STABLE, DEAD = GroupState

ENTERED_FROM = {
    EMPTY: (PREPARING_REBALANCE,),
    PREPARING_REBALANCE: (EMPTY, COMPLETING_REBALANCE, STABLE),
    COMPLETING_REBALANCE: (PREPARING_REBALANCE,),
    STABLE: (COMPLETING_REBALANCE,),
    DEAD: (EMPTY, PREPARING_REBALANCE, COMPLETING_REBALANCE, STABLE, DEAD),
}
COMES_AS = (EMPTY, STABLE)
"""A group enters a broker's cache either Empty, for its first member or commit, or as it was loaded."""
LEAVES_AS = (DEAD,)
"""A group leaves the cache Dead: deleted, expired, or unloaded."""


def move_is_legal(before, after):
    """Whether a group in the cache may go from one state to another."""
    if after == DEAD:
        return before != ABSENT
    if after == EMPTY or after == COMPLETING_REBALANCE:
        return before == PREPARING_REBALANCE
    if after == STABLE:
        return before == COMPLETING_REBALANCE
    if after == PREPARING_REBALANCE:
        return before == EMPTY or before == COMPLETING_REBALANCE or before == STABLE
    return False
