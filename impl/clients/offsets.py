"""Where records are: ListOffsets, and where a leader epoch ends, from a leader's own log; neither is a step."""

from __future__ import annotations

import time
from collections.abc import Callable

from kafka.protocol.consumer.offsets import ListOffsetsResponse, OffsetForLeaderEpochResponse

from kafkaproof.impl.broker.replica import DONE, Plane
from kafkaproof.impl.clients.errors import ERRORS
from kafkaproof.impl.protocol.wire import Call
from kafkaproof.spec.partition.context import NO_EPOCH
from kafkaproof.spec.replica.broker import LEADER

LATEST, EARLIEST = -1, -2
OLDEST = 0
"""The version of ListOffsets that asks for the offsets at which segments begin, as clients before 0.10.1 do."""


def why_not(plane: Plane | None, epoch: int) -> str | None:
    """Why a consumer that knows a leader epoch (-1: none) does not read here; None where it may. `plane` is None for a
    partition that this broker does not have.

    A broker that has not been told of any leader yet has no partition that knows epochs.

    Source: kafka.cluster.Partition.checkCurrentLeaderEpoch, getLocalLog, 2.1 to 3.9;
            kafka.server.ReplicaManager.getPartitionOrError, 2.5 to 3.9.
    """
    if plane is None:
        return "UNKNOWN_TOPIC_OR_PARTITION"
    if plane.replica.leader_epoch == NO_EPOCH:
        return "NOT_LEADER_OR_FOLLOWER"
    if epoch not in (NO_EPOCH, plane.replica.leader_epoch):
        return "FENCED_LEADER_EPOCH" if epoch < plane.replica.leader_epoch else "UNKNOWN_LEADER_EPOCH"
    return None if plane.replica.state == LEADER else "NOT_LEADER_OR_FOLLOWER"


class Offsets:
    """Answers them at one broker; `plane_of` finds the data plane of a partition."""

    def __init__(self, plane_of: Callable[[str, int], Plane | None]):
        self._plane_of = plane_of

    def list_offsets(self, call: Call) -> None:
        """Answer ListOffsets."""
        kind = ListOffsetsResponse.ListOffsetsTopicResponse
        call.answer(
            ListOffsetsResponse(
                throttle_time_ms=0,
                topics=[
                    kind(
                        name=topic.name,
                        partitions=[self._offset_of(kind, call.version, topic.name, each) for each in topic.partitions],
                    )
                    for topic in call.request.topics
                ],
            )
        )

    def _offset_of(self, kind, version, topic, wanted):
        plane = self._plane_of(topic, wanted.partition_index)
        error = why_not(plane, NO_EPOCH if version == OLDEST else wanted.current_leader_epoch)
        found: dict[str, object] = {"timestamp": -1, "offset": -1, "leader_epoch": -1}
        if version == OLDEST:
            found = {
                "old_style_offsets": [] if error else _offsets_before(plane, wanted.timestamp, wanted.max_num_offsets)
            }
        elif error is None:
            found["offset"], found["timestamp"] = _offset_at(plane, wanted.timestamp)
        return kind.ListOffsetsPartitionResponse(
            partition_index=wanted.partition_index, error_code=ERRORS[error or DONE], **found
        )

    def ends_of_epochs(self, call: Call) -> None:
        """Answer OffsetForLeaderEpoch."""
        kind = OffsetForLeaderEpochResponse.OffsetForLeaderTopicResult
        topics = [
            kind(
                topic=topic.topic, partitions=[self._end_of_epoch(kind, topic.topic, each) for each in topic.partitions]
            )
            for topic in call.request.topics
        ]
        call.answer(OffsetForLeaderEpochResponse(throttle_time_ms=0, topics=topics))

    def _end_of_epoch(self, kind, topic, wanted):
        plane = self._plane_of(topic, wanted.partition)
        error = why_not(plane, wanted.current_leader_epoch)
        epoch, end = _epoch_and_end(plane, wanted.leader_epoch) if error is None else (NO_EPOCH, -1)
        return kind.EpochEndOffset(
            error_code=ERRORS[error or DONE], partition=wanted.partition, leader_epoch=epoch, end_offset=end
        )


def _offset_at(plane: Plane, asked: int) -> tuple[int, int]:
    """The offset that is asked for by a timestamp, and the timestamp of its batch, -1 for LATEST and EARLIEST."""
    if asked in (LATEST, EARLIEST):
        return plane.log.start_offset if asked == EARLIEST else plane.checkpoint, -1
    start, first = plane.log.start_offset, plane.log.place_of(plane.log.start_offset)
    later = [entry for entry in plane.log.slots[first : plane.replica.hw] if entry.timestamp >= asked]
    return (max(start, later[0].base_offset), later[0].timestamp) if later else (-1, -1)


def _offsets_before(plane: Plane, asked: int, most: int) -> list[int]:
    """The ends of segments before a time, the last one first, as a consumer may know them; a log is one segment.

    Source: kafka.cluster.Partition.legacyFetchOffsetsForTimestamp, 2.4 to 3.9.
    """
    start = plane.log.start_offset
    known = [(start, int(plane.log.path.stat().st_mtime * 1000)) if plane.log.length else (0, 0)]
    if plane.log.length:
        known.append((plane.log.end_offset, time.time_ns() // 10**6))
    if asked == EARLIEST:
        known = known[:1]
    elif asked != LATEST:
        known = [each for each in known if each[1] <= asked]
    return sorted((min(offset, plane.checkpoint) for offset, _ in known), reverse=True)[:most]


def _epoch_and_end(plane: Plane, asked: int) -> tuple[int, int]:
    """Where the records of a leader epoch end, as a consumer asks that has read some (KIP-320).

    Source: kafka.cluster.Partition.lastOffsetForLeaderEpoch, kafka.log.UnifiedLog.endOffsetForEpoch, 2.1 to 3.9.
    """
    if asked == plane.replica.leader_epoch:
        return asked, plane.log.end_offset
    if asked > plane.replica.leader_epoch:
        return NO_EPOCH, -1
    return plane.log.known_epoch(asked), plane.log.offset_of(plane.log.end_of_epoch(asked))
