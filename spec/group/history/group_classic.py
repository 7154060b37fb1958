"""Groups in 0.10.1 and 0.10.2: what a coordinator answered and did differently.

No member id is required; a Dead group counts as unknown; an AwaitingSync group refuses every request with
REBALANCE_IN_PROGRESS; a new coordinator reads the log only to the high watermark; a commit's callback overwrites
whatever offset the cache holds; and every offset expires by its own age. There is no DeleteGroups, no initial delay,
and there are no static members. (Records appended after the group's lock is released are in `unlocked`.)

The answers hold until 2.1, except for the gate, whose order was reversed in 2.0 (validateGroupStatus).
"""

from kafkaproof.spec.group.coordinator import GONE, status
from kafkaproof.spec.group.group_states import ABSENT, COMPLETING_REBALANCE, DEAD, EMPTY, PREPARING_REBALANCE
from kafkaproof.spec.group.network import (
    COORDINATOR_LOAD_IN_PROGRESS,
    ILLEGAL_GENERATION,
    INCONSISTENT_GROUP_PROTOCOL,
    NONE,
    NOT_COORDINATOR,
    PARKED,
    REBALANCE_IN_PROGRESS,
    STORED,
    UNKNOWN_MEMBER_ID,
)
from kafkaproof.spec.group.protocols import common
from kafkaproof.spec.group.sorts import NOWHERE
from kafkaproof.spec.group.verdicts import current_generation
from kafkaproof.spec.language.domains import NOBODY


def gate(broker):
    """Whether a broker may look at the group: it owns the partition, and does not load it.

    A request that finds the group Dead while it is unloaded arrived before the partition was given up.
    """
    if not broker.owned and broker.group.state != DEAD:
        return NOT_COORDINATOR
    return COORDINATOR_LOAD_IN_PROGRESS if broker.loading else NONE


def membership(group, id, instance):
    """Whether a member id is in the group. There is no group.instance.id yet."""
    return UNKNOWN_MEMBER_ID if status(group, id) == GONE else NONE


def first_join_verdict(broker, instance, first, second):
    """JoinGroup without a member id."""
    verdict = gate(broker)
    if verdict != NONE:
        return verdict
    if not common(broker.group, first, second):
        return INCONSISTENT_GROUP_PROTOCOL
    return UNKNOWN_MEMBER_ID if broker.group.state == DEAD else PARKED


def join_verdict(broker, id, instance, first, second, changed):
    """JoinGroup with a member id."""
    group = broker.group
    verdict = gate(broker)
    if verdict != NONE:
        return verdict
    if group.state == ABSENT:
        return UNKNOWN_MEMBER_ID
    if not common(group, first, second):
        return INCONSISTENT_GROUP_PROTOCOL
    if group.state == DEAD or status(group, id) == GONE:
        return UNKNOWN_MEMBER_ID
    return current_generation(group, id, first, second, changed)


def sync_verdict(broker, id, instance, generation):
    """SyncGroup, for which a load of the partition is not checked."""
    group = broker.group
    if not broker.owned and group.state != DEAD:
        return NOT_COORDINATOR
    if group.state == ABSENT or group.state == DEAD or status(group, id) == GONE:
        return UNKNOWN_MEMBER_ID
    if generation != group.generation:
        return ILLEGAL_GENERATION
    if group.state == PREPARING_REBALANCE:
        return REBALANCE_IN_PROGRESS
    if group.state == COMPLETING_REBALANCE:
        return STORED if group.leader == id else PARKED
    return NONE


def heartbeat_verdict(broker, id, instance, generation):
    """Heartbeat: while an assignment is awaited, REBALANCE_IN_PROGRESS whatever the generation."""
    group = broker.group
    verdict = gate(broker)
    if verdict != NONE:
        return NONE if verdict == COORDINATOR_LOAD_IN_PROGRESS else verdict
    if group.state == ABSENT or group.state == DEAD or status(group, id) == GONE:
        return UNKNOWN_MEMBER_ID
    if group.state == COMPLETING_REBALANCE:
        return REBALANCE_IN_PROGRESS
    if generation != group.generation:
        return ILLEGAL_GENERATION
    return REBALANCE_IN_PROGRESS if group.state == PREPARING_REBALANCE else NONE


def leave_verdict(broker, id):
    """LeaveGroup."""
    verdict = gate(broker)
    if verdict != NONE:
        return verdict
    return UNKNOWN_MEMBER_ID if status(broker.group, id) == GONE else NONE


def commit_verdict(broker, id, instance, generation):
    """OffsetCommit: while an assignment is awaited, REBALANCE_IN_PROGRESS to everybody."""
    group = broker.group
    verdict = gate(broker)
    if verdict != NONE:
        return verdict
    if group.state == ABSENT:
        return ILLEGAL_GENERATION if generation > 0 else STORED
    if group.state == DEAD:
        return UNKNOWN_MEMBER_ID
    if generation == 0 and group.state == EMPTY:
        return STORED
    if group.state == COMPLETING_REBALANCE:
        return REBALANCE_IN_PROGRESS
    if id == NOBODY or status(group, id) == GONE:
        return UNKNOWN_MEMBER_ID
    return STORED if generation == group.generation else ILLEGAL_GENERATION


def prepare_rebalance(group):
    """prepareRebalance: drop the assignment and start a delayed join."""
    group.state = PREPARING_REBALANCE
    group.owner = NOBODY
    group.idle = 0


def patience_is_over(member):
    """A parked join keeps every member alive."""
    return False


def is_expired(group):
    """Whether a committed offset is too old: only its own age counts."""
    return group.offset != NOWHERE and group.aged


def must_load(broker):
    """Whether an elected broker loads the partition: always, and meanwhile it answers that it is loading."""
    return True


def may_leave_cache(owned, leading):
    """Whether a Dead group may leave the cache: not while the broker no longer leads and has not yet unloaded."""
    return leading or not owned


def later(cached, position):
    """The one of two offsets that stays in the cache: the one whose callback runs last."""
    return position
