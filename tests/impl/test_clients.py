"""Unmodified clients of two makers produce and consume while brokers die, and lose nothing that was acknowledged."""

import json
import logging
import time

import pytest
from confluent_kafka import Consumer, KafkaException, Producer
from confluent_kafka import TopicPartition as Place
from confluent_kafka.admin import AdminClient
from confluent_kafka.admin import NewTopic as Wanted
from kafka import KafkaConsumer, TopicPartition
from kafka.admin import KafkaAdminClient, NewTopic
from kafka.errors import (
    InvalidPartitionsError,
    InvalidReplicationFactorError,
    InvalidTopicError,
    TopicAlreadyExistsError,
    UnknownTopicOrPartitionError,
)

from kafkaproof.checker.commands.main import main
from kafkaproof.impl.harness.driving.cluster import TOPIC, Cluster, Size, wait_until
from kafkaproof.impl.harness.driving.load import Load
from tests.impl.settled import await_watches, in_sync, producer_to

PATIENCE = 120
SESSION = 60.0
"""So long that no session ends by itself, however busy the machine is."""


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    """Three brokers, two partitions, two of three replicas needed."""
    logging.getLogger("kafka").setLevel(logging.CRITICAL)
    with Cluster(tmp_path_factory.mktemp("clients"), Size(min_isr=2, session_timeout=SESSION)) as running:
        running.start_all()
        assert wait_until(running.is_whole)
        assert wait_until(lambda: all(len(state(running, p)["isr"]) == 3 for p in range(2)))
        yield running


def state(cluster, p, topic=TOPIC):
    path = f"/brokers/topics/{topic}/partitions/{p}/state"
    return json.loads(cluster.operator.get(path)[0]) if cluster.operator.exists(path) else {"isr": []}


def bystander(cluster):
    """A broker that neither leads nor rules; the controller is deposed until there is one."""
    while not (free := {0, 1, 2} - {state(cluster, 0)["leader"], state(cluster, 1)["leader"], cluster.controller()}):
        await_watches(cluster)
        cluster.delete_controller()
        assert wait_until(lambda: cluster.controller() is not None)
    return free.pop()


def test_kafka_python(cluster):
    producer = producer_to(cluster, TOPIC, 2, acks="all")
    sent = [producer.send(TOPIC, value=b"%d" % n, key=b"%d" % n, timestamp_ms=1000 + n) for n in range(40)]
    written = {(m.partition, m.offset): b"%d" % n for n, m in enumerate(f.get(PATIENCE) for f in sent)}
    producer.close()
    consumer = KafkaConsumer(bootstrap_servers=cluster.bootstrap(), group_id=None, auto_offset_reset="earliest")
    places = [TopicPartition(TOPIC, p) for p in range(2)]
    consumer.assign(places)
    ends = consumer.end_offsets(places)
    read, until = {}, time.monotonic() + PATIENCE
    while any(consumer.position(place) < end for place, end in ends.items()) and time.monotonic() < until:
        for records in consumer.poll(timeout_ms=500).values():
            read.update({(r.partition, r.offset): r.value for r in records})
    assert written.items() <= read.items() and {p for p, _ in written} == {0, 1}
    assert set(read.values()) == set(written.values()), "what is there more than once was sent again"
    assert set(read) >= {(place.partition, offset) for place, end in ends.items() for offset in range(end)}
    early = consumer.offsets_for_times(dict.fromkeys(places, 0))
    assert all(found.offset == 0 for found in early.values())
    assert set(consumer.offsets_for_times(dict.fromkeys(places, 9_999_999)).values()) == {None}
    consumer.close()


def test_librdkafka(cluster):
    servers = {"bootstrap.servers": ",".join(cluster.bootstrap()), "log_level": 0}
    producer, reports = Producer(servers | {"acks": "all"}), []
    for n in range(40):
        producer.produce(TOPIC, b"r%d" % n, partition=n % 2, on_delivery=lambda *report: reports.append(report))
    assert producer.flush(PATIENCE) == 0
    assert len(reports) == 40 and all(error is None for error, _ in reports)
    consumer = Consumer(servers | {"group.id": "none", "enable.auto.commit": False})
    consumer.assign([Place(TOPIC, p, min(m.offset() for _, m in reports if m.partition() == p)) for p in range(2)])
    wanted, read, until = {b"r%d" % n for n in range(40)}, set(), time.monotonic() + PATIENCE
    while not wanted <= read and time.monotonic() < until:
        message = consumer.poll(1.0)
        if message is not None and not message.error():
            read.add(message.value())
    consumer.close()
    assert wanted <= read


