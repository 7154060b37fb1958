"""Settings of topics and brokers are told as they are; what would have no effect is refused; unclean elections may be
allowed by any broker. Topics that clients ask of are created, and sizes of logs are told.
"""

import json

import pytest
from confluent_kafka import Consumer, KafkaException, Producer
from confluent_kafka import TopicPartition as Place
from confluent_kafka.admin import AdminClient, AlterConfigOpType, ConfigEntry, ConfigResource, ResourceType
from kafka import KafkaProducer
from kafka.admin import KafkaAdminClient, NewTopic
from kafka.errors import PolicyViolationError

from kafkaproof.checker.commands.main import main
from kafkaproof.impl.harness.driving.cluster import TOPIC, Cluster, Size, wait_until

PATIENCE, SESSION = 120, 60.0
"""Seconds; so long that no session ends by itself, however busy the machine is."""
UNCLEAN = "unclean.leader.election.enable"


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    """Three brokers that create topics which are asked of."""
    size = Size(groups=True, auto_create=True, session_timeout=SESSION)
    with Cluster(tmp_path_factory.mktemp("configs"), size) as running:
        running.start_all()
        assert wait_until(lambda: running.is_whole() and len(running.bootstrap()) == 3)
        yield running


@pytest.fixture
def admin(cluster):
    client = KafkaAdminClient(bootstrap_servers=cluster.bootstrap())
    assert wait_until(lambda: TOPIC in client.list_topics())
    yield client
    client.close()


@pytest.fixture
def settings(cluster):
    """A client that has heard of the controller: librdkafka does not ask again when a broker has not."""
    client = AdminClient({"bootstrap.servers": ",".join(cluster.bootstrap()), "log_level": 0})

    def has_heard():
        try:
            return client.list_topics(timeout=PATIENCE).controller_id >= 0
        except KafkaException:  # the broker has not been told of any broker yet
            return False

    assert wait_until(has_heard)
    return client


def held(settings, name=TOPIC, kind=ResourceType.TOPIC):
    found = settings.describe_configs([ConfigResource(kind, name)])
    return {entry.name: entry.value for each in found.values() for entry in each.result(PATIENCE).values()}


def altered(settings, setting, value, name=TOPIC, kind=ResourceType.TOPIC):
    """The error with which a change is answered, None where it is made."""
    entry = ConfigEntry(setting, value, incremental_operation=AlterConfigOpType.SET)
    asked = settings.incremental_alter_configs([ConfigResource(kind, name, incremental_configs=[entry])])
    try:
        for each in asked.values():
            each.result(PATIENCE)
    except KafkaException as failure:
        return failure.args[0].name()
    return None


def test_a_topic_is_described_and_altered(cluster, settings, admin):
    assert held(settings)[UNCLEAN] == "false" and held(settings)["retention.ms"] == "-1"
    assert altered(settings, "retention.ms", "-1") is None and not cluster.operator.get_children("/config/changes")
    assert altered(settings, UNCLEAN, "true") is None
    assert held(settings)[UNCLEAN] == "true" and cluster.operator.get_children("/config/changes")
    assert altered(settings, "retention.ms", "1000") == "POLICY_VIOLATION"
    assert altered(settings, "no.such.setting", "1") == "INVALID_CONFIG"
    assert altered(settings, UNCLEAN, "true", "never-there") == "UNKNOWN_TOPIC_OR_PART"


def test_a_broker_is_described_and_not_altered(settings, admin):
    assert held(settings, "1", ResourceType.BROKER)["broker.id"] == "1"
    assert altered(settings, "log.cleaner.threads", "2", "1", ResourceType.BROKER) == "INVALID_REQUEST"


def test_settings_of_a_new_topic_are_those_that_hold(admin):
    with pytest.raises(PolicyViolationError):
        admin.create_topics([NewTopic("kept", 1, 3, topic_configs={"retention.ms": "1000"})])
    admin.create_topics([NewTopic("kept", 1, 3, topic_configs={"cleanup.policy": "delete"})])


def test_a_topic_that_is_asked_of_is_created(cluster, admin):
    producer = KafkaProducer(bootstrap_servers=cluster.bootstrap(), enable_idempotence=False)
    assert producer.send("asked-of", b"one").get(120).offset == 0
    producer.close()
    assert len(cluster.operator.get_children("/brokers/topics/asked-of/partitions")) == 1


def test_topics_have_ids_and_the_offsets_topic_is_internal(admin):
    found = {each["name"]: each for each in admin.describe_topics()}
    assert found["__consumer_offsets"]["is_internal"] and not found[TOPIC]["is_internal"]
    assert len({str(each["topic_id"]) for each in found.values()}) == len(found) > 2


def test_sizes_of_logs(cluster, admin):
    sizes = json.dumps(admin.describe_log_dirs(), default=str)
    assert "asked-of" in sizes and str(cluster.directory / "logs") in sizes


def test_kafka_python_takes_it_for_a_release_that_has_zstd(cluster):
    producer = KafkaProducer(bootstrap_servers=cluster.bootstrap(), enable_idempotence=False)
    assert producer.config["api_version"] >= (2, 1)
    producer.close()


def test_librdkafka_compresses_by_zstd(cluster):
    servers = {"bootstrap.servers": ",".join(cluster.bootstrap()), "log_level": 0, "group.id": "none"}
    producer, reports = Producer(servers | {"compression.type": "zstd", "enable.idempotence": False}), []
    producer.produce(TOPIC, b"z" * 1000, partition=0, on_delivery=lambda *report: reports.append(report))
    assert producer.flush(PATIENCE) == 0 and reports[0][0] is None
    consumer = Consumer(servers)
    consumer.assign([Place(TOPIC, 0, reports[0][1].offset())])
    assert consumer.poll(PATIENCE).value() == b"z" * 1000
    consumer.close()


def test_it_conforms(cluster, capsys):
    cluster.stop_all()
    assert main(["replay", "--json", str(cluster.directory)]) == 0
    assert json.loads(capsys.readouterr().out)["verdict"] == "conforms"
    assert main(["replay", "--json", str(cluster.directory / "zookeeper")]) == 0
