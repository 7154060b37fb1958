"""A broker that deletes topics otherwise than the specification is found out by the replay of its recording."""

import sys

import pytest
from kafka import KafkaProducer
from kafka.admin import KafkaAdminClient, NewTopic

from kafkaproof.impl.harness.driving.child import BrokerChild
from kafkaproof.impl.harness.driving.cluster import Cluster, Size, wait_until
from tests.traces.processes.recordings import replayed

PATIENCE, SESSION = 120, 60.0
MISTAKES = {
    "completed-when-one-is-deleted": "deletion.resume_deletion",
    "answers-not-awaited": "deletion.stop_replicas",
    "log-kept": "reassignment.stop_replica",
}


@pytest.mark.parametrize("name, step", MISTAKES.items(), ids=MISTAKES)
def test_a_mistaken_broker_diverges_where_it_is_mistaken(tmp_path, monkeypatch, name, step):
    monkeypatch.setattr(BrokerChild, "program", (sys.executable, "-m", "tests.impl.mistaken_broker", name))
    size = Size(brokers=2, replicas=2, partitions=1, session_timeout=SESSION)
    with Cluster(tmp_path, size) as cluster:
        cluster.start_all()
        assert wait_until(cluster.is_whole, PATIENCE)
        admin = KafkaAdminClient(bootstrap_servers=cluster.bootstrap())
        admin.create_topics([NewTopic("short-lived", 1, 2)], timeout_ms=PATIENCE * 1000)
        producer = KafkaProducer(bootstrap_servers=cluster.bootstrap(), acks="all", enable_idempotence=False)
        producer.send("short-lived", b"here").get(PATIENCE)
        producer.close()
        admin.delete_topics(["short-lived"], timeout_ms=PATIENCE * 1000)
        admin.close()
        assert wait_until(lambda: not cluster.operator.exists("/admin/delete_topics/short-lived"), PATIENCE)
        cluster.stop_all()
    divergence = replayed(tmp_path).divergence
    assert divergence is not None
    assert f" {step}(" in divergence[0], divergence