def test_kafka_python_creates_a_topic(cluster):
    servers = {"bootstrap_servers": cluster.bootstrap()}
    admin = KafkaAdminClient(**servers)
    admin.create_topics([NewTopic("only-asked", 2, 3)], validate_only=True)
    admin.create_topics([NewTopic("made", 2, 3)], timeout_ms=PATIENCE * 1000)
    assert wait_until(lambda: set(admin.list_topics()) == {TOPIC, "made"})
    for error, wrong in (
        (TopicAlreadyExistsError, NewTopic("made", 1, 3)),
        (InvalidTopicError, NewTopic("a b", 1, 3)),
        (InvalidPartitionsError, NewTopic("none", 0, 3)),
        (InvalidReplicationFactorError, NewTopic("wide", 1, 4)),
    ):
        with pytest.raises(error):
            admin.create_topics([wrong])
    admin.close()
    producer = producer_to(cluster, "made", 2, acks="all")
    found = [producer.send("made", b"%d" % n, partition=n % 2).get(PATIENCE) for n in range(6)]
    producer.close()
    assert [(m.topic, m.partition) for m in found] == [("made", n % 2) for n in range(6)]
    consumer = KafkaConsumer(
        "made", group_id=None, auto_offset_reset="earliest", consumer_timeout_ms=PATIENCE * 1000, **servers
    )
    wanted = {b"%d" % n for n in range(6)}
    while wanted:
        wanted.discard(next(consumer).value)
    consumer.close()


def created(admin, name):
    """Whether a topic is there, perhaps since an attempt whose answer was lost."""
    try:
        admin.create_topics([Wanted(name, 1, 2)], request_timeout=10)[name].result(PATIENCE)
    except KafkaException as failure:
        return failure.args[0].name() == "TOPIC_ALREADY_EXISTS"
    return True


def test_librdkafka_creates_a_topic_while_controllers_die(cluster):
    servers = {"bootstrap.servers": ",".join(cluster.bootstrap()), "log_level": 0}
    admin, former = AdminClient(servers | {"topic.metadata.refresh.interval.ms": 2_000}), cluster.controller()
    assert admin.list_topics(timeout=PATIENCE).controller_id == former
    cluster.kill(former)
    cluster.expire(former)
    assert wait_until(lambda: created(admin, "late"))
    assert wait_until(lambda: cluster.controller() not in (None, former))
    cluster.start(former)
    assert wait_until(lambda: cluster.is_whole() and len(state(cluster, 0, "late")["isr"]) == 2)
    producer, reports = Producer(servers | {"acks": "all"}), []
    producer.produce("late", b"here", on_delivery=lambda *report: reports.append(report))
    assert producer.flush(PATIENCE) == 0 and reports[0][0] is None
    consumer = Consumer(servers | {"group.id": "none", "enable.auto.commit": False})
    consumer.assign([Place("late", 0, 0)])
    read, until = None, time.monotonic() + PATIENCE
    while read is None and time.monotonic() < until:
        message = consumer.poll(1.0)
        read = message.value() if message is not None and not message.error() else None
    consumer.close()
    assert read == b"here"


def is_gone(cluster, topic):
    """Whether nothing is left of a topic, in ZooKeeper and on the disks of brokers."""
    paths = (f"/brokers/topics/{topic}", f"/config/topics/{topic}", f"/admin/delete_topics/{topic}")
    return not any(cluster.operator.exists(path) for path in paths)


def logs(cluster):
    """The logs that brokers have of topics that were created."""
    return {path.name for path in cluster.directory.glob("logs/broker-*/place-*")}


