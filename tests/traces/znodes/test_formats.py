"""Each znode is read by one declaration: what no Kafka writes is told, with why."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkaproof.traces.zookeeper.transactions import Create, SetData, Transaction
from kafkaproof.traces.zookeeper.znodes.foreign_writes import declared_in, strange_in
from kafkaproof.traces.zookeeper.znodes.formats import FORMATS, content_of, format_of

BROKER = {
    "version": 4,
    "host": "h",
    "port": 9092,
    "jmx_port": -1,
    "timestamp": "1",
    "endpoints": ["PLAINTEXT://h:1"],
    "listener_security_protocol_map": {"PLAINTEXT": "PLAINTEXT"},
}
LISTED = {"version": 1, "partitions": [{"topic": "t", "partition": 0}]}
WRITTEN = {
    "/brokers/topics/t/partitions/0/state": {
        "version": 1,
        "leader": -1,
        "leader_epoch": 0,
        "controller_epoch": 1,
        "isr": [1, 2],
    },
    "/brokers/topics/t": {"version": 2, "partitions": {"0": [1, 2]}, "adding_replicas": {}, "removing_replicas": {}},
    "/brokers/ids/1": BROKER,
    "/controller": {"version": 1, "brokerid": 1, "timestamp": "1700000000000"},
    "/admin/reassign_partitions": {"version": 1, "partitions": [{"topic": "t", "partition": 0, "replicas": [1]}]},
    "/admin/preferred_replica_election": LISTED,
    "/isr_change_notification/isr_change_0000000000": LISTED,
    "/log_dir_event_notification/log_dir_event_0000000000": {"version": 1, "broker": 1, "event": 1},
    "/config/changes/config_change_0000000000": {"version": 2, "entity_path": "topics/t"},
    "/config/topics/t": {"version": 1, "config": {"retention.ms": "1"}},
    "/cluster/id": {"version": "1", "id": "x"},
    "/latest_producer_id_block": {"version": 1, "broker": 0, "block_start": "0", "block_end": "999"},
    "/feature": {"version": 2, "status": 1, "features": {}},
    "/consumers/g/ids/g_host-1-a": {"version": 1, "subscription": {"t": 1}, "pattern": "static", "timestamp": "1"},
}
"""A content of each kind of znode that holds JSON, as Kafka writes it."""
EMPTY = (
    "/admin/delete_topics/t",
    "/brokers/seqid",
    "/brokers/topics/t/partitions",
    "/brokers/topics/t/partitions/0",
    "/consumers/g",
    "/consumers/g/ids",
    "/consumers/g/owners/t",
    "/consumers/g/offsets/t",
)
MEMBER, OWNER, OFFSET = "/consumers/g/ids/g_host-1-a", "/consumers/g/owners/t/0", "/consumers/g/offsets/t/0"
STATE = "/brokers/topics/t/partitions/0/state"
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=4,
)


def fault(path: str, content) -> str | None:
    """What is wrong with a content, JSON or bytes."""
    found = content_of(
        format_of(path)[1], content if isinstance(content, bytes) else json.dumps(content).encode()
    ).fault
    return found and found.text


def test_every_kind_of_znode_is_tried():
    assert {format_of(path)[1] for path in (*WRITTEN, *EMPTY, OWNER, OFFSET, "/controller_epoch")} == set(FORMATS)


@pytest.mark.parametrize("path", WRITTEN)
def test_what_kafka_writes_is_nothing_strange(path):
    assert fault(path, WRITTEN[path]) is None
    assert fault(path, dict(reversed(WRITTEN[path].items()))) is None


@pytest.mark.parametrize("path", WRITTEN)
def test_a_key_that_is_missing_or_twice_is_told(path):
    for key in WRITTEN[path]:
        rest = {name: value for name, value in WRITTEN[path].items() if name != key}
        assert f"no {key}" in fault(path, rest)
        twice = f"{{{json.dumps(key)}:0,{json.dumps(WRITTEN[path])[1:]}"
        assert fault(path, twice.encode()) == f"it has the key {key!r} twice"


@pytest.mark.parametrize("path", WRITTEN)
@pytest.mark.parametrize("version", [0, -1, 1.0, 2.0, True, None, [], "x"])
def test_another_version_is_told(path, version):
    assert fault(path, WRITTEN[path] | {"version": version}).startswith("version is ")


@pytest.mark.parametrize("path", WRITTEN)
@pytest.mark.parametrize(
    "content",
    [b"{", b"[1]", b"7", b"\xff", b'"x', b"\xef\xbb\xbf{}", b"[" * 100_000, b"NaN", '{"version":1}'.encode("utf-16")],
)
def test_what_is_no_object_is_told(path, content):
    assert fault(path, content) or path == "/controller" and content == b"7"


@pytest.mark.parametrize("path", WRITTEN)
@pytest.mark.parametrize("value", [True, 1.5, 1e300, "1", -2, 2**31, None, {}, [], [[]]])
def test_a_value_of_another_type_is_told(path, value):
    for key, usual in WRITTEN[path].items():
        fits = isinstance(value, type(usual)) and not value or isinstance(usual, str) and isinstance(value, str)
        if key != "version" and not fits and not (key == "host" and value is None):
            assert fault(path, WRITTEN[path] | {key: value}).startswith((f"{key} is ", f"{key} has ", f"{key}[0]")), key


@pytest.mark.parametrize(
    "path, key, value, told",
    [
        (STATE, "isr", [1, "2"], "isr[1] is '2'"),
        (STATE, "isr", [True], "isr[0] is true"),
        (STATE, "isr", [-1], "isr[0] is -1"),
        (STATE, "leader_recovery_state", 7, "leader_recovery_state is 7"),
        ("/brokers/topics/t", "partitions", {"00": [1]}, "partitions has the key '00'"),
        ("/brokers/topics/t", "partitions", {"0": [1.0]}, "partitions.0[0] is 1.0"),
        ("/brokers/topics/t", "adding_replicas", {"0": 3}, "adding_replicas.0 is 3, and no list"),
        ("/admin/reassign_partitions", "partitions", [{"topic": 1, "partition": 0, "replicas": []}], "topic is 1"),
        ("/admin/reassign_partitions", "partitions", [{"topic": "t", "partition": 0}], "partitions[0] has no replicas"),
        ("/brokers/ids/1", "endpoints", [1], "endpoints[0] is 1"),
        ("/brokers/ids/1", "endpoints", [], "endpoints has 0 entries, and at least 1 are written"),
        ("/brokers/ids/1", "endpoints", ["h:1"], "endpoints[0] is 'h:1', and no endpoint such as"),
        ("/brokers/ids/1", "port", 65536, "port is 65536, and no whole number from -1 to 65535"),
        (
            "/brokers/ids/1",
            "listener_security_protocol_map",
            {"IN": "TLS"},
            "listener_security_protocol_map.IN is 'TLS'",
        ),
        ("/isr_change_notification/isr_change_0000000000", "partitions", [], "partitions has 0 entries"),
        ("/feature", "features", {"f": {"max_version_level": "1"}}, "features.f.max_version_level is '1'"),
        ("/config/topics/t", "config", {"retention.ms": 1}, "config.retention.ms is 1"),
    ],
)
def test_what_is_inside_is_looked_at(path, key, value, told):
    assert told in fault(path, WRITTEN[path] | {key: value})


@pytest.mark.parametrize(
    "topic_id, fine",
    [
        ("vZdzT09QRRy9_mjB6JTdpQ", True),
        ("topic-id-7", True),
        ("vZdzT09QRRy9_mjB6JTdp", False),
        ("zebra", False),
        ("", False),
    ],
)
def test_a_topic_id_is_one_of_kafkas_or_a_pseudonym(topic_id, fine):
    content = WRITTEN["/brokers/topics/t"] | {"version": 3, "topic_id": topic_id}
    assert (fault("/brokers/topics/t", content) is None) == fine


@pytest.mark.parametrize(
    "content, fine",
    [
        (b"0", True),
        (b"17", True),
        (b"2147483647", True),
        (b"2147483648", False),
        (b"", False),
        (b"-1", False),
        (b"01", False),
        (b"1.0", False),
        (b"1\n", False),
        ("\u0663".encode(), False),
        (b"{}", False),
        (b"\xff", False),
    ],
)
def test_an_epoch_is_a_number_as_kafka_writes_it(content, fine):
    assert (fault("/controller_epoch", content) is None) == fine


@pytest.mark.parametrize("path", EMPTY)
def test_what_kafka_leaves_empty_is_empty(path):
    assert fault(path, b"") is None and content_of(format_of(path)[1], None).fault is None
    assert fault(path, b"x").endswith("and Kafka leaves it empty")


def test_a_key_is_told_in_one_line():
    told = fault("/brokers/ids/1", WRITTEN["/brokers/ids/1"] | {"listener_security_protocol_map": {"a\n": None}})
    assert "listener_security_protocol_map.'a\\n' is null" in told


@given(st.sampled_from(sorted(WRITTEN)), st.data(), VALUES)
def test_every_value_is_fine_or_told(path, draw, value):
    key = draw.draw(st.sampled_from(sorted(WRITTEN[path])))
    found = fault(path, WRITTEN[path] | {key: value})
    assert found is None or found and "\n" not in found


def test_a_key_that_no_known_kafka_writes_is_told_and_is_no_certain_fault():
    found = content_of(format_of(STATE)[1], json.dumps(WRITTEN[STATE] | {"observers": []}).encode()).fault
    assert (found.certain, found.text) == (False, "it has the key 'observers', which no known Kafka writes")


def test_a_key_of_another_version_is_a_fault():
    path = "/brokers/ids/1"
    found = content_of(format_of(path)[1], json.dumps(WRITTEN[path] | {"version": 4, "features": {}}).encode()).fault
    assert found.certain
    assert found.text == "it has the key 'features' of version 5 (Kafka 2.7 to 3.9), and its version is 4"


@pytest.mark.parametrize(
    "path, found",
    [
        ("/admin/delete_topics/controller", "a request to delete a topic"),
        ("/brokers/topics/feature", "a topic"),
        ("/k/controller", "the controller"),
        ("/config/topics/seqid", "a configuration"),
    ],
)
def test_the_shortest_chroot_counts(path, found):
    assert format_of(path)[1].name == found


@pytest.mark.parametrize(
    "text",
    [
        rb'{ "pattern":"static", "subscription":{ "t": 1,"u": 2 }, "timestamp":"1386000000000", "version":1 }',
        rb'{ "pattern":"white_list", "subscription":{ "t.*" : 2 }, "timestamp":"1386000000000", "version":1 }',
        rb'{ "pattern":"white_list", "subscription":{ "t\.\d+" : 2 }, "timestamp":"1386000000000", "version":1 }',
        rb'{"version":1,"subscription":{"t":1,"u":2},"pattern":"static","timestamp":"1400000000000"}',
        rb'{"version":1,"subscription":{"t\.u":1},"pattern":"black_list","timestamp":"1400000000000"}',
        rb'{"version":1,"subscription":{"t\\.u":1},"pattern":"black_list","timestamp":"1430000000000"}',
    ],
    ids=["0.8.0", "0.8.0 pattern", "0.8.0 backslash", "0.8.1", "0.8.1 backslash", "0.8.2"],
)
def test_a_member_is_read_as_each_release_writes_it(text):
    assert fault(MEMBER, text) is None


@pytest.mark.parametrize(
    "path, text, told",
    [
        (MEMBER, b"", "empty"),
        (MEMBER, rb'{"version":1,"subscription":{"t\.u":1},"pattern":"static","timestamp":"1"}', "no JSON"),
        (MEMBER, b'{"version":1,"subscription":{"t":0},"pattern":"static","timestamp":"1"}', "subscription.t is 0"),
        (MEMBER, b'{"version":1,"subscription":{},"pattern":"list","timestamp":"1"}', "no kind of subscription"),
        (OWNER, b"g_host-1-a-0", None),
        (OWNER, b"somebody", "Kafka writes the name of a thread"),
        (OFFSET, b"9223372036854775807", None),
        (OFFSET, b"-1", None),
        (OFFSET, b"1.5", "Kafka writes an offset"),
        ("/consumers/g/offset/t/0", b"5", None),
    ],
)
def test_what_old_consumers_write_is_read_or_told(path, text, told):
    found = fault(path, text)
    assert found is None if told is None else told in found


def test_a_later_version_is_a_whole_number():
    known = format_of(STATE)[1]
    found = [content_of(known, b'{"version":%b}' % each).later for each in (b"2", b"1", b"2.0", b'"2"', b"true")]
    assert found == [2, None, None, None, None]


def record(*operations) -> list[str]:
    """What is strange in a record."""
    transaction = Transaction(9, 1, 1, 0, operations, len(operations) > 1)
    return [each.text for each in strange_in(transaction, declared_in(transaction))]


def created(path: str, ephemeral: bool = False, cversion: int = -1, kind: str = "create") -> Create:
    return Create(path, json.dumps(WRITTEN[path]).encode(), ephemeral, cversion, kind)


def test_registrations_and_a_controller_are_ephemeral_and_nothing_else_is():
    for path in WRITTEN:
        goes = path in ("/brokers/ids/1", "/controller", MEMBER)
        assert record(created(path, goes)) == [] and len(record(created(path, not goes))) == 1
    assert record(created("/brokers/topics/t", kind="ttl")) == ["it is a znode of the kind ttl"]


@pytest.mark.parametrize(
    "prefix",
    [
        "/isr_change_notification/isr_change_",
        "/config/changes/config_change_",
        "/log_dir_event_notification/log_dir_event_",
    ],
)
def test_zookeeper_numbers_what_is_sequential_by_the_children_that_there_ever_were(prefix):
    data = json.dumps(WRITTEN[f"{prefix}0000000000"]).encode()
    assert record(Create(f"{prefix}0000000007", data, False, 8)) == []
    assert record(Create(f"{prefix}0000000007", data, False, -1)) == []
    assert record(Create(f"{prefix}0000000009", data, False, 8)) == [
        "its number is 9, and ZooKeeper would have given it 7"
    ]
    for name in (f"{prefix}7", prefix, prefix.rpartition("/")[0] + "/0000000007"):
        assert record(Create(name, data, False, 8)) == [f"its name is not {prefix.rpartition('/')[2]} and ten digits"]


def test_an_ephemeral_is_created_empty_and_set_in_one_multi():
    whole = json.dumps(BROKER).encode()
    assert record(Create("/brokers/ids/1", None, True, 1), SetData("/brokers/ids/1", whole, 1)) == []
    assert record(Create("/brokers/ids/1", b"{}", True, 1), SetData("/brokers/ids/1", whole, 1))
    assert record(Create("/brokers/ids/1", None, True, 1)) == ["it is empty"]
