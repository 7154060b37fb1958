"""Version 0 of OffsetCommit and OffsetFetch: any broker sets and reads offsets in ZooKeeper, without a coordinator.

Neither is a step of the specification of a broker: *offsets* has what becomes of the group.
Source: kafka.server.KafkaApis.handleOffsetCommitRequest, handleOffsetFetchRequest, 0.8.1 to 3.9.
"""

from __future__ import annotations

from collections.abc import Callable

from kafka.protocol.consumer.group import OffsetCommitRequest, OffsetFetchRequest, OffsetFetchResponse
from kazoo.protocol.serialization import SetData

from kafkaproof.impl.groups.flaws import split_commit
from kafkaproof.impl.protocol.group_requests import NO_OFFSET, committed
from kafkaproof.impl.protocol.wire import Call
from kafkaproof.impl.seams.zookeeper.requests import NotAnswered, Requests, create
from kafkaproof.impl.seams.zookeeper.session import Expired
from kafkaproof.impl.seams.zookeeper.znodes import ConsumerOffset
from kafkaproof.spec.group.codes import CODES
from kafkaproof.spec.group.network import STORED
from kafkaproof.spec.kafka.zookeeper import NODEEXISTS, NONODE, OK

VERSION = 0
NO_ERROR, UNKNOWN, FAILED = "NONE", "UNKNOWN_TOPIC_OR_PARTITION", "UNKNOWN_SERVER_ERROR"


class ZookeeperOffsets:
    """Serves the clients of one broker that keep their offsets in ZooKeeper; `exists` says whether there is a partition."""

    def __init__(self, requests: Requests, exists: Callable[[str, int], bool]):
        self._requests, self._exists = requests, exists
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
        offered, refused = split_commit(call.request, STORED, self._exists)
        for place, each in offered.items():
            if not self._stores(call.request.group_id, place, each.offset):
                refused[place] = FAILED
        call.answer(committed(call.request, NO_ERROR, {"refused": refused}))

    def _stores(self, group: str, place: tuple[str, int], offset: int) -> bool:
        """Store one offset, and whether that has succeeded."""
        try:
            return _is_name(group) and self._put((group, *place), ConsumerOffset(offset).encode()) == OK
        except (NotAnswered, Expired):
            return False

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
                        partition_index=p, committed_offset=offset, metadata="", error_code=CODES[error]
                    )
                )
            topics.append(kind(name=topic.name, partitions=partitions))
        call.answer(OffsetFetchResponse(topics=topics))

    def _found(self, group: str, topic: str, p: int) -> tuple[str, int]:
        """What went wrong, and an offset; without an offset the partition is unknown, as Kafka says."""
        if not self._exists(topic, p):
            return UNKNOWN, NO_OFFSET
        if not _is_name(group):
            return FAILED, NO_OFFSET
        path, session = ConsumerOffset.path_of(group, topic, p), self._requests.session
        try:
            (reply,) = self._requests.at_once(lambda: session.get(path))
            if reply.error:
                return UNKNOWN, NO_OFFSET
            return NO_ERROR, ConsumerOffset.decode(reply.result[0]).offset
        except (NotAnswered, Expired, ValueError):
            return FAILED, NO_OFFSET


def _is_name(group: str) -> bool:
    """Whether a group may be the name of a znode."""
    return bool(group) and "/" not in group
