"""Requests that a coordinator refuses for a flaw of their own: what is measured here, and what the specification answers."""

from __future__ import annotations

from collections.abc import Callable

from kafka.protocol.consumer.group import JoinGroupRequest, OffsetCommitRequest

from kafkaproof.impl.groups.group import Group
from kafkaproof.impl.protocol.offset_records import Committed
from kafkaproof.spec.group.network import INCONSISTENT_GROUP_PROTOCOL, NONE, Verdict
from kafkaproof.spec.group.validation import (
    SESSION_TOO_LONG,
    flaw_verdict,
    metadata_refusal,
    partition_verdict,
    session_refusal,
    type_verdict,
)

LEAST_SESSION, MOST_SESSION = 6_000, 1_800_000
"""group.min.session.timeout.ms and group.max.session.timeout.ms."""
MOST_METADATA = 4_096
"""offset.metadata.max.bytes."""
Place = tuple[str, int]


def join_flaw(group: Group, request: JoinGroupRequest) -> int | None:
    """The verdict on a JoinGroup with a flaw, None without one: its session timeout, or its protocol type."""
    if session_refusal(request.session_timeout_ms, LEAST_SESSION, MOST_SESSION) != NONE:
        return flaw_verdict(group.broker, SESSION_TOO_LONG)
    verdict = type_verdict(group.broker, bool(request.protocol_type), request.protocol_type == group.protocol_type)
    return verdict if verdict == INCONSISTENT_GROUP_PROTOCOL else None


def split_commit(
    request: OffsetCommitRequest, verdict: int, exists: Callable[[str, int], bool]
) -> tuple[dict[Place, Committed], dict[Place, str]]:
    """The offsets of a commit to be stored, and the answers for the partitions that are refused by themselves.

    `verdict` is that for the commit as a whole; `exists` says whether there is a partition.
    """
    offered, refused = {}, {}
    for topic in request.topics:
        for each in topic.partitions:
            place, metadata = (topic.name, each.partition_index), each.committed_metadata or ""
            fits = metadata_refusal(len(metadata), MOST_METADATA) == NONE
            found = partition_verdict(verdict, exists(*place), fits)
            if found == verdict:
                offered[place] = Committed(each.committed_offset, each.committed_leader_epoch, metadata)
            else:
                refused[place] = Verdict.names[found]
    return offered, refused
