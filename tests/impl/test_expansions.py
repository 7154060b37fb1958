"""Partitions are added to topics of a running cluster, and taken back where a topic is queued for deletion."""

import json

import pytest
from kafka.admin import KafkaAdminClient, NewTopic

from kafkaproof.checker.commands.main import main
from kafkaproof.impl.harness.driving.cluster import TOPIC, Cluster, Size, wait_until
from kafkaproof.impl.seams.zookeeper.znodes import TOPICS, Given, State, Topic
from kafkaproof.spec.language.plain import ids_in
from tests.impl.settled import in_sync, producer_to

PATIENCE, SESSION = 120, 60.0
NONE, UNKNOWN, QUEUED, INVALID_PARTITIONS, REASSIGNED = 0, 3, 17, 37, 60


@pytest.fixture
def cluster(tmp_path):
    """Three brokers, a partition on two of them."""
    with Cluster(tmp_path, Size(replicas=2, partitions=1, session_timeout=SESSION)) as running:
        running.start_all()
        assert wait_until(running.is_whole, PATIENCE)
        yield running


def admin_of(cluster):
    return KafkaAdminClient(bootstrap_servers=[f"127.0.0.1:{cluster.children[cluster.controller()].port}"])


def expand(cluster, name, count):
    """The error that the controller answers with."""
    admin = admin_of(cluster)
    try:
        (found,) = admin.create_partitions({name: count}, timeout_ms=PATIENCE * 1000, raise_errors=False).results
        return found.error_code
    finally:
        admin.close()


def topic(cluster, name=TOPIC):
    return Topic.decode(cluster.operator.get(Topic.path_of(name))[0])


def leader(cluster, name, p):
    path = State.path_of(name, p)
    return State.decode(cluster.operator.get(path)[0]).leader if cluster.operator.exists(path) else -1


def test_partitions_are_added_and_led(cluster, capsys):
    admin = admin_of(cluster)
    admin.create_topics([NewTopic("made", 1, 2)], timeout_ms=PATIENCE * 1000)
    for name, count, error in (
        ("never-there", 2, UNKNOWN),
        (TOPIC, 1, INVALID_PARTITIONS),
        (TOPIC, 2, NONE),
        ("made", 3, NONE),
    ):
        assert expand(cluster, name, count) == error, (name, count)
    assert len(topic(cluster).assignments) == 2 and len(topic(cluster, "made").assignments) == 3
    producer = producer_to(cluster, TOPIC, 2, acks="all", enable_idempotence=False)
    for place in ((TOPIC, b"x", None, None, 1), ("made", b"y")):
        assert producer.send(*place).get(PATIENCE).offset == 0
    producer.close()
    assert wait_until(lambda: in_sync(cluster), PATIENCE)
    former = cluster.controller()
    cluster.kill(former)
    cluster.expire(former)
    assert wait_until(lambda: cluster.controller() not in (None, former), PATIENCE)
    assert wait_until(lambda: leader(cluster, TOPIC, 1) not in (-1, former), PATIENCE)
    cluster.start(former)
    assert wait_until(cluster.is_whole, PATIENCE)
    replayed(cluster, capsys, "expansion.write_partitions", 2)


@pytest.mark.thorough
def test_there_may_be_more_partitions_than_an_id_has_bits_and_topics_come_and_go(tmp_path, capsys):
    with Cluster(tmp_path, Size(brokers=1, replicas=1, partitions=1, session_timeout=60.0)) as cluster:
        cluster.start_all()
        cluster.await_all()
        admin = admin_of(cluster)
        admin.create_topics([NewTopic("many", 70, 1)], timeout_ms=PATIENCE * 1000)
        assert len(topic(cluster, "many").assignments) == 70 and leader(cluster, "many", 69) == 0
        for n in range(3):
            admin.create_topics([NewTopic(f"passing-{n}", 1, 1)], timeout_ms=PATIENCE * 1000)
            admin.delete_topics([f"passing-{n}"], timeout_ms=PATIENCE * 1000)
        assert wait_until(lambda: cluster.below(TOPICS) == [TOPIC, "many"], PATIENCE)
        noted = Given.decode(cluster.operator.get(Given.path)[0])
        assert (ids_in(noted.places), noted.numbers[topic(cluster, "many").id]) == (
            [*range(1, 74)],
            tuple(range(1, 71)),
        )
        replayed(cluster, capsys, "creation.create_topic", 4)


def replayed(cluster, capsys, step, times):
    cluster.stop_all()
    for what in (cluster.directory, cluster.directory / "zookeeper"):
        assert main(["replay", "--json", str(what)]) == 0
        report = json.loads(capsys.readouterr().out)
        assert (report["verdict"], report["violations"]) == ("conforms", [])
        if what == cluster.directory:
            assert report["transitions"][step] == times
