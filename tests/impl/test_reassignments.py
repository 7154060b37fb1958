"""A partition is moved to other brokers with its data, by writes in the order that Kafka has, whoever dies."""

import json
import sys
from pathlib import Path

import pytest
from kafka import KafkaConsumer, KafkaProducer, TopicPartition
from kafka.admin import KafkaAdminClient

from kafkaproof.checker.commands.main import main
from kafkaproof.impl.harness.driving.child import BrokerChild
from kafkaproof.impl.harness.driving.cluster import TOPIC, Cluster, Size, wait_until
from kafkaproof.impl.seams.zookeeper.request_znodes import Reassignment
from kafkaproof.impl.seams.zookeeper.znodes import State, Topic
from kafkaproof.traces.reading.recording import read_recording
from kafkaproof.traces.zookeeper.transactions import Create, Delete, SetData
from kafkaproof.traces.zookeeper.znodes.json_parts import entries_in
from tests.traces.processes import recordings as recorded

PATIENCE, SESSION = 120, 60.0
PLACE = TopicPartition(TOPIC, 0)
RECORDED = Path(__file__).parents[2] / "traces" / "recordings" / "3.9.1-reassign"


@pytest.fixture
def cluster(tmp_path):
    """Three brokers, one partition on two of them."""
    with Cluster(tmp_path, Size(replicas=2, partitions=1, session_timeout=SESSION)) as running:
        running.start_all()
        assert wait_until(lambda: running.is_whole() and in_sync(running) == {0, 1}, PATIENCE)
        yield running


def in_sync(cluster):
    """The ISR of the partition; who came up after its first election has yet to join it."""
    path = State.path_of(TOPIC, 0)
    return set(State.decode(cluster.operator.get(path)[0]).isr) if cluster.operator.exists(path) else set()


def topic(cluster):
    """The topic znode, without its id."""
    return Topic.decode(cluster.operator.get(Topic.path_of(TOPIC))[0])._replace(id="")


def is_over(cluster, *replicas):
    """Whether a reassignment to these brokers has come to its end."""
    settled = Topic((replicas,))
    return topic(cluster) == settled and not cluster.operator.exists(Reassignment.path)


def produce(cluster, values):
    producer = KafkaProducer(bootstrap_servers=cluster.bootstrap(), acks="all", enable_idempotence=False)
    for value in values:
        producer.send(TOPIC, value, partition=0).get(PATIENCE)
    producer.close()


def read(cluster, count):
    consumer = KafkaConsumer(bootstrap_servers=cluster.bootstrap(), group_id=None)
    consumer.assign([PLACE])
    consumer.seek_to_beginning(PLACE)
    found = []
    assert wait_until(lambda: len(found.extend(consumer.poll(500).get(PLACE, [])) or found) >= count, PATIENCE)
    consumer.close()
    return [record.value for record in found]


def logs(cluster):
    """The brokers that have a log of the partition."""
    return {int(path.parent.name[-1]) for path in cluster.directory.glob(f"logs/broker-*/{TOPIC}-0")}


def listed(cluster, wanted=None):
    """What a client is told of reassignments."""
    admin = KafkaAdminClient(bootstrap_servers=[f"127.0.0.1:{cluster.children[cluster.controller()].port}"])
    try:
        return admin.list_partition_reassignments(wanted)
    finally:
        admin.close()


def replayed(cluster, capsys):
    """What the replays of the processes, and of ZooKeeper's log alone, have found."""
    cluster.stop_all()
    for what in (cluster.directory, cluster.directory / "zookeeper"):
        assert main(["replay", "--json", str(what)]) == 0
        report = json.loads(capsys.readouterr().out)
        assert (report["verdict"], report["violations"]) == ("conforms", [])
        yield report


