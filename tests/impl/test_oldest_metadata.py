"""Metadata in version 0, as GetOffsetShell of 1.1 asks: no topics are all topics, and only live replicas are told."""

from types import SimpleNamespace

import pytest
from kafka.protocol.metadata.metadata import MetadataRequest, MetadataResponse

from kafkaproof.impl.clients.metadata import Known, Metadata, Told
from kafkaproof.impl.protocol.wire import Call
from kafkaproof.spec.running.broker_ids import PLAIN

BROKERS = {b: SimpleNamespace(host="127.0.0.1", port=9092 + b) for b in (0, 1)}
TOPICS = {"events": {0: Told((0, 1), 0, 4, (0, 1)), 1: Told((1, 2), 1, 4, (1,)), 2: Told((2, 0), 2, 4, (2, 0))}}
NONE, NO_LEADER, NO_REPLICA = 0, 5, 9


def answer(version, topics):
    metadata = Metadata.__new__(Metadata)
    metadata._process = SimpleNamespace(ids=PLAIN)
    metadata._topic_ids, metadata.known = {}, lambda: Known(BROKERS, TOPICS, 0, -1)
    call = Call(MetadataRequest(topics=topics), version)
    metadata.serve(call)
    response = call.wait()
    response.API_VERSION = version
    return MetadataResponse[version].decode(response.encode())


@pytest.mark.parametrize(
    ("version", "found"),
    [
        (0, [(NONE, [0, 1], [0, 1]), (NO_REPLICA, [1], [1]), (NO_LEADER, [0], [0])]),
        (1, [(NONE, [0, 1], [0, 1]), (NONE, [1, 2], [1]), (NO_LEADER, [2, 0], [2, 0])]),
    ],
)
def test_replicas_that_are_not_live(version, found):
    (topic,) = answer(version, [] if version == 0 else None).topics
    assert topic.name == "events"
    assert [(p.error_code, list(p.replica_nodes), list(p.isr_nodes)) for p in topic.partitions] == found


def test_from_version_1_on_no_topics_are_none():
    assert list(answer(1, []).topics) == []
