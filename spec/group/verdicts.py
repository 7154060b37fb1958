"""What a coordinator answers: the error codes for each request, in the order of Kafka's checks.

Each function returns the code for a request in a broker's present state, in 2.8.1 to 3.9. PARKED and STORED say that the
request is accepted and will be answered later. `decision_tables` has the same as tables.

Requests that are refused for a flaw of their own, whatever the state of the group, are in `validation`.
"""

from kafkaproof.spec.group.coordinator import GONE, PENDING, status, subscribes
from kafkaproof.spec.group.group_states import ABSENT, COMPLETING_REBALANCE, DEAD, EMPTY, PREPARING_REBALANCE, STABLE
from kafkaproof.spec.group.network import (
    COORDINATOR_LOAD_IN_PROGRESS,
    COORDINATOR_NOT_AVAILABLE,
    FENCED_INSTANCE_ID,
    GROUP_ID_NOT_FOUND,
    GROUP_MAX_SIZE_REACHED,
    GROUP_SUBSCRIBED_TO_TOPIC,
    ILLEGAL_GENERATION,
    INCONSISTENT_GROUP_PROTOCOL,
    MEMBER_ID_REQUIRED,
    NON_EMPTY_GROUP,
    NONE,
    NOT_COORDINATOR,
    PARKED,
    REBALANCE_IN_PROGRESS,
    STORED,
    UNKNOWN_MEMBER_ID,
    UNSTABLE_OFFSET_COMMIT,
)
from kafkaproof.spec.group.protocols import common, protocol_stays
from kafkaproof.spec.group.sorts import NOWHERE
from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.spec.language.sets import intersection, is_empty


def gate(broker):
    """Whether a broker may look at the group: it has loaded the partition, and owns it.

    A request that finds the group Dead while it is unloaded arrived before the partition was given up.

    Kafka: GroupCoordinator.validateGroupStatus, 2.0 to 3.9.
    """
    if broker.loading:
        return COORDINATOR_LOAD_IN_PROGRESS
    return NONE if broker.owned or broker.group.state == DEAD else NOT_COORDINATOR


def dead():
    """The answer to a request that finds the group Dead: the client is to look for the coordinator again (2.3+).

    Kafka: GroupCoordinator.handleHeartbeat, handleLeaveGroup, doSyncGroup, doCommitOffsets, 2.3 to 3.9.
    """
    return COORDINATOR_NOT_AVAILABLE


def accepts(group, id):
    """Whether the group has room for a client that joins with this member id (group.max.size, KIP-389): no limit here."""
    return True


def member_of_instance(group, instance):
    """The member id that a group.instance.id maps to."""
    for id in range(len(group.members) - 1):
        if not is_empty(intersection(group.members[id].instance, instance)):
            return id
    return NOBODY


def membership(group, id, instance):
    """Whether a member id, with its group.instance.id if any, is in the group."""
    if not is_empty(instance):
        mapped = member_of_instance(group, instance)
        if mapped == NOBODY:
            return UNKNOWN_MEMBER_ID
        return NONE if mapped == id else FENCED_INSTANCE_ID
    return UNKNOWN_MEMBER_ID if status(group, id) == GONE or status(group, id) == PENDING else NONE


def member_id_is_required(instance):
    """Whether a client that joins without a member id must join again with one (KIP-394, 2.2+): if it is not static.

    Kafka: GroupCoordinator.doUnknownJoinGroup, 2.2 to 2.8; doDynamicNewMemberJoinGroup, 3.0 to 3.9.
    """
    return is_empty(instance)


def first_join_verdict(broker, instance, may_be_told, first, second):
    """JoinGroup without a member id; `may_be_told`: it may be answered with one."""
    verdict = gate(broker)
    if verdict != NONE:
        return verdict
    if not accepts(broker.group, NOBODY):
        return GROUP_MAX_SIZE_REACHED
    if broker.group.state == DEAD:
        return dead()
    if not common(broker.group, first, second):
        return INCONSISTENT_GROUP_PROTOCOL
    return MEMBER_ID_REQUIRED if may_be_told and member_id_is_required(instance) else PARKED


def join_verdict(broker, id, instance, first, second, changed):
    """JoinGroup with a member id; `changed`: its subscription has changed."""
    group = broker.group
    verdict = gate(broker)
    if verdict != NONE:
        return verdict
    if group.state == ABSENT:
        return UNKNOWN_MEMBER_ID
    if not accepts(group, id):
        return GROUP_MAX_SIZE_REACHED
    if group.state == DEAD:
        return dead()
    if not common(group, first, second):
        return INCONSISTENT_GROUP_PROTOCOL
    if status(group, id) == PENDING:
        return PARKED
    verdict = membership(group, id, instance)
    if verdict != NONE:
        return verdict
    return current_generation(group, id, first, second, changed)


def current_generation(group, id, first, second, changed):
    """JoinGroup of a member: NONE if it is told the present generation at once."""
    member = group.members[id]
    if changed or first != member.first or second != member.second:
        return PARKED
    if group.state == COMPLETING_REBALANCE or group.state == STABLE and group.leader != id:
        return NONE
    return PARKED