def writes(directory: Path, name: str, partition: int):
    """What was written of a partition from a request to reassign it on, until the request is gone, in words."""
    found, state, assigned, asked = [], None, None, False
    for transaction in read_recording(directory).transactions:
        for operation in () if transaction.failed else transaction.operations:
            path, data = getattr(operation, "path", ""), getattr(operation, "data", b"")
            if path == Reassignment.path and isinstance(operation, Create):
                asked = True
            elif path == Reassignment.path and isinstance(operation, Delete):
                return [*found, "request deleted"]
            elif path == State.path_of(name, partition) and data:
                before, state = state, State.decode(data)
                if asked:
                    found.append((state.leader, set(state.isr), state.leader_epoch - before.leader_epoch))
            elif path == Topic.path_of(name) and isinstance(operation, SetData):
                now = Topic.decode(data)
                before, assigned = (
                    assigned,
                    (
                        now.assignments[partition],
                        dict(now.adding).get(partition, ()),
                        dict(now.removing).get(partition, ()),
                    ),
                )
                if asked and before != assigned:
                    found.append(assigned)
    return found


def order(written):
    """What came after what: an assignment, a state with its leader epoch raised or not, the request's end."""
    return [
        each if isinstance(each, str) else "assignment" if isinstance(each[1], tuple) else f"epoch +{each[2]}"
        for each in written
    ]


def test_a_partition_moves_with_its_data(cluster, capsys):
    values = [b"%d" % n for n in range(30)]
    produce(cluster, values)
    leader = State.decode(cluster.operator.get(State.path_of(TOPIC, 0))[0]).leader
    stays = 1 - leader
    cluster.reassign(0, [2, stays])
    assert wait_until(lambda: is_over(cluster, 2, stays), PATIENCE)
    produce(cluster, [b"behind"])
    assert read(cluster, 31) == [*values, b"behind"]
    assert listed(cluster) == {}
    assert wait_until(lambda: logs(cluster) == {stays, 2}, PATIENCE), "the log of the removed replica is deleted"
    processes, _ = replayed(cluster, capsys)
    assert processes["transitions"]["reassignment.stop_replica"] == 1
    written = writes(cluster.directory / "zookeeper", TOPIC, 0)
    assert written[0] == ((2, stays, leader), (2,), (leader,)) and written[1] == (leader, {0, 1}, 1)
    assert written[-4:] == [(2, {0, 1, 2}, 1), (2, {stays, 2}, 1), ((2, stays), (), ()), "request deleted"]
    assert order(written) == order(writes(RECORDED, "r2", 1)), "as 3.9.1 does"


def test_partitions_that_one_request_lists_move_one_after_another(tmp_path, capsys):
    with Cluster(tmp_path, Size(replicas=2, partitions=2, session_timeout=SESSION)) as running:
        running.start_all()
        assert wait_until(running.is_whole, PATIENCE)
        targets = {(TOPIC, 0): (2, 1), (TOPIC, 1): (2, 0), ("never-there", 0): (1,)}
        running.operator.create(Reassignment.path, Reassignment(targets).encode())
        moved = Topic(((2, 1), (2, 0)))
        assert wait_until(lambda: topic(running) == moved and not running.operator.exists(Reassignment.path), PATIENCE)
        processes, _ = replayed(running, capsys)
        assert processes["transitions"]["admin_requests.delete_request"] == 3
        left = [
            list(entries_in(operation.data))
            for transaction in read_recording(tmp_path / "zookeeper").transactions
            for operation in transaction.operations
            if isinstance(operation, SetData) and operation.path == Reassignment.path
        ]
        assert set(left[0]) == {(TOPIC, 0), (TOPIC, 1)} and len(left) == 2, "what there is not goes first"


def test_it_goes_on_when_the_new_replica_and_the_controller_die(cluster, capsys):
    values = [b"%d" % n for n in range(10)]
    produce(cluster, values)
    cluster.kill(2)
    cluster.expire(2)
    assert wait_until(lambda: 2 not in cluster.registered(), PATIENCE)
    cluster.reassign(0, [2, 1])
    assert wait_until(lambda: topic(cluster).adding == ((0, (2,)),), PATIENCE)
    assert (
        listed(cluster)
        == listed(cluster, [PLACE])
        == {PLACE: {"replicas": [2, 1, 0], "adding_replicas": [2], "removing_replicas": [0]}}
    )
    assert listed(cluster, [TopicPartition("other", 0)]) == {}
    former = cluster.controller()
    cluster.hold(former, "write_target")
    cluster.start(2)
    assert wait_until(lambda: cluster.children[former].stopped, PATIENCE)
    assert topic(cluster).removing == ((0, (0,)),), "it is held right before the last write"
    cluster.kill(former)
    cluster.expire(former)
    assert wait_until(lambda: cluster.controller() not in (None, former), PATIENCE)
    cluster.start(former)
    assert wait_until(lambda: cluster.is_whole() and is_over(cluster, 2, 1), PATIENCE)
    assert read(cluster, 10) == values
    assert all(True for _ in replayed(cluster, capsys))


