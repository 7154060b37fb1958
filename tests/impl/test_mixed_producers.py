"""Producers at their defaults, which are idempotent, write through brokers of both kinds while leaders change."""

import json
import subprocess
import threading
import time

import pytest
from confluent_kafka import Producer
from kafka import KafkaConsumer, KafkaProducer, TopicPartition
from kafka.admin import NewTopic

from kafkaproof.impl.harness.driving.zookeeper_server import java
from kafkaproof.impl.harness.real.jars import tools_class_path
from kafkaproof.impl.harness.real.mixed import MixedCluster
from tests.impl.test_mixed import BROKERS, MADE, PARTITIONS, PATIENCE, begin, conforms, is_whole, read, size_of, states

TOOL = "org.apache.kafka.tools.VerifiableProducer"
PAUSE = 0.05
BY_DEFAULT = "retries=2147483647\n"
"""The tool sets 0, which no producer has by default."""


class Producers:
    """A producer of each kind, each in a thread of its own, until `stop`.

    `sent`: the values of each kind, in their order; `at`: the place of each that was acknowledged.
    """

    def __init__(self, bootstrap, directory):
        self.sent, self.at, self.refused = {"python": [], "librdkafka": [], "java": []}, {}, []
        self._bootstrap, self._ends = ",".join(bootstrap), threading.Event()
        self._tool = self._begin_tool(directory)
        self._threads = [threading.Thread(target=each) for each in (self._python, self._librdkafka, self._java)]
        for each in self._threads:
            each.start()

    def _begin_tool(self, directory):
        (directory / "producer.properties").write_text(BY_DEFAULT)
        options = ["--topic", MADE, "--bootstrap-server", self._bootstrap, "--throughput", "20", "--max-messages", "-1"]
        options += ["--producer.config", str(directory / "producer.properties")]
        command = [java(TOOL), "-Xmx128m", "-cp", tools_class_path("3.9.1"), TOOL, *options]
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)

    def _python(self):
        producer, sent = KafkaProducer(bootstrap_servers=self._bootstrap), []
        while not self._ends.wait(PAUSE):
            value = b"p%d" % len(sent)
            sent.append((value, producer.send(MADE, value, partition=len(sent) % PARTITIONS)))
        for value, future in sent:
            self._note("python", value, future.get(PATIENCE))
        producer.close()

    def _librdkafka(self):
        producer, number = (
            Producer({"bootstrap.servers": self._bootstrap, "enable.idempotence": True, "log_level": 0}),
            0,
        )
        reports = []
        while not self._ends.wait(PAUSE):
            told = lambda error, message: reports.append((error, message))  # noqa: E731
            producer.produce(MADE, b"r%d" % number, partition=number % PARTITIONS, on_delivery=told)
            producer.poll(0)
            number += 1
        assert producer.flush(PATIENCE) == 0
        for error, message in reports:
            if error:
                self.refused.append(("librdkafka", error))
            else:
                self.sent["librdkafka"].append(message.value())
                self.at[message.value()] = message.partition(), message.offset()

    def _java(self):
        for line in self._tool.stdout:
            said = json.loads(line)
            if said["name"] == "producer_send_success":
                value = said["value"].encode()
                self.sent["java"].append(value)
                self.at[value] = said["partition"], said["offset"]
            elif said["name"] == "producer_send_error":
                self.refused.append(("java", said["message"]))

    def _note(self, kind, value, told):
        self.sent[kind].append(value)
        self.at[value] = told.partition, told.offset

    def stop(self):
        """Let each producer send what it has, and end."""
        self._ends.set()
        self._tool.terminate()
        for each in self._threads:
            each.join(PATIENCE)
        self._tool.wait(PATIENCE)


def die_and_come_back(cluster, broker):
    """Kill a broker while producers go on: others lead, and it comes back into all ISRs."""
    cluster.kill(broker)
    cluster.await_that(lambda: all(state.leader not in (broker, -1) for state in states(cluster)), "others lead")
    time.sleep(2)
    cluster.start(broker)
    cluster.await_that(lambda: is_whole(cluster), "it has caught up")


def ends(cluster):
    """How many records the partitions have."""
    consumer = KafkaConsumer(bootstrap_servers=cluster.bootstrap())
    found = consumer.end_offsets([TopicPartition(MADE, p) for p in range(PARTITIONS)])
    consumer.close()
    return sum(found.values())


def once_in_order(found, values):
    """Whether each of some values stands once, and those of a partition in the order in which they were sent."""
    own = [[v for (q, _), v in sorted(found.items()) if q == p and v in set(values)] for p in range(PARTITIONS)]
    order = {value: number for number, value in enumerate(values)}
    return sorted(v for each in own for v in each) == sorted(values) and all(
        each == sorted(each, key=order.__getitem__) for each in own
    )


@pytest.mark.real
def test_each_record_stands_once_while_leaders_of_both_kinds_change(kafka, tmp_path, capsys):
    with MixedCluster(tmp_path / "c", size_of(kafka)) as cluster:
        begin(cluster).create_topics([NewTopic(MADE, PARTITIONS, BROKERS)])
        cluster.await_that(lambda: is_whole(cluster), "all brokers are in sync")
        assert {state.leader for state in states(cluster)} == {0, 1, 2}, "each broker leads a partition"
        producers = Producers(cluster.bootstrap(), tmp_path)
        try:
            time.sleep(3)
            die_and_come_back(cluster, 1)
            die_and_come_back(cluster, 0)
            assert cluster.controller() in (1, 2), "a broker of Kafka gives ids of producers now"
            die_and_come_back(cluster, 2)
        finally:
            producers.stop()
        found = read(cluster.bootstrap(), ends(cluster))
        cluster.stop_all()
    assert producers.refused == [] and all(producers.sent.values())
    assert {value: place for place, value in found.items()}.items() >= producers.at.items()
    assert len(set(found.values())) == len(found), "nothing stands twice"
    for kind in ("python", "librdkafka"):
        values = sorted(producers.sent[kind], key=lambda value: int(value[1:]))
        assert once_in_order(found, values), kind
    assert conforms(tmp_path / "c", capsys)
