"""What a coordinator answered up to 2.6.0: a Dead group, the gate, heartbeats and commits while an assignment is awaited.

Each function says up to which release it held. What stands in `verdicts` holds otherwise.
"""

from kafkaproof.spec.group.coordinator import MEMBER, status
from kafkaproof.spec.group.group_states import ABSENT, COMPLETING_REBALANCE, DEAD, EMPTY, PREPARING_REBALANCE
from kafkaproof.spec.group.network import (
    COORDINATOR_LOAD_IN_PROGRESS,
    ILLEGAL_GENERATION,
    NONE,
    NOT_COORDINATOR,
    REBALANCE_IN_PROGRESS,
    STORED,
    UNKNOWN_MEMBER_ID,
)
from kafkaproof.spec.group.verdicts import dead, gate, known_member, membership, sync_in_group_verdict


def heartbeat_of_generation(broker, id, instance, generation):
    """Heartbeat: a member of the present generation gets REBALANCE_IN_PROGRESS while its assignment is awaited, too.

    Kafka: GroupCoordinator.handleHeartbeat, 2.3.0 to 2.6.0.
    """
    if broker.loading:
        return NONE
    verdict = gate(broker)
    if verdict == NONE:
        verdict = known_member(broker, id, instance, generation)
    if verdict == NONE and (broker.group.state == PREPARING_REBALANCE or broker.group.state == COMPLETING_REBALANCE):
        return REBALANCE_IN_PROGRESS
    return verdict


def heartbeat_of_state(broker, id, instance, generation):
    """Heartbeat: while the assignment is awaited, a member gets REBALANCE_IN_PROGRESS whatever its generation.

    Kafka: GroupCoordinator.handleHeartbeat, 0.10.1 to 2.2.
    """
    group = broker.group
    verdict = gate(broker)
    if verdict != NONE:
        return NONE if verdict == COORDINATOR_LOAD_IN_PROGRESS else verdict
    if group.state == ABSENT or status(group, id) != MEMBER:
        return dead() if group.state == DEAD else UNKNOWN_MEMBER_ID
    if group.state == COMPLETING_REBALANCE:
        return REBALANCE_IN_PROGRESS
    if generation != group.generation:
        return ILLEGAL_GENERATION
    return REBALANCE_IN_PROGRESS if group.state == PREPARING_REBALANCE else NONE


def heartbeat_of_anybody(broker, id, instance, generation):
    """Heartbeat: unless the group is Stable, everybody gets REBALANCE_IN_PROGRESS, a member or not.

    Kafka: GroupCoordinator.handleHeartbeat, 0.9 to 0.10.0.
    """
    state = broker.group.state
    verdict = gate(broker)
    if verdict != NONE:
        return NONE if verdict == COORDINATOR_LOAD_IN_PROGRESS else verdict
    if state == PREPARING_REBALANCE or state == COMPLETING_REBALANCE:
        return REBALANCE_IN_PROGRESS
    return known_member(broker, id, instance, generation)


def commit_of_state(broker, id, instance, generation):
    """OffsetCommit: while the assignment is awaited, everybody gets REBALANCE_IN_PROGRESS.

    Kafka: GroupCoordinator.handleCommitOffsets, 0.9 to 0.10.0; doCommitOffsets, 0.10.1 to 2.3.
    """
    group = broker.group
    verdict = gate(broker)
    if verdict != NONE:
        return verdict
    if group.state == ABSENT:
        return ILLEGAL_GENERATION if generation > 0 else STORED
    if group.state == DEAD:
        return dead()
    if generation == 0 and group.state == EMPTY:
        return STORED
    if group.state == COMPLETING_REBALANCE:
        return REBALANCE_IN_PROGRESS
    verdict = membership(group, id, instance)
    if verdict != NONE:
        return verdict
    return STORED if generation == group.generation else ILLEGAL_GENERATION


def dead_is_unknown():
    """The answer to a request that finds the group Dead: it counts as unknown.

    Kafka: GroupCoordinator.doJoinGroup, doSyncGroup, handleHeartbeat, handleLeaveGroup, handleCommitOffsets, 0.9 to
           2.2; doCommitOffsets, 0.10.1 to 2.2.
    A SyncGroup of another generation gets ILLEGAL_GENERATION there, if the group died with its members; here a Dead
    group has lost its members and its generation.
    """
    return UNKNOWN_MEMBER_ID


def no_member_id_is_required(instance):
    """Whether a client that joins without a member id must join again with one: never.

    Kafka: GroupCoordinator.doJoinGroup, 0.9 to 2.1.
    """
    return False


def owned_before_loaded(broker):
    """Whether a broker may look at the group: it owns the partition, and does not load it.

    A request that finds the group Dead while it is unloaded arrived before the partition was given up.
    Kafka: GroupCoordinator.handleJoinGroup (and its like), 0.9 to 1.1.
    """
    if not broker.owned and broker.group.state != DEAD:
        return NOT_COORDINATOR
    return COORDINATOR_LOAD_IN_PROGRESS if broker.loading else NONE


def sync_though_it_loads(broker, id, instance, generation):
    """SyncGroup, for which a load of the partition is not checked.

    Kafka: GroupCoordinator.handleSyncGroup, 0.9 to 1.1.
    """
    if not broker.owned and broker.group.state != DEAD:
        return NOT_COORDINATOR
    return sync_in_group_verdict(broker, id, instance, generation)
