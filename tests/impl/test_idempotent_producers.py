"""Producers at their defaults, which are idempotent: nothing that is sent again stands twice."""

import json
import logging
import socket
import time

import pytest
from confluent_kafka import Producer
from kafka import KafkaConsumer, KafkaProducer, TopicPartition
from kafka.protocol.producer.produce import ProduceRequest, ProduceResponse
from kafka.protocol.producer.transaction import InitProducerIdRequest, InitProducerIdResponse

from kafkaproof.checker.commands.main import main
from kafkaproof.impl.harness.driving.cluster import TOPIC, Cluster, Size, wait_until
from kafkaproof.impl.harness.links.kafka import KafkaLink
from kafkaproof.impl.harness.links.rules import DROP, Rule
from kafkaproof.impl.protocol.wire import framed
from tests.impl import batches
from tests.impl.settled import in_sync

PATIENCE = 120
ALL, COORDINATOR_LOAD_IN_PROGRESS = -1, 14


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    """Three brokers and a partition, two of three replicas needed."""
    logging.getLogger("kafka").setLevel(logging.CRITICAL)
    size = Size(partitions=1, min_isr=2, session_timeout=60.0)
    with Cluster(tmp_path_factory.mktemp("idempotent"), size) as running:
        running.start_all()
        assert wait_until(running.is_whole)
        assert wait_until(lambda: len(state(running)["isr"]) == 3)
        yield running


def state(cluster):
    path = f"/brokers/topics/{TOPIC}/partitions/0/state"
    return json.loads(cluster.operator.get(path)[0]) if cluster.operator.exists(path) else {"isr": []}


def leader_of(cluster):
    return cluster.bootstrap()[state(cluster)["leader"]]


def values(cluster):
    """All values in the partition, in their order."""
    place = TopicPartition(TOPIC, 0)
    consumer = KafkaConsumer(bootstrap_servers=cluster.bootstrap(), group_id=None, consumer_timeout_ms=PATIENCE * 1000)
    consumer.assign([place])
    consumer.seek_to_beginning(place)
    end, found = consumer.end_offsets([place])[place], []
    while len(found) < end:
        found.append(next(consumer).value)
    consumer.close()
    return found


class Client:
    """One connection, on which requests are answered in their order."""

    def __init__(self, host, port):
        self._socket = socket.create_connection((host, port), timeout=PATIENCE)
        self._stream = self._socket.makefile("rb")

    def ask(self, request, answer, version):
        """The answer to a request; None where the connection breaks instead."""
        self._socket.sendall(framed(request, version, 1, "asking"))
        try:
            size = int.from_bytes(self._stream.read(4), "big")
        except ConnectionError:
            return None
        return answer[version].decode(self._stream.read(size), header=True) if size else None

    def produce(self, data):
        """The error and the offset of one batch, with acks=all."""
        topic = ProduceRequest.TopicProduceData
        partition = topic.PartitionProduceData(index=0, records=data)
        request = ProduceRequest(
            transactional_id=None,
            acks=ALL,
            timeout_ms=PATIENCE * 1000,
            topic_data=[topic(name=TOPIC, partition_data=[partition])],
        )
        answered = self.ask(request, ProduceResponse, 7)
        if answered is None:
            return None
        found = answered.responses[0].partition_responses[0]
        return found.error_code, found.base_offset

    def new_id(self):
        request = InitProducerIdRequest(transactional_id=None, transaction_timeout_ms=1000)
        until, found = time.monotonic() + PATIENCE, self.ask(request, InitProducerIdResponse, 1)
        while found.error_code == COORDINATOR_LOAD_IN_PROGRESS and time.monotonic() < until:
            time.sleep(0.1)
            found = self.ask(request, InitProducerIdResponse, 1)
        assert (found.error_code, found.producer_epoch) == (0, 0)
        return found.producer_id


def batch(producer, epoch, first, *values):
    return batches.batch(*values, producer=producer, epoch=epoch, first=first)


def asking(address):
    host, port = address.split(":")
    return Client(host, int(port))


