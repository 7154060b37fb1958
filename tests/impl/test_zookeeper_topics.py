"""Topics that tools create and expand in ZooKeeper are led, get ids, and keep them; replay says that it has no model of it."""

import json

import pytest

from kafkaproof.checker.commands.main import main
from kafkaproof.impl.harness.driving.cluster import TOPIC, Cluster, Size, wait_until
from kafkaproof.impl.seams.zookeeper.znodes import Topic
from kafkaproof.spec.kafka.topic_ids import RESERVED, SIZE, may_be_given
from tests.impl.settled import in_sync, producer_to


def as_by_tool(*assignments):
    """The znode of a topic as tools before 2.4 write it."""
    return json.dumps({"version": 1, "partitions": dict(enumerate(map(list, assignments)))}).encode()


def topic_of(cluster, name):
    return Topic.decode(cluster.operator.get(Topic.path_of(name))[0])


def offsets_of(cluster, name, partitions):
    producer = producer_to(cluster, name, partitions, acks="all")
    found = [producer.send(name, b"x", partition=p).get(60).offset for p in range(partitions)]
    producer.close()
    return found


def test_some_ids_are_never_given():
    assert may_be_given(b"x" * SIZE) and not any(map(may_be_given, (*RESERVED, b"\xf8" + b"x" * (SIZE - 1))))


@pytest.mark.thorough
def test_a_topic_of_a_tool_is_led_and_keeps_its_id(tmp_path, capsys):
    with Cluster(tmp_path, Size(partitions=1, session_timeout=60.0)) as cluster:
        cluster.start_all()
        assert wait_until(lambda: in_sync(cluster))
        path = Topic.path_of("made")
        cluster.operator.create(path, as_by_tool((2, 0), (0, 1)))
        assert wait_until(lambda: topic_of(cluster, "made").id) and wait_until(lambda: in_sync(cluster))
        id = topic_of(cluster, "made").id
        assert offsets_of(cluster, "made", 2) == [0, 0]
        cluster.operator.set(path, as_by_tool((2, 0), (0, 1), (1, 2)))
        assert wait_until(lambda: topic_of(cluster, "made").id == id) and wait_until(lambda: in_sync(cluster))
        assert offsets_of(cluster, "made", 3) == [1, 1, 0]
        id = topic_of(cluster, TOPIC).id
        cluster.operator.set(Topic.path_of(TOPIC), as_by_tool((0, 1, 2), (1, 2, 0)))
        assert wait_until(lambda: topic_of(cluster, TOPIC).id == id) and wait_until(lambda: in_sync(cluster))
        cluster.operator.create(Topic.path_of("strange"), as_by_tool((7,)))
        logs = [tmp_path / f"broker-{b}.log" for b in range(3)]
        assert wait_until(
            lambda: any("'strange': 1 of its partitions get no leader" in log.read_text() for log in logs)
        )
        assert topic_of(cluster, "strange").id, "as from a controller of Kafka"
        cluster.operator.delete(Topic.path_of("strange"))
        cluster.delete_controller()
        assert wait_until(lambda: in_sync(cluster))
        assert offsets_of(cluster, "made", 3) == [2, 2, 1]
        cluster.stop_all()
    assert main(["replay", str(tmp_path)]) == 2
    assert "a tool wrote /brokers/topics/made in ZooKeeper" in capsys.readouterr().err
