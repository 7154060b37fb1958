"""Version 0 of OffsetCommit and OffsetFetch: any broker sets and reads offsets in ZooKeeper, without a coordinator.

Neither is a step of the specification of a broker: *offsets* has what becomes of the group.
Source: kafka.server.KafkaApis.handleOffsetCommitRequest, handleOffsetFetchRequest, 0.8.1 to 3.9.
"""

from __future__ import annotations

from collections.abc import Callable

from kafka.protocol.consumer.group import (
    OffsetCommitRequest,
    OffsetCommitResponse,
    OffsetFetchRequest,
    OffsetFetchResponse,
)
from kazoo.protocol.serialization import SetData

from kafkaproof.impl.broker.replica import DONE
from kafkaproof.impl.clients.errors import ERRORS
from kafkaproof.impl.clients.metadata import Metadata
from kafkaproof.impl.protocol.wire import Call
from kafkaproof.impl.seams.zookeeper.requests import NotAnswered, Requests, create
from kafkaproof.impl.seams.zookeeper.session import Expired
from kafkaproof.impl.seams.zookeeper.znodes import ConsumerOffset
from kafkaproof.spec.kafka.zookeeper import NODEEXISTS, NONODE, OK

VERSION = 0
LONGEST_METADATA = 4096
"""offset.metadata.max.bytes."""
NO_OFFSET = -1


class ZookeeperOffsets:
    """Serves the clients of one broker that keep their offsets in ZooKeeper."""

    def __init__(self, requests: Requests, metadata: Metadata):
        self._requests, self._metadata = requests, metadata
        self._serve: dict[type, Callable[[Call], None]] = {
            OffsetCommitRequest: self._commit,
            OffsetFetchRequest: self._fetch,
        }

    def takes(self, call: Call) -> bool:
        """Whether a request is one of these."""
        return call.version == VERSION and call.kind in self._serve

    def handle(self, call: Call) -> None:
        """Answer a request."""
        self._serve[call.kind](call)

    def _commit(self, call: Call) -> None:
        kind = OffsetCommitResponse.OffsetCommitResponseTopic
        group = call.request.group_id
        topics = [
            kind(
                name=topic.name,
                partitions=[
                    kind.OffsetCommitResponsePartition(
                        partition_index=each.partition_index, error_code=ERRORS[self._stored(group, topic.name, each)]
                    )
                    for each in topic.partitions
                ],
            )
            for topic in call.request.topics
        ]
        call.answer(OffsetCommitResponse(topics=topics))

    def _stored(self, group: str, topic: str, offered) -> str:
        """Store one offset; what went wrong with it."""
        if not self._is_known(topic, offered.partition_index):
            return "UNKNOWN_TOPIC_OR_PARTITION"
        if len(offered.committed_metadata or "") > LONGEST_METADATA:
            return "OFFSET_METADATA_TOO_LARGE"
        if not _is_name(group):
            return "UNKNOWN_SERVER_ERROR"
        place = group, topic, offered.partition_index
        try:
            answer = self._put(place, ConsumerOffset(offered.committed_offset).encode())
        except (NotAnswered, Expired):
            return "UNKNOWN_SERVER_ERROR"
        return DONE if answer == OK else "UNKNOWN_SERVER_ERROR"

    def _put(self, place: tuple[str, str, int], content: bytes) -> int:
        """Set the znode, or create it with its parents.

        It looks first, so that ZooKeeper refuses nothing, unless another has been there in between; then it tries again.
        """
        path, session = ConsumerOffset.path_of(*place), self._requests.session
        paths = [*ConsumerOffset.parents_of(*place), path]
        for _ in range(2):
            found = self._requests.at_once(*(lambda each=each: session.exists(each) for each in paths))
            missing = [each for each, reply in zip(paths, found) if reply.result is None]
            writes = [create(each, content if each == path else b"") for each in missing]
            answers = [self._requests.write_beside(write) for write in writes or [SetData(path, content, -1)]]
            if not {NODEEXISTS, NONODE} & {*answers}:
                break
        return next((answer for answer in answers if answer != OK), OK)

    def _fetch(self, call: Call) -> None:
        kind = OffsetFetchResponse.OffsetFetchResponseTopic
        topics = []
        for topic in call.request.topics:
            partitions = []
            for p in topic.partition_indexes:
                error, offset = self._found(call.request.group_id, topic.name, p)
                partitions.append(
                    kind.OffsetFetchResponsePartition(
                        partition_index=p, committed_offset=offset, metadata="", error_code=ERRORS[error]
                    )
                )
            topics.append(kind(name=topic.name, partitions=partitions))
        call.answer(OffsetFetchResponse(topics=topics))

    def _found(self, group: str, topic: str, p: int) -> tuple[str, int]:
        """What went wrong, and an offset; without an offset the partition is unknown, as Kafka says."""
        if not self._is_known(topic, p):
            return "UNKNOWN_TOPIC_OR_PARTITION", NO_OFFSET
        if not _is_name(group):
            return "UNKNOWN_SERVER_ERROR", NO_OFFSET
        path, session = ConsumerOffset.path_of(group, topic, p), self._requests.session
        try:
            (reply,) = self._requests.at_once(lambda: session.get(path))
            if reply.error:
                return "UNKNOWN_TOPIC_OR_PARTITION", NO_OFFSET
            return DONE, ConsumerOffset.decode(reply.result[0]).offset
        except (NotAnswered, Expired, ValueError):
            return "UNKNOWN_SERVER_ERROR", NO_OFFSET

    def _is_known(self, topic: str, p: int) -> bool:
        return p in self._metadata.known().topics.get(topic, {})


def _is_name(group: str) -> bool:
    """Whether a group may be the name of a znode."""
    return bool(group) and "/" not in group
