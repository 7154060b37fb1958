"""Kafka's requests of consumers in a group: what they ask in the specification's terms, and their answers."""

from __future__ import annotations

from zlib import crc32

from kafka.protocol.admin.groups import (
    DeleteGroupsRequest,
    DeleteGroupsResponse,
    DescribeGroupsRequest,
    DescribeGroupsResponse,
    ListGroupsRequest,
    ListGroupsResponse,
)
from kafka.protocol.consumer.group import (
    HeartbeatRequest,
    HeartbeatResponse,
    JoinGroupRequest,
    JoinGroupResponse,
    LeaveGroupRequest,
    LeaveGroupResponse,
    OffsetCommitRequest,
    OffsetCommitResponse,
    OffsetDeleteRequest,
    OffsetDeleteResponse,
    OffsetFetchRequest,
    OffsetFetchResponse,
    SyncGroupRequest,
    SyncGroupResponse,
)
from kafka.protocol.metadata.find_coordinator import FindCoordinatorRequest, FindCoordinatorResponse

from kafkaproof.spec.group.codes import CODES

VERSIONS = {
    FindCoordinatorRequest: (FindCoordinatorResponse, 0, 2),
    JoinGroupRequest: (JoinGroupResponse, 0, 5),
    SyncGroupRequest: (SyncGroupResponse, 0, 3),
    HeartbeatRequest: (HeartbeatResponse, 0, 3),
    LeaveGroupRequest: (LeaveGroupResponse, 0, 2),
    OffsetCommitRequest: (OffsetCommitResponse, 0, 9),
    OffsetFetchRequest: (OffsetFetchResponse, 0, 9),
    DescribeGroupsRequest: (DescribeGroupsResponse, 0, 4),
    ListGroupsRequest: (ListGroupsResponse, 0, 4),
    DeleteGroupsRequest: (DeleteGroupsResponse, 0, 2),
    OffsetDeleteRequest: (OffsetDeleteResponse, 0, 0),
}
"""The requests that are served: their answers, and the versions from which to which."""
NO_OFFSET = -1


def joined(request, verdict: str, told: dict) -> JoinGroupResponse:
    """The answer to JoinGroup."""
    kind, protocol = JoinGroupResponse, told.get("protocol") or ""
    members = [
        kind.JoinGroupResponseMember(
            member_id=each.id, group_instance_id=each.instance, metadata=each.metadata(protocol)
        )
        for each in told.get("members", ())
    ]
    return kind(
        throttle_time_ms=0,
        error_code=CODES[verdict],
        generation_id=told.get("generation") or -1,
        protocol_name=protocol,
        leader=told.get("leader", ""),
        member_id=told.get("id") or request.member_id,
        members=members,
    )


def synced(request, verdict: str, told: dict) -> SyncGroupResponse:
    """The answer to SyncGroup."""
    assignment = told.get("assignment", b"") if verdict == "NONE" else b""
    return SyncGroupResponse(throttle_time_ms=0, error_code=CODES[verdict], assignment=assignment)


def beaten(request, verdict: str, told: dict) -> HeartbeatResponse:
    """The answer to Heartbeat."""
    return HeartbeatResponse(throttle_time_ms=0, error_code=CODES[verdict])


def left(request, verdict: str, told: dict) -> LeaveGroupResponse:
    """The answer to LeaveGroup."""
    return LeaveGroupResponse(throttle_time_ms=0, error_code=CODES[verdict])


def committed(request, verdict: str, told: dict) -> OffsetCommitResponse:
    """The answer to OffsetCommit: the same for each partition but those that were refused by themselves."""
    refused = told.get("refused", {})
    kind = OffsetCommitResponse.OffsetCommitResponseTopic
    return OffsetCommitResponse(
        throttle_time_ms=0,
        topics=[
            kind(
                name=topic.name,
                partitions=[
                    kind.OffsetCommitResponsePartition(
                        partition_index=each.partition_index,
                        error_code=CODES[refused.get((topic.name, each.partition_index), verdict)],
                    )
                    for each in topic.partitions
                ],
            )
            for topic in request.topics
        ],
    )


