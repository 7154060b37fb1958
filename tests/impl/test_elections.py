"""Elections that an administrator asks for: each partition is answered by itself, as Kafka does it."""

import json
import time

import pytest
from kafka.admin import KafkaAdminClient
from kafka.errors import KafkaConnectionError

from kafkaproof.checker.commands.main import main
from kafkaproof.impl.harness.driving.cluster import TOPIC, Cluster, Size, wait_until
from kafkaproof.impl.seams.zookeeper.znodes import State, Topic

PATIENCE, SESSION = 120, 60.0
PREFERRED, UNCLEAN = 0, 1
NONE, UNKNOWN, NOT_PREFERRED, NOT_ELIGIBLE, NOT_NEEDED = 0, 3, 80, 83, 84


@pytest.fixture
def cluster(tmp_path):
    """Three brokers, two partitions on two of them each: 0, 1 and 1, 2."""
    with Cluster(tmp_path, Size(replicas=2, partitions=2, session_timeout=SESSION)) as running:
        running.start_all()
        assert wait_until(running.is_whole, PATIENCE)
        yield running


def state(cluster, p):
    """The state of a partition, or that of one that nobody leads."""
    path = State.path_of(TOPIC, p)
    return State.decode(cluster.operator.get(path)[0]) if cluster.operator.exists(path) else State(-1, (), -1, 0)


def elect(cluster, kind, wanted):
    """The errors that the controller answers with, by topic and partition.

    A client that is told of a broker that has just died asks again.
    """
    until = time.monotonic() + PATIENCE
    while True:
        admin = KafkaAdminClient(bootstrap_servers=[f"127.0.0.1:{cluster.children[cluster.controller()].port}"])
        try:
            found = admin.elect_leaders(kind, wanted, raise_errors=False)
            break
        except KafkaConnectionError:
            if time.monotonic() > until:
                raise
        finally:
            admin.close()
    return {
        (topic.topic, each.partition_id): each.error_code
        for topic in found.replica_election_results
        for each in topic.partition_result
    }


def test_each_partition_is_answered_by_itself(cluster, capsys):
    assert wait_until(lambda: all(len(state(cluster, p).isr) == 2 for p in range(2)), PATIENCE)
    assert elect(cluster, UNCLEAN, {TOPIC: [0, 7], "never-there": [0]}) == {
        (TOPIC, 0): NOT_NEEDED,
        (TOPIC, 7): UNKNOWN,
        ("never-there", 0): UNKNOWN,
    }
    first, other = Topic.decode(cluster.operator.get(Topic.path_of(TOPIC))[0]).assignments[0]
    cluster.kill(first)
    cluster.expire(first)
    assert wait_until(lambda: state(cluster, 0).leader == other and cluster.controller() is not None, PATIENCE)
    assert elect(cluster, PREFERRED, {TOPIC: [0]}) == {(TOPIC, 0): NOT_PREFERRED}
    cluster.kill(other)
    cluster.expire(other)
    assert wait_until(lambda: cluster.controller() not in (None, first, other), PATIENCE)
    assert wait_until(lambda: state(cluster, 0).leader == -1, PATIENCE)
    assert elect(cluster, UNCLEAN, {TOPIC: [0]}) == {(TOPIC, 0): NOT_ELIGIBLE}
    cluster.start(first)
    assert wait_until(lambda: first in cluster.registered(), PATIENCE)
    assert wait_until(lambda: elect(cluster, UNCLEAN, {TOPIC: [0]})[TOPIC, 0] in (NONE, NOT_NEEDED), PATIENCE)
    assert state(cluster, 0).leader == first and state(cluster, 0).isr == (first,), "uncleanly"
    cluster.start(other)
    assert wait_until(cluster.is_whole, PATIENCE)
    assert elect(cluster, PREFERRED, {TOPIC: [0]}) == {(TOPIC, 0): NOT_NEEDED}
    cluster.stop_all()
    for what in (cluster.directory, cluster.directory / "zookeeper"):
        assert main(["replay", "--json", str(what)]) == 0
        report = json.loads(capsys.readouterr().out)
        assert report["verdict"] == "conforms"
        if what == cluster.directory:
            assert report["transitions"]["triggers.admin_election"] >= 2