def test_kafka_python_deletes_a_topic(cluster):
    servers = {"bootstrap_servers": cluster.bootstrap()}
    admin = KafkaAdminClient(**servers)
    consumer = KafkaConsumer(group_id=None, enable_auto_commit=False, **servers)
    assert logs(cluster) >= {"place-2", "place-3"}
    admin.delete_topics(["made"], timeout_ms=PATIENCE * 1000)
    assert wait_until(lambda: "made" not in admin.list_topics()), "the answer waits for the controller's metadata alone"
    assert wait_until(lambda: is_gone(cluster, "made")) and not logs(cluster) & {"place-2", "place-3"}
    for wrong in ("made", "never-there"):
        with pytest.raises(UnknownTopicOrPartitionError):
            admin.delete_topics([wrong])
    assert not consumer.partitions_for_topic("made")
    admin.create_topics([NewTopic("made", 1, 3)], timeout_ms=PATIENCE * 1000)
    place = TopicPartition("made", 0)
    assert wait_until(lambda: consumer.partitions_for_topic("made") == {0})
    assert consumer.end_offsets([place]) == {place: 0}, "what was in the deleted topic is not in the new one"
    consumer.close()
    admin.close()


def deleted(admin, name):
    """Whether a topic is to be deleted, or was, perhaps by an attempt whose answer was lost."""
    try:
        admin.delete_topics([name], request_timeout=10)[name].result(PATIENCE)
    except KafkaException as failure:
        return failure.args[0].name() == "UNKNOWN_TOPIC_OR_PART"
    return True


def test_librdkafka_deletes_a_topic_while_controllers_die(cluster):
    admin = AdminClient({"bootstrap.servers": ",".join(cluster.bootstrap()), "log_level": 0})
    former = cluster.controller()
    holder = next(b for b in state(cluster, 0, "late")["isr"] if b != former)
    cluster.kill(holder)
    assert wait_until(lambda: deleted(admin, "late"))
    cluster.expire(holder)
    cluster.kill(former)
    cluster.expire(former)
    assert wait_until(lambda: cluster.controller() not in (None, former))
    assert not is_gone(cluster, "late"), "it waits for brokers that have a replica"
    for broker in (former, holder):
        cluster.start(broker)
    assert wait_until(lambda: cluster.is_whole() and is_gone(cluster, "late"))
    assert wait_until(lambda: "late" not in admin.list_topics(timeout=PATIENCE).topics)


def test_nothing_that_was_acknowledged_is_lost_when_leaders_die(cluster, capsys):
    load = Load(cluster.bootstrap, TOPIC, 2)
    assert wait_until(lambda: load.acknowledged > 5 and len(state(cluster, 0)["isr"]) == 3)
    lagging = bystander(cluster)
    cluster.pause(lagging)
    assert wait_until(lambda: lagging not in state(cluster, 0)["isr"])
    cluster.resume(lagging)
    assert wait_until(lambda: len(state(cluster, 0)["isr"]) == 3)
    for _ in range(2):
        assert wait_until(lambda: in_sync(cluster))
        leader = state(cluster, 0)["leader"]
        cluster.kill(leader)
        cluster.expire(leader)
        assert wait_until(lambda leader=leader: state(cluster, 0)["leader"] not in (-1, leader))
        known = load.acknowledged
        assert wait_until(lambda known=known: load.acknowledged > known + 3)
        cluster.start(leader)
    assert wait_until(lambda: in_sync(cluster))
    load.stop()
    verdict = load.read_all(cluster.check)
    assert verdict.lost == [] and verdict.acknowledged > 10
    cluster.stop_all()
    assert main(["replay", "--json", str(cluster.directory)]) == 0
    report = json.loads(capsys.readouterr().out)
    assert (report["verdict"], report["violations"]) == ("conforms", [])
    assert {"data_plane.produce", "data_plane.consume", "data_plane.expand_isr"} <= report["transitions"].keys()
    assert report["transitions"]["creation.topic_change"] >= 1
    assert report["transitions"]["deletion.delete_marker"] >= 1
    assert main(["replay", "--json", str(cluster.directory / "zookeeper")]) == 0
