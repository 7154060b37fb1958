"""Frames of Kafka are read by its schemas, whoever sends them; what they say chooses what is held or lost."""

import socket
from contextlib import closing

import pytest

from kafkaproof.impl.harness.links.kafka import KafkaLink
from kafkaproof.impl.harness.links.rules import DROP, HOLD, NOTICE, Rule, fits
from kafkaproof.spec.protocol.frames import decoded, name_of
from kafkaproof.spec.protocol.passed import ANSWER, REQUEST
from tests.frames import ALTER_PARTITION, CONTROLLED_SHUTDOWN, FETCH, LEADER_AND_ISR, answer, request

WAIT = 120
STATE = {"partition_index": 0, "leader": 2, "leader_epoch": 4, "isr": [2, 1], "controller_epoch": 3}


def leader_and_isr(version, number=9, controller=1):
    """LeaderAndIsr of t-0, which a controller sends; topics have a level of their own from version 2 on."""
    states = (
        {"ungrouped_partition_states": [STATE | {"topic_name": "t"}]}
        if version < 2
        else {"topic_states": [{"topic_name": "t", "partition_states": [STATE]}]}
    )
    return request(
        LEADER_AND_ISR, version, number, str(controller), controller_id=controller, controller_epoch=3, **states
    )


@pytest.fixture
def conversation():
    """A link before a server that hears nothing by itself: the link, its client's end, and what makes the server's."""
    listener = socket.create_server(("127.0.0.1", 0))
    link = KafkaLink(listener.getsockname())
    with closing(link), listener, socket.create_connection(("127.0.0.1", link.port), timeout=WAIT) as client:
        server = listener.accept()[0]
        server.settimeout(WAIT)
        with server:
            yield link, client, server


def take(end, count):
    return end.recv(count, socket.MSG_WAITALL)


@pytest.mark.parametrize("version", range(8))
def test_every_version_of_leader_and_isr_says_leader_and_epoch(version):
    said = {"api": name_of(LEADER_AND_ISR)} | decoded(LEADER_AND_ISR, version, leader_and_isr(version), REQUEST)
    states = "ungrouped_partition_states" if version < 2 else "partition_states"
    assert fits(said, {"api": "LeaderAndIsr", "controller_id": 1, "topic_name": "t"})
    assert fits(said, {states: {"partition_index": 0, "leader": 2, "leader_epoch": 4, "isr": 1}})
    assert not fits(said, {states: {"leader": 1}}) and not fits(said, {"topic_name": "other"})


@pytest.mark.parametrize(
    "key, versions, name",
    [
        (FETCH, range(18), "Fetch"),
        (5, range(5), "StopReplica"),
        (6, range(9), "UpdateMetadata"),
        (CONTROLLED_SHUTDOWN, range(4), "ControlledShutdown"),
        (ALTER_PARTITION, range(4), "AlterPartition"),
    ],
)
def test_all_versions_of_the_control_plane_are_read(key, versions, name):
    for version in versions:
        frame = request(key, version, 1, "2")
        assert decoded(key, version, frame, REQUEST), (name, version)
        assert decoded(key, version, answer(key, version, 1), ANSWER), (name, version)
    assert name_of(key) == name


@pytest.mark.parametrize(
    "client, sender", [("1", 1), ("broker-12-fetcher-0", 12), ("rdkafka", None), ("consumer-1", None), (None, None)]
)
def test_a_broker_is_known_by_its_client_id(conversation, client, sender):
    link, inner, server = conversation
    noticed = link.add(Rule(NOTICE, {}))
    frame = request(FETCH, 4, 7, client)
    inner.sendall(frame)
    assert take(server, len(frame)) == frame
    assert noticed.taken[0].said["sender"] == sender and noticed.taken[0].said["api"] == "Fetch"


def test_what_a_zombie_says_is_held_and_what_others_say_is_not(conversation):
    link, inner, server = conversation
    rule = link.add(Rule(HOLD, {"part": REQUEST, "api": "LeaderAndIsr", "controller_id": 1, "leader_epoch": 4}))
    other, held = leader_and_isr(4, 1, controller=2), leader_and_isr(4, 2, controller=1)
    inner.sendall(other + held)
    assert take(server, len(other)) == other
    assert rule.await_taken(WAIT)
    rule.release()
    assert take(server, len(held)) == held


def test_an_answer_is_lost_by_what_was_asked(conversation):
    link, inner, server = conversation
    link.add(Rule(DROP, {"part": ANSWER, "api": "AlterPartition", "leader_epoch": 5}))
    shrink = {
        "topic_name": "t",
        "partitions": [{"partition_index": 0, "leader_epoch": 5, "new_isr": [1], "partition_epoch": 3}],
    }
    frame = request(ALTER_PARTITION, 0, 3, "1", broker_id=1, broker_epoch=77, topics=[shrink])
    inner.sendall(frame)
    assert take(server, len(frame)) == frame
    server.sendall(answer(ALTER_PARTITION, 0, 3))
    assert take(inner, 1) == b""


def test_a_version_that_nobody_knows_passes_and_says_who_sent_it(conversation):
    link, inner, server = conversation
    noticed = link.add(Rule(NOTICE, {}))
    frame = bytearray(leader_and_isr(4))
    frame[7] = 99
    inner.sendall(frame)
    assert take(server, len(frame)) == frame
    assert noticed.taken[0].said == {
        "part": REQUEST,
        "api": "LeaderAndIsr",
        "api_version": 99,
        "client": "1",
        "sender": 1,
    }
