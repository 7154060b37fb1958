"""Static members of unmodified clients (KIP-345) take the place of their former selves without a rebalance, and clients of
releases before KIP-394 join at once; groups are deleted. All of it conforms.
"""

import json

import pytest
from confluent_kafka import Consumer, KafkaError, KafkaException
from confluent_kafka.admin import AdminClient
from kafka import KafkaConsumer

from kafkaproof.checker.commands.main import main
from kafkaproof.impl.harness.driving.cluster import TOPIC, Cluster, Size, wait_until
from tests.impl.settled import producer_to

PATIENCE, SESSION = 120, 60.0
"""Seconds; so long that no session ends by itself, however busy the machine is."""
GROUP, OLD_GROUP, ME = "static", "old", "me"


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    """Three brokers with group coordinators, and some records."""
    with Cluster(tmp_path_factory.mktemp("static"), Size(session_timeout=SESSION, groups=True)) as running:
        running.start_all()
        assert wait_until(lambda: running.is_whole() and len(running.bootstrap()) == 3)
        producer = producer_to(running, TOPIC, 2, enable_idempotence=False)
        for n in range(6):
            producer.send(TOPIC, b"%d" % n, partition=n % 2).get(PATIENCE)
        producer.close()
        yield running


def consumer(cluster, instance):
    found = Consumer(
        {
            "bootstrap.servers": ",".join(cluster.bootstrap()),
            "group.id": GROUP,
            "group.instance.id": instance,
            "session.timeout.ms": 60_000,
            "enable.auto.commit": False,
            "auto.offset.reset": "earliest",
            "log_level": 0,
        }
    )
    found.subscribe([TOPIC])
    return found


def described(cluster):
    admin = AdminClient({"bootstrap.servers": ",".join(cluster.bootstrap()), "log_level": 0})
    return admin.describe_consumer_groups([GROUP])[GROUP].result(PATIENCE)


def reads(member, count):
    """Read so many records, and commit the last."""
    found = []
    while len(found) < count:
        message = member.poll(PATIENCE)
        assert message is not None and not message.error(), message and message.error()
        found.append(message.value())
    member.commit(asynchronous=False)
    return found


def failed(member):
    """The error with which a member ends."""
    for _ in range(PATIENCE):
        try:
            message = member.poll(1.0)
            member.commit(asynchronous=False)
        except KafkaException as failure:
            if failure.args[0].code() in (KafkaError._FATAL, KafkaError.FENCED_INSTANCE_ID):
                return KafkaError.FENCED_INSTANCE_ID
            continue
        if message is not None and message.error() and message.error().fatal():
            return message.error().code()
    return None


def test_a_static_member_comes_again_and_fences_the_former(cluster):
    first = consumer(cluster, ME)
    assert sorted(reads(first, 6)) == [b"%d" % n for n in range(6)]
    (member,) = described(cluster).members
    assert member.group_instance_id == ME and member.member_id.startswith(f"{ME}-")
    second = consumer(cluster, ME)
    assert wait_until(lambda: second.poll(0.2) is None and len(second.assignment()) == 2)
    (another,) = described(cluster).members
    assert another.group_instance_id == ME and another.member_id != member.member_id
    assert failed(first) == KafkaError.FENCED_INSTANCE_ID
    for each in (first, second):
        each.close()
    assert [each.group_instance_id for each in described(cluster).members] == [ME], "a static member does not leave"


def test_another_static_member_shares(cluster):
    both = consumer(cluster, ME), consumer(cluster, "you")

    def is_shared():
        for each in both:
            each.poll(0.2)
        return [len(each.assignment()) for each in both] == [1, 1]

    assert wait_until(is_shared)
    assert {each.group_instance_id for each in described(cluster).members} == {ME, "you"}
    for each in both:
        each.close()


def test_a_client_of_a_release_before_member_ids_were_required(cluster):
    old = KafkaConsumer(
        TOPIC,
        bootstrap_servers=cluster.bootstrap(),
        group_id=OLD_GROUP,
        api_version=(1, 0),
        auto_offset_reset="earliest",
        consumer_timeout_ms=PATIENCE * 1000,
    )
    assert {next(old).value for _ in range(6)} == {b"%d" % n for n in range(6)}
    old.close()


def test_an_empty_group_is_deleted(cluster):
    admin = AdminClient({"bootstrap.servers": ",".join(cluster.bootstrap()), "log_level": 0})
    listed = lambda: {each.group_id for each in admin.list_consumer_groups().result(PATIENCE).valid}  # noqa: E731
    assert listed() >= {GROUP, OLD_GROUP}
    admin.delete_consumer_groups([OLD_GROUP])[OLD_GROUP].result(PATIENCE)
    for name, error in ((OLD_GROUP, KafkaError.GROUP_ID_NOT_FOUND), (GROUP, KafkaError.NON_EMPTY_GROUP)):
        with pytest.raises(KafkaException) as failure:
            admin.delete_consumer_groups([name])[name].result(PATIENCE)
        assert failure.value.args[0].code() == error
    assert OLD_GROUP not in listed()


def test_the_new_consumer_protocol_is_refused(cluster):
    servers = ",".join(cluster.bootstrap())
    new = Consumer({"bootstrap.servers": servers, "group.id": "new", "group.protocol": "consumer", "log_level": 0})
    new.subscribe([TOPIC])
    message = new.poll(PATIENCE)
    assert message is not None and message.error().code() == KafkaError._FATAL
    new.close()


def test_it_conforms(cluster, capsys):
    cluster.stop_all()
    assert main(["replay", "--json", str(cluster.directory)]) == 0
    report = json.loads(capsys.readouterr().out)
    assert (report["verdict"], report["violations"]) == ("conforms", [])
    assert report["transitions"]["deletion.delete_group"] >= 1 and report["transitions"]["deletion.bury"] >= 1
    assert report["transitions"]["static.static_join"] >= 2 and report["transitions"]["static.static_stored"] >= 1
