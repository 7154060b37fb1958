"""Offsets that clients keep in ZooKeeper (version 0 of OffsetCommit and OffsetFetch)."""

import pytest
from kafka.protocol.consumer.group import OffsetCommitRequest, OffsetFetchRequest

from kafkaproof.impl.clients.zookeeper_offsets import ZookeeperOffsets
from kafkaproof.impl.groups.flaws import MOST_METADATA
from kafkaproof.impl.protocol.wire import Call
from kafkaproof.impl.seams.zookeeper import requests
from kafkaproof.impl.seams.zookeeper.requests import Requests, create
from kafkaproof.impl.seams.zookeeper.znodes import CONSUMERS, ConsumerOffset
from tests.impl.memory_zookeeper import MemorySession, Server

PATH = "/consumers/readers/offsets/events/0"
NONE, UNKNOWN_TOPIC, TOO_LARGE, UNKNOWN_ERROR = 0, 3, 12, -1


class Broker:
    """A broker that knows one topic with two partitions, at a ZooKeeper in memory."""

    def __init__(self, server: Server):
        self.server, self._requests = server, Requests(server, 0)
        self._requests.open(0)
        self._offsets = ZookeeperOffsets(self._requests, lambda topic, p: topic == "events" and p in (0, 1))

    def ask(self, request, version=0):
        """What a request is answered."""
        request.API_VERSION = version
        call = Call(type(request)[version].decode(request.encode()), version)
        assert self._offsets.takes(call)
        self._offsets.handle(call)
        answer = call.wait()
        answer.API_VERSION = version
        return type(answer)[version].decode(answer.encode())

    def commit(self, offset, group="readers", topic="events", p=0, metadata=""):
        """The error code of a commit."""
        kind = OffsetCommitRequest.OffsetCommitRequestTopic
        place = kind.OffsetCommitRequestPartition(
            partition_index=p, committed_offset=offset, committed_metadata=metadata
        )
        found = self.ask(OffsetCommitRequest(group_id=group, topics=[kind(name=topic, partitions=[place])]))
        return found.topics[0].partitions[0].error_code

    def fetch(self, group="readers", topic="events", p=0):
        """The error code and the offset of a fetch."""
        kind = OffsetFetchRequest.OffsetFetchRequestTopic
        found = self.ask(OffsetFetchRequest(group_id=group, topics=[kind(name=topic, partition_indexes=[p])]))
        (partition,) = found.topics[0].partitions
        return partition.error_code, partition.committed_offset

    def set(self, data: bytes):
        """Another client writes the znode."""
        self.server.znodes[PATH].data = data


@pytest.fixture
def server(monkeypatch):
    """A ZooKeeper that holds /consumers."""
    monkeypatch.setattr(requests, "Session", MemorySession)
    found = Server()
    found.write(MemorySession(found, 0, None), create(CONSUMERS))
    return found


@pytest.fixture
def broker(server):
    return Broker(server)


def test_a_commit_creates_the_znode_that_the_old_consumer_reads(broker):
    assert broker.commit(17) == NONE
    assert broker.server.znodes[PATH].data == b"17" and broker.server.znodes[PATH].ephemeralOwner == 0
    assert broker.commit(3) == NONE and broker.server.znodes[PATH].data == b"3"


def test_any_broker_tells_what_another_has_stored(broker, server):
    broker.commit(17)
    assert Broker(server).fetch() == (NONE, 17)
    broker.set(b"9223372036854775807")
    assert broker.fetch() == (NONE, 2**63 - 1)


def test_without_an_offset_the_partition_is_unknown(broker):
    assert broker.fetch() == (UNKNOWN_TOPIC, -1)
    broker.commit(17)
    assert broker.fetch(p=1) == broker.fetch(group="others") == (UNKNOWN_TOPIC, -1)


@pytest.mark.parametrize("place", [{"topic": "none"}, {"p": 2}])
def test_a_partition_that_is_not_there(broker, place):
    assert broker.commit(17, **place) == UNKNOWN_TOPIC and broker.fetch(**place) == (UNKNOWN_TOPIC, -1)
    assert set(broker.server.znodes) == {CONSUMERS}


def test_metadata_is_not_stored_and_has_a_limit(broker):
    assert broker.commit(17, metadata="x" * MOST_METADATA) == NONE
    assert broker.commit(18, metadata="x" * (MOST_METADATA + 1)) == TOO_LARGE and broker.fetch() == (NONE, 17)


@pytest.mark.parametrize("group", ["", "a/b"])
def test_a_group_that_is_no_name_of_a_znode(broker, group):
    assert broker.commit(17, group) == UNKNOWN_ERROR and broker.fetch(group) == (UNKNOWN_ERROR, -1)
    assert set(broker.server.znodes) == {CONSUMERS}


def test_a_znode_that_holds_no_number(broker):
    broker.commit(17)
    broker.set(b"x")
    assert broker.fetch() == (UNKNOWN_ERROR, -1)


@pytest.mark.parametrize("applied", [True, False])
def test_a_lost_answer_is_no_success(broker, applied):
    broker.commit(17)
    broker.server.lost = applied
    assert broker.commit(18) == UNKNOWN_ERROR
    assert broker.fetch() == (NONE, 18 if applied else 17)


def test_a_session_that_is_over(broker, server):
    broker.commit(17)
    server.sessions.clear()
    assert broker.commit(18) == UNKNOWN_ERROR and broker.fetch() == (UNKNOWN_ERROR, -1)


def test_other_versions_go_to_the_coordinator(broker):
    assert not broker._offsets.takes(Call(OffsetCommitRequest(), 1))


def test_an_offset_to_bytes_and_back():
    assert ConsumerOffset.decode(ConsumerOffset(17).encode()) == ConsumerOffset(17)
