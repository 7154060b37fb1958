"""What a coordinator answers: the error codes of each request, in the order in which Kafka asks.

Each function gives the code for a request in a broker's present state: 2.6 to 3.9. PARKED and STORED say that the
request is accepted, and answered later. `decisions` has the same as tables.

Left out, since one value of an argument each: INVALID_GROUP_ID, INVALID_SESSION_TIMEOUT, protocol types,
GROUP_MAX_SIZE_REACHED, OFFSET_METADATA_TOO_LARGE and what the API layer refuses.
"""

from spec.group.coordinator import GONE, PENDING, common, status
from spec.group.network import (
    COORDINATOR_LOAD_IN_PROGRESS, COORDINATOR_NOT_AVAILABLE, FENCED_INSTANCE_ID, GROUP_ID_NOT_FOUND,
    ILLEGAL_GENERATION, INCONSISTENT_GROUP_PROTOCOL, MEMBER_ID_REQUIRED, NONE, NON_EMPTY_GROUP, NOT_COORDINATOR,
    PARKED, REBALANCE_IN_PROGRESS, STORED, UNKNOWN_MEMBER_ID,
)
from spec.group.states import ABSENT, COMPLETING_REBALANCE, DEAD, EMPTY, PREPARING_REBALANCE, STABLE
from spec.language.domains import NOBODY
from spec.language.sets import intersection, is_empty


def gate(broker):
    """Whether a broker may look at the group: it has loaded the partition, and owns it."""
    if broker.loading:
        return COORDINATOR_LOAD_IN_PROGRESS
    return NONE if broker.owned else NOT_COORDINATOR


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
    """Whether who joins without a member id must come again with one (KIP-394, 2.2+): unless static."""
    return is_empty(instance)


def first_join_verdict(broker, instance, first, second):
    """JoinGroup without a member id."""
    verdict = gate(broker)
    if verdict != NONE:
        return verdict
    if broker.group.state == DEAD:
        return COORDINATOR_NOT_AVAILABLE
    if not common(broker.group, first, second):
        return INCONSISTENT_GROUP_PROTOCOL
    return MEMBER_ID_REQUIRED if member_id_is_required(instance) else PARKED


def join_verdict(broker, id, instance, first, second, changed):
    """JoinGroup with a member id; `changed`: its subscription is not as before."""
    group = broker.group
    verdict = gate(broker)
    if verdict != NONE:
        return verdict
    if group.state == ABSENT:
        return UNKNOWN_MEMBER_ID
    if group.state == DEAD:
        return COORDINATOR_NOT_AVAILABLE
    if not common(group, first, second):
        return INCONSISTENT_GROUP_PROTOCOL
    if status(group, id) == PENDING:
        return PARKED
    verdict = membership(group, id, instance)
    if verdict != NONE:
        return verdict
    return current_generation(group, id, first, second, changed)


def current_generation(group, id, first, second, changed):
    """JoinGroup of a member: NONE when it is told the present generation at once."""
    member = group.members[id]
    if changed or first != member.first or second != member.second:
        return PARKED
    if group.state == COMPLETING_REBALANCE or group.state == STABLE and group.leader != id:
        return NONE
    return PARKED


def static_join_verdict(broker, former, first, second):
    """JoinGroup without a member id of a static member that the group knows."""
    group = broker.group
    verdict = gate(broker)
    if verdict != NONE:
        return verdict
    if not common(group, first, second):
        return INCONSISTENT_GROUP_PROTOCOL
    same = first == group.members[former].first and second == group.members[former].second
    return STORED if group.state == STABLE and same else PARKED


def known_member(broker, id, instance, generation):
    """What SyncGroup and Heartbeat ask first of a group: NONE for a member in its present generation."""
    group = broker.group
    if group.state == ABSENT:
        return UNKNOWN_MEMBER_ID
    if group.state == DEAD:
        return COORDINATOR_NOT_AVAILABLE
    verdict = membership(group, id, instance)
    if verdict != NONE:
        return verdict
    return NONE if generation == group.generation else ILLEGAL_GENERATION


def sync_verdict(broker, id, instance, generation):
    """SyncGroup."""
    if broker.loading:
        return REBALANCE_IN_PROGRESS
    verdict = gate(broker)
    if verdict == NONE:
        verdict = known_member(broker, id, instance, generation)
    if verdict != NONE:
        return verdict
    if broker.group.state == PREPARING_REBALANCE:
        return REBALANCE_IN_PROGRESS
    if broker.group.state == COMPLETING_REBALANCE:
        return STORED if broker.group.leader == id else PARKED
    return NONE


def heartbeat_verdict(broker, id, instance, generation):
    """Heartbeat."""
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
        return COORDINATOR_NOT_AVAILABLE
    if broker.group.state == ABSENT or status(broker.group, id) == GONE:
        return UNKNOWN_MEMBER_ID
    return NONE


def commit_verdict(broker, id, instance, generation):
    """OffsetCommit of a member; of a consumer without a group when the generation is 0."""
    group = broker.group
    verdict = gate(broker)
    if verdict != NONE:
        return verdict
    if group.state == ABSENT:
        return ILLEGAL_GENERATION if generation > 0 else STORED
    if group.state == DEAD:
        return COORDINATOR_NOT_AVAILABLE
    if generation == 0 and group.state == EMPTY:
        return STORED
    verdict = membership(group, id, instance)
    if verdict != NONE:
        return verdict
    if generation != group.generation:
        return ILLEGAL_GENERATION
    return REBALANCE_IN_PROGRESS if group.state == COMPLETING_REBALANCE else STORED


def fetch_verdict(broker):
    """OffsetFetch: whatever the cache holds, to anybody."""
    return gate(broker)


def delete_group_verdict(broker):
    """DeleteGroups."""
    verdict = gate(broker)
    if verdict != NONE:
        return verdict
    if broker.group.state == ABSENT or broker.group.state == DEAD:
        return GROUP_ID_NOT_FOUND
    return NONE if broker.group.state == EMPTY else NON_EMPTY_GROUP