def test_a_batch_whose_answer_was_lost_stands_once(cluster):
    host, port = leader_of(cluster).split(":")
    link = KafkaLink((host, int(port)))
    lost = link.add(Rule(DROP, {"part": "answer", "api": "Produce"}))
    client = asking(link.address)
    producer, before = client.new_id(), len(values(cluster))
    sent = batch(producer, 0, 0, b"once-0", b"once-1")
    assert client.produce(sent) is None and len(lost.taken) == 1
    again = asking(link.address)
    assert [again.produce(sent) for _ in range(2)] == [(0, before)] * 2
    assert again.produce(batch(producer, 0, 2, b"once-2")) == (0, before + 2)
    assert again.produce(batch(producer, 0, 5, b"too early"))[0] == 45
    assert again.produce(sent) == (0, before)
    assert again.produce(batch(producer, 1, 0, b"newer")) == (0, before + 3)
    assert again.produce(batch(producer, 0, 3, b"older"))[0] == 47
    link.close()
    assert values(cluster)[before:] == [b"once-0", b"once-1", b"once-2", b"newer"]


def test_another_leader_and_a_new_process_know_what_was_sent(cluster):
    assert wait_until(lambda: in_sync(cluster))
    former = state(cluster)["leader"]
    client = asking(leader_of(cluster))
    producer, before = client.new_id(), len(values(cluster))
    sent = batch(producer, 0, 0, b"kept")
    assert client.produce(sent) == (0, before)
    cluster.kill(former)
    cluster.expire(former)
    assert wait_until(lambda: state(cluster)["leader"] not in (former, -1))
    assert wait_until(lambda: asking(leader_of(cluster)).produce(sent) == (0, before))
    cluster.start(former)
    assert wait_until(lambda: in_sync(cluster))
    for b in {0, 1, 2} - {former}:
        cluster.kill(b)
        cluster.expire(b)
        assert wait_until(lambda b=b: state(cluster)["leader"] not in (b, -1))
        cluster.start(b)
        assert wait_until(lambda: in_sync(cluster))
    assert wait_until(lambda: asking(leader_of(cluster)).produce(sent) == (0, before))
    assert values(cluster).count(b"kept") == 1


def test_each_broker_gives_ids_of_its_own(cluster):
    ids = [asking(address).new_id() for address in cluster.bootstrap() for _ in range(3)]
    assert len(set(ids)) == len(ids)
    block = json.loads(cluster.operator.get("/latest_producer_id_block")[0])
    assert block["version"] == 1 and int(block["block_end"]) - int(block["block_start"]) == 999
    assert max(ids) <= int(block["block_end"])


def test_producers_at_their_defaults_while_a_leader_dies(cluster):
    assert wait_until(lambda: in_sync(cluster))
    before, died = len(values(cluster)), state(cluster)["leader"]
    python = KafkaProducer(bootstrap_servers=cluster.bootstrap())
    librdkafka = Producer(
        {"bootstrap.servers": ",".join(cluster.bootstrap()), "log_level": 0, "enable.idempotence": True}
    )
    reports, sent = [], []
    for n in range(60):
        sent.append(python.send(TOPIC, b"p%d" % n, partition=0))
        librdkafka.produce(TOPIC, b"r%d" % n, partition=0, on_delivery=lambda *report: reports.append(report))
        if n == 30:
            python.flush()
            cluster.kill(died)
            cluster.expire(died)
    assert librdkafka.flush(PATIENCE) == 0 and all(error is None for error, _ in reports)
    assert all(each.get(PATIENCE) for each in sent)
    python.close()
    cluster.start(died)
    assert wait_until(lambda: in_sync(cluster))
    found = values(cluster)[before:]
    assert [each for each in found if each.startswith(b"p")] == [b"p%d" % n for n in range(60)]
    assert [each for each in found if each.startswith(b"r")] == [b"r%d" % n for n in range(60)]


def test_what_ran_conforms(cluster):
    cluster.stop_all()
    assert main(["replay", str(cluster.directory)]) == 0
