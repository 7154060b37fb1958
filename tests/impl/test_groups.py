"""Unmodified clients of two makers consume as one group, while its coordinator and the controller die."""

import json
import threading

import pytest
from confluent_kafka import Consumer, KafkaException
from kafka import KafkaAdminClient, KafkaConsumer, TopicPartition
from kafka.protocol.consumer.group import (
    OffsetCommitRequest,
    OffsetCommitResponse,
    OffsetFetchRequest,
    OffsetFetchResponse,
)

from kafkaproof.checker.commands.main import main
from kafkaproof.impl.harness.driving.cluster import TOPIC, Cluster, Size, wait_until
from kafkaproof.impl.harness.driving.consumers import Consumers
from kafkaproof.impl.harness.driving.load import Load
from kafkaproof.impl.harness.real.records import ask
from kafkaproof.impl.seams.zookeeper.partition_numbers import OFFSETS_TOPIC
from tests.impl.settled import in_sync

PARTITIONS, NAME = 4, "readers"


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    """Three brokers with group coordinators."""
    size = Size(partitions=PARTITIONS, min_isr=2, session_timeout=60.0, groups=True)
    with Cluster(tmp_path_factory.mktemp("groups"), size) as running:
        running.start_all()
        assert wait_until(lambda: running.is_whole() and len(offsets_state(running)["isr"]) == 3)
        yield running


def offsets_state(cluster):
    path = f"/brokers/topics/{OFFSETS_TOPIC}/partitions/0/state"
    return json.loads(cluster.operator.get(path)[0]) if cluster.operator.exists(path) else {"isr": []}


class Librdkafka:
    """One more member of the group."""

    def __init__(self, cluster):
        self.read, self.stopping = {}, threading.Event()
        self._consumer = Consumer(
            {
                "bootstrap.servers": ",".join(cluster.bootstrap()),
                "group.id": NAME,
                "enable.auto.commit": False,
                "auto.offset.reset": "earliest",
                "session.timeout.ms": 10_000,
                "log_level": 0,
                "topic.metadata.refresh.interval.ms": 2000,
                "partition.assignment.strategy": "range,roundrobin",
            }
        )
        self._consumer.subscribe([TOPIC])
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self):
        while not self.stopping.is_set():
            message = self._consumer.poll(0.3)
            if message is not None and not message.error():
                self.read[message.partition(), message.offset()] = message.value()
                try:
                    self._consumer.commit(message, asynchronous=False)
                except KafkaException:
                    continue
        self._consumer.close()


def check_offsets_in_zookeeper(cluster):
    """An old client commits by one broker and fetches by another; the offset is where the old consumer reads it."""
    kind = OffsetCommitRequest.OffsetCommitRequestTopic
    first, second = (int(each.rpartition(":")[2]) for each in cluster.bootstrap()[:2])
    place = kind.OffsetCommitRequestPartition(partition_index=1, committed_offset=17, committed_metadata="")
    commit = OffsetCommitRequest(group_id="old", topics=[kind(name=TOPIC, partitions=[place])])
    answer = ask(first, commit, OffsetCommitResponse, 0)
    assert answer.topics[0].partitions[0].error_code == 0
    assert cluster.operator.get(f"/consumers/old/offsets/{TOPIC}/1")[0] == b"17"
    wanted = OffsetFetchRequest.OffsetFetchRequestTopic(name=TOPIC, partition_indexes=[1])
    found = ask(second, OffsetFetchRequest(group_id="old", topics=[wanted]), OffsetFetchResponse, 0)
    (partition,) = found.topics[0].partitions
    assert (partition.error_code, partition.committed_offset) == (0, 17)


def kill_and_restart(cluster, broker):
    assert wait_until(lambda: in_sync(cluster))
    cluster.kill(broker)
    cluster.expire(broker)
    assert wait_until(lambda: broker not in cluster.registered() and cluster.controller() not in (None, broker))
    assert wait_until(lambda: offsets_state(cluster)["leader"] not in (-1, broker))
    cluster.start(broker)
    assert wait_until(lambda: in_sync(cluster))


def test_a_group_reads_all_that_was_acknowledged_while_brokers_die(cluster, capsys):
    load, consumers, other = (
        Load(cluster.bootstrap, TOPIC, PARTITIONS),
        Consumers(cluster.bootstrap, TOPIC, NAME, 2),
        Librdkafka(cluster),
    )
    assert wait_until(lambda: len(consumers.read) > 5 and len(other.read) > 5 and load.acknowledged > 20)
    assert wait_until(lambda: all(consumers.assigned.get(n) for n in range(2)))
    check_offsets_in_zookeeper(cluster)
    operator = KafkaAdminClient(bootstrap_servers=cluster.bootstrap())
    assert NAME in str(operator.list_groups())
    described = operator.describe_groups([NAME])
    assert NAME in str(described) and "Stable" in str(described)
    kill_and_restart(cluster, offsets_state(cluster)["leader"])
    read = len(consumers.read) + len(other.read)
    assert wait_until(lambda: len(consumers.read) + len(other.read) > read + 20)
    kill_and_restart(cluster, cluster.controller())
    load.stop()
    acknowledged = load.read_all(cluster.check)
    assert acknowledged.lost == [] and acknowledged.acknowledged > 50
    found = lambda: consumers.read | other.read  # noqa: E731
    assert wait_until(lambda: load.noted.items() <= found().items())
    commits = consumers.commits
    assert wait_until(lambda: consumers.commits > commits + 4)
    other.stopping.set()
    other.thread.join(60)
    consumers.stop()
    check_committed(cluster, load)
    cluster.stop_all()
    assert main(["replay", "--json", str(cluster.directory)]) == 0
    report = json.loads(capsys.readouterr().out)
    assert (report["verdict"], report["violations"]) == ("conforms", []), report["first_divergence"]
    recorded = [
        json.loads(line)
        for file in (cluster.directory / "recording").glob("broker-*.jsonl")
        for line in file.read_text().splitlines()
    ]
    steps = [row["group"] for row in recorded if "group" in row and "step" in row]
    assert report["groups"] == {name: steps.count(name) for name in set(steps)} and report["groups"][NAME] > 100


def check_committed(cluster, load):
    """What the group has committed is behind the last record that was acknowledged in each partition."""
    reader = KafkaConsumer(bootstrap_servers=cluster.bootstrap(), group_id=NAME)
    for p in range(PARTITIONS):
        last = max(offset for q, offset in load.noted if q == p)
        assert reader.committed(TopicPartition(TOPIC, p)) > last
    reader.close()