def static_join_verdict(broker, former, first, second):
    """JoinGroup without a member id, from a static member that the group knows."""
    group = broker.group
    verdict = gate(broker)
    if verdict != NONE:
        return verdict
    if not common(group, first, second):
        return INCONSISTENT_GROUP_PROTOCOL
    if group.state == STABLE and protocol_stays(group, former, first, second):
        return STORED
    return PARKED


def known_member(broker, id, instance, generation):
    """The first check of SyncGroup and Heartbeat: NONE for a member in the group's present generation."""
    group = broker.group
    if group.state == ABSENT:
        return UNKNOWN_MEMBER_ID
    if group.state == DEAD:
        return dead()
    verdict = membership(group, id, instance)
    if verdict != NONE:
        return verdict
    return NONE if generation == group.generation else ILLEGAL_GENERATION


def sync_verdict(broker, id, instance, generation):
    """SyncGroup. A coordinator that is loading has lost the rebalance.

    Kafka: GroupCoordinator.handleSyncGroup, doSyncGroup, 2.0 to 3.9.
    """
    if broker.loading:
        return REBALANCE_IN_PROGRESS
    verdict = gate(broker)
    return sync_in_group_verdict(broker, id, instance, generation) if verdict == NONE else verdict


def sync_in_group_verdict(broker, id, instance, generation):
    """doSyncGroup, once the broker may look at the group."""
    verdict = known_member(broker, id, instance, generation)
    if verdict != NONE:
        return verdict
    if broker.group.state == PREPARING_REBALANCE:
        return REBALANCE_IN_PROGRESS
    if broker.group.state == COMPLETING_REBALANCE:
        return STORED if broker.group.leader == id else PARKED
    return NONE


def heartbeat_verdict(broker, id, instance, generation):
    """Heartbeat.

    Kafka: GroupCoordinator.handleHeartbeat, 2.6.1 to 3.9.
    """
    if broker.loading:
        return NONE
    verdict = gate(broker)
    if verdict == NONE:
        verdict = known_member(broker, id, instance, generation)
    if verdict == NONE and broker.group.state == PREPARING_REBALANCE:
        return REBALANCE_IN_PROGRESS
    return verdict


def leave_verdict(broker, id):
    """LeaveGroup."""
    verdict = gate(broker)
    if verdict != NONE:
        return verdict
    if broker.group.state == DEAD:
        return dead()
    if broker.group.state == ABSENT or status(broker.group, id) == GONE:
        return UNKNOWN_MEMBER_ID
    return NONE


def remove_static_verdict(broker, id):
    """LeaveGroup from an operator, by group.instance.id: `id` is the member id that it maps to, if any."""
    verdict = gate(broker)
    if verdict != NONE:
        return verdict
    if broker.group.state == DEAD:
        return dead()
    return UNKNOWN_MEMBER_ID if id == NOBODY else NONE


def commit_verdict(broker, id, instance, generation):
    """OffsetCommit from a member, or from a consumer without a group if the generation is 0.

    Kafka: GroupCoordinator.doCommitOffsets, 2.4 to 3.9.
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
    verdict = membership(group, id, instance)
    if verdict != NONE:
        return verdict
    if generation != group.generation:
        return ILLEGAL_GENERATION
    return REBALANCE_IN_PROGRESS if group.state == COMPLETING_REBALANCE else STORED


def commit_in_transaction_verdict(broker):
    """TxnOffsetCommit without a member id: the group need not exist, and its state does not matter."""
    verdict = gate(broker)
    if verdict != NONE:
        return verdict
    return dead() if broker.group.state == DEAD else STORED


def fetch_verdict(broker, stable):
    """OffsetFetch: anyone gets what the cache holds; with `stable`, not an offset that a transaction may change
    (KIP-447).
    """
    verdict = gate(broker)
    if verdict == NONE and stable and broker.group.pending != NOWHERE:
        return UNSTABLE_OFFSET_COMMIT
    return verdict


def list_verdict(broker):
    """ListGroups: anyone gets the groups in the cache, even where the broker does not own the partition.

    Kafka: GroupCoordinator.handleListGroups, 0.9 to 3.9.
    """
    return COORDINATOR_LOAD_IN_PROGRESS if broker.loading else NONE


def delete_offset_verdict(broker):
    """OffsetDelete (KIP-496): refused for a topic that the members subscribe to."""
    verdict = gate(broker)
    if verdict != NONE:
        return verdict
    if broker.group.state == ABSENT or broker.group.state == DEAD:
        return GROUP_ID_NOT_FOUND if broker.owned else NOT_COORDINATOR
    if broker.group.state != EMPTY and subscribes(broker.group):
        return GROUP_SUBSCRIBED_TO_TOPIC
    return NONE


def delete_group_verdict(broker):
    """DeleteGroups."""
    verdict = gate(broker)
    if verdict != NONE:
        return verdict
    if broker.group.state == ABSENT or broker.group.state == DEAD:
        return GROUP_ID_NOT_FOUND if broker.owned else NOT_COORDINATOR
    return NONE if broker.group.state == EMPTY else NON_EMPTY_GROUP