def altered(cluster, wanted):
    """What the controller answers to a request for reassignments, by partition: an error's name, or None."""
    admin = KafkaAdminClient(bootstrap_servers=[f"127.0.0.1:{cluster.children[cluster.controller()].port}"])
    try:
        found = admin.alter_partition_reassignments(wanted)
        return {place: error and error.__name__ for place, error in found.items()}
    finally:
        admin.close()


def test_an_administrator_asks_the_controller(tmp_path, capsys):
    other, third = TopicPartition(TOPIC, 1), TopicPartition("never-there", 0)
    with Cluster(tmp_path, Size(replicas=2, partitions=2, session_timeout=SESSION)) as running:
        running.start_all()
        assert wait_until(running.is_whole, PATIENCE)
        before = topic(running)
        assert altered(running, {PLACE: None, other: [1, 1], third: [1]}) == {
            PLACE: "NoReassignmentInProgressError",
            other: "InvalidReplicationAssignmentError",
            third: "UnknownTopicOrPartitionError",
        }
        assert topic(running) == before, "nothing is written for what is refused"
        ruler = running.controller()
        stays, lags = (b for b in range(3) if b != ruler)
        wanted = (ruler, stays)
        assert altered(running, {PLACE: wanted, other: wanted}) == {PLACE: None, other: None}
        assert wait_until(lambda: topic(running) == Topic((wanted, wanted)), PATIENCE)
        running.cut_links(lags)
        assert altered(running, {other: [ruler, lags]}) == {other: None}
        assert listed(running)[other]["adding_replicas"] == [lags]
        assert altered(running, {other: [lags, stays]}) == {other: None}, "another request replaces it"
        assert listed(running)[other] == {
            "replicas": [lags, stays, ruler],
            "adding_replicas": [lags],
            "removing_replicas": [ruler],
        }
        assert altered(running, {other: None, PLACE: None}) == {other: None, PLACE: "NoReassignmentInProgressError"}
        assert listed(running) == {} and set(topic(running).assignments[1]) == set(wanted)
        running.mend_links(lags)
        processes, _ = replayed(running, capsys)
        assert processes["transitions"]["admin_requests.alter_reassignment"] == 7


def test_a_request_of_an_administrator_takes_the_place_of_one_in_zookeeper(cluster, capsys):
    ruler = cluster.controller()
    stays, lags = (b for b in range(3) if b != ruler)
    altered(cluster, {PLACE: [ruler, stays]})
    assert wait_until(lambda: is_over(cluster, ruler, stays), PATIENCE)
    cluster.cut_links(lags)
    cluster.reassign(0, [lags, stays])
    assert wait_until(lambda: topic(cluster).adding == ((0, (lags,)),), PATIENCE)
    assert altered(cluster, {PLACE: None}) == {PLACE: None}
    assert not cluster.operator.exists(Reassignment.path)
    assert set(topic(cluster).assignments[0]) == {ruler, stays}
    cluster.mend_links(lags)
    assert all(True for _ in replayed(cluster, capsys))


@pytest.mark.parametrize(
    "name, step", (("isr-not-awaited", "reassignment.check_reassignment"), ("removed-in-isr", "control.write_leader"))
)
def test_a_mistaken_controller_diverges_where_it_is_mistaken(tmp_path, monkeypatch, name, step):
    monkeypatch.setattr(BrokerChild, "program", (sys.executable, "-m", "tests.impl.mistaken_broker", name))
    with Cluster(tmp_path, Size(brokers=2, replicas=1, partitions=1, session_timeout=SESSION)) as running:
        running.start_all()
        assert wait_until(running.is_whole, PATIENCE)
        running.reassign(0, [1])
        assert wait_until(lambda: is_over(running, 1), PATIENCE)
        running.stop_all()
    divergence = recorded.replayed(tmp_path).divergence
    assert divergence is not None
    assert f" {step}(" in divergence[0], divergence
