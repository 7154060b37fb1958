"""Znodes hold Kafka's content: what is written is read back, and has the fields that real clusters write."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkaproof.impl.seams.zookeeper.partition_numbers import Places
from kafkaproof.impl.seams.zookeeper.request_znodes import (
    ConfigChange,
    IsrChange,
    LogDirEvent,
    PreferredElection,
    Reassignment,
)
from kafkaproof.impl.seams.zookeeper.znodes import (
    BrokerId,
    Controller,
    ControllerEpoch,
    Given,
    State,
    Topic,
    TopicConfig,
)
from kafkaproof.spec.kafka.topic_ids import text_of
from kafkaproof.traces.reading.recording import read_recording
from kafkaproof.traces.zookeeper.transactions import Create, SetData

RECORDINGS = Path(__file__).parents[2] / "traces" / "recordings"
IDS = st.integers(0, 50)
SOME = st.lists(IDS, max_size=4, unique=True).map(tuple)
MOVED = st.dictionaries(IDS, SOME, max_size=3).map(lambda moved: tuple(sorted(moved.items())))
TOPIC_IDS = st.one_of(st.just(""), st.builds(text_of, st.binary(min_size=16, max_size=16)))


@given(
    st.one_of(
        st.builds(Controller, IDS),
        st.builds(ControllerEpoch, IDS),
        st.builds(BrokerId, st.just("127.0.0.1"), IDS, IDS),
        st.builds(Topic, st.lists(SOME, max_size=12).map(tuple), TOPIC_IDS, MOVED, MOVED),
        st.builds(State, IDS, SOME, IDS, IDS),
        st.builds(TopicConfig, st.booleans()),
        st.builds(Reassignment, st.dictionaries(st.tuples(st.just("t"), IDS), SOME)),
        st.builds(IsrChange, st.just("t"), IDS),
        st.builds(LogDirEvent, IDS),
        st.builds(Given, st.integers(0, 2**64 - 1)),
    )
)
def test_what_is_written_is_read_back(znode):
    assert type(znode).decode(znode.encode()) == znode


@pytest.mark.parametrize("data", [b"", b'{"version":1,"config":{"log.cleaner.threads":"2"}}'])
def test_where_no_numbers_are_noted_none_is_given(data):
    found = Given.decode(data)
    assert (found.places, found.numbers) == (0, {}) and (
        not data or Given.decode(found.encode()).options == found.options != {}
    )


def written(name, path):
    """The contents that a real cluster wrote at paths that begin and end like this."""
    start, end = path
    for transaction in read_recording(RECORDINGS / name).transactions:
        for operation in transaction.operations:
            fits = isinstance(operation, (Create, SetData)) and operation.path.startswith(start)
            if fits and operation.path.endswith(end) and operation.data:
                yield operation.data


@pytest.mark.parametrize(
    "znode, path",
    [
        (State(1, (1,), 0, 1), ("/brokers/topics/", "/state")),
        (BrokerId("h", 1, 2), ("/brokers/ids/", "")),
        (ControllerEpoch(1), ("/controller_epoch", "")),
    ],
)
def test_a_real_cluster_writes_the_same_fields(znode, path):
    contents = list(written("3.9.1-controller-failover", path))
    assert contents
    for content in map(json.loads, contents):
        ours = json.loads(znode.encode())
        assert type(ours) is type(content)
        if isinstance(content, dict):
            assert ours.keys() | {"rack", "leader_recovery_state"} >= content.keys() >= ours.keys()


@pytest.mark.parametrize("name, is_new", [("1.1.1-zombie", False), ("3.9.1-controller-failover", True)])
def test_a_real_controller_writes_the_same_fields(name, is_new):
    for content in written(name, ("/controller", "controller")):
        told, ours = json.loads(content), json.loads(Controller(1).encode(is_new))
        assert told.keys() == ours.keys() and told["version"] == ours["version"]


def registered(endpoints, protocols, host=None, port=-1):
    content = {"endpoints": endpoints, "listener_security_protocol_map": protocols, "host": host, "port": port}
    return json.dumps(content | {"version": 5}).encode()


@pytest.mark.parametrize(
    "data, found",
    [
        (
            registered(
                ["SSL://a:1", "REPLICATION://b:2", "PLAINTEXT://c:3"],
                {"SSL": "SSL", "REPLICATION": "PLAINTEXT", "PLAINTEXT": "PLAINTEXT"},
            ),
            ("c", 3, 2),
        ),
        (registered(["SSL://a:1", "PLAINTEXT://c:3"], {"SSL": "SSL", "PLAINTEXT": "PLAINTEXT"}), ("c", 3, 3)),
        (registered(["CLIENT://a:1", "INNER://b:2"], {"CLIENT": "PLAINTEXT", "INNER": "PLAINTEXT"}), ("a", 1, 1)),
        (registered(["SSL://a:1"], {"SSL": "SSL"}), ("", 0, 0)),
        (b'{"version":1,"host":"a","port":9092}', ("a", 9092, 9092)),
    ],
)
def test_where_a_broker_of_any_version_listens(data, found):
    assert BrokerId.decode(data) == found


def test_where_real_brokers_listen():
    contents = list(written("3.9.1-controller-failover", ("/brokers/ids/", "")))
    assert contents and all(BrokerId.decode(content).inner_port > 0 for content in contents)


@pytest.mark.parametrize(
    "name, path",
    [("3.9.1-controller-failover", ("/brokers/topics/", "/state")), ("1.1.1-zombie", ("/brokers/topics/", "/state"))],
)
def test_states_of_real_clusters_are_written_again_byte_for_byte(name, path):
    contents = [content for content in written(name, path) if b"leader_recovery_state" not in content]
    assert contents
    for content in contents:
        assert State.decode(content).encode() == content


def test_topics_of_a_real_cluster_that_reassigns_are_written_again_byte_for_byte():
    contents = [content for content in written("3.9.1-reassign", ("/brokers/topics/", "")) if b"partitions" in content]
    assert sum(b'"adding_replicas":{"' in content for content in contents) > 3
    for content in contents:
        assert Topic.decode(content).encode() == content


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{",
        b"[]",
        b'{"partitions":[{"topic":"t","partition":0}]}',
        b'{"partitions":[{"topic":"t","partition":0,"replicas":["1"]}]}',
        b'{"partitions":{"t":1}}',
    ],
)
def test_what_is_no_request_for_a_reassignment(data):
    assert Reassignment.asked(data) is None
    asked = Reassignment({("t", 0): (2, 1), ("u", 3): (0,)})
    assert Reassignment.asked(asked.encode()) == asked


def test_an_assignment_is_changed_of_one_partition_alone():
    topic = Topic(((0, 1), (1, 2)), "", ((1, (2,)),), ())
    union = topic.reassigned(0, (2, 0, 1), (2,), (0, 1))
    assert union == Topic(((2, 0, 1), (1, 2)), "", ((0, (2,)), (1, (2,))), ((0, (0, 1)),))
    assert union.reassigned(0, (2,), (), ()) == Topic(((2,), (1, 2)), "", ((1, (2,)),), ())


def test_partitions_are_added_to_a_topic_and_taken_back():
    topic = Topic(((0, 1), (1, 2), (2, 0)), "id")
    assert topic.restored({0}) == Topic(((0, 1),), "id") and topic.restored(set()) == Topic((), "id")
    numbered = Given(6, {"id": (1, 2)})
    assert Given.decode(numbered.encode()) == numbered and Given.decode(Given(6).encode()) == Given(6)
    places = Places("events", further=2, size=2)
    places.note("events", {3: 2})
    assert places.numbers_of("events") == [0, 1, 3] and places.initial("events") == [0, 1]
    assert (places.number_of("events", 2), places.place_of(3)) == (3, ("events", 2))


def test_requests_of_operators_are_those_of_the_tools():
    assert json.loads(PreferredElection("t", (0, 1)).encode()) == {
        "version": 1,
        "partitions": [{"topic": "t", "partition": 0}, {"topic": "t", "partition": 1}],
    }
    assert json.loads(ConfigChange("t").encode()) == {"version": 2, "entity_path": "topics/t"}