def fetched(request, verdict: str, told: dict) -> OffsetFetchResponse:
    """The answer to OffsetFetch: of the partitions asked for, or of all that there are."""
    kind, offsets = OffsetFetchResponse.OffsetFetchResponseTopic, told.get("offsets", {})
    if request.topics is None:
        wanted = sorted(offsets)
    else:
        wanted = [(topic.name, p) for topic in request.topics for p in topic.partition_indexes]
    topics: dict[str, list] = {}
    for topic, p in wanted:
        found = offsets.get((topic, p)) if verdict == "NONE" else None
        topics.setdefault(topic, []).append(
            kind.OffsetFetchResponsePartition(
                partition_index=p,
                committed_offset=found.offset if found else NO_OFFSET,
                committed_leader_epoch=found.leader_epoch if found else -1,
                metadata=found.metadata if found else "",
                error_code=CODES[verdict],
            )
        )
    return OffsetFetchResponse(
        throttle_time_ms=0,
        error_code=CODES[verdict],
        topics=[kind(name=topic, partitions=partitions) for topic, partitions in topics.items()],
    )


def offsets_deleted(request, verdict: str, told: dict) -> OffsetDeleteResponse:
    """The answer to OffsetDelete: an error for all, or one for each partition (`of_places`)."""
    kind, topics = OffsetDeleteResponse.OffsetDeleteResponseTopic, dict[str, list]()
    for (topic, p), found in told.get("of_places", {}).items():
        topics.setdefault(topic, []).append(
            kind.OffsetDeleteResponsePartition(partition_index=p, error_code=CODES[found])
        )
    return OffsetDeleteResponse(
        throttle_time_ms=0,
        error_code=CODES[verdict],
        topics=[kind(name=name, partitions=partitions) for name, partitions in topics.items()],
    )


ANSWERS = {
    JoinGroupRequest: joined,
    SyncGroupRequest: synced,
    HeartbeatRequest: beaten,
    LeaveGroupRequest: left,
    OffsetCommitRequest: committed,
    OffsetFetchRequest: fetched,
    OffsetDeleteRequest: offsets_deleted,
}


def recorded(request, response) -> dict:
    """What an answer says beside its error code, as the recording has it; of an assignment a checksum."""
    match request:
        case JoinGroupRequest():
            return {
                "id": response.member_id,
                "generation": response.generation_id,
                "protocol": response.protocol_name,
                "leader": response.leader,
                "members": [each.member_id for each in response.members],
            }
        case SyncGroupRequest():
            return {"assignment": crc32(response.assignment)}
        case OffsetFetchRequest():
            return {
                "offsets": [
                    [topic.name, each.partition_index, each.committed_offset]
                    for topic in response.topics
                    for each in topic.partitions
                ]
            }
    return {}


def found(verdict: str, broker: tuple[int, str, int] | None) -> FindCoordinatorResponse:
    """The answer to FindCoordinator; `broker`: its id, host and port."""
    b, host, port = broker or (-1, "", -1)
    return FindCoordinatorResponse(
        throttle_time_ms=0, error_code=CODES[verdict], error_message=None, node_id=b, host=host, port=port
    )


def listed(verdict: str, groups: list[tuple[str, str, str]]) -> ListGroupsResponse:
    """The answer to ListGroups: names, protocol types, and states."""
    return ListGroupsResponse(
        throttle_time_ms=0,
        error_code=CODES[verdict],
        groups=[
            ListGroupsResponse.ListedGroup(group_id=name, protocol_type=kind, group_state=state)
            for name, kind, state in groups
        ],
    )


def deleted(verdicts: dict[str, str]) -> DeleteGroupsResponse:
    """The answer to DeleteGroups: of each group its verdict."""
    kind = DeleteGroupsResponse.DeletableGroupResult
    results = [kind(group_id=name, error_code=CODES[verdict]) for name, verdict in verdicts.items()]
    return DeleteGroupsResponse(throttle_time_ms=0, results=results)


def described(groups: list[dict]) -> DescribeGroupsResponse:
    """The answer to DescribeGroups: of each group its name, verdict, state, protocol and members."""
    kind = DescribeGroupsResponse.DescribedGroup
    return DescribeGroupsResponse(
        throttle_time_ms=0,
        groups=[
            kind(
                error_code=CODES[each["verdict"]],
                group_id=each["name"],
                group_state=each["state"],
                protocol_type=each["type"],
                protocol_data=each["protocol"] or "",
                members=[
                    kind.DescribedGroupMember(
                        member_id=member.id,
                        group_instance_id=member.instance,
                        client_id=member.client,
                        client_host=member.host,
                        member_metadata=member.metadata(each["protocol"]),
                        member_assignment=member.assignment,
                    )
                    for member in each["members"]
                ],
            )
            for each in groups
        ],
    )
