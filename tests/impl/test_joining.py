"""A ZooKeeper that is in use: brokers of ours go on with what is there, or say why not before anything is written."""

import json
from contextlib import closing
from dataclasses import replace

import pytest
from kafka import KafkaConsumer, TopicPartition
from kafka.admin import KafkaAdminClient, NewTopic
from kazoo.exceptions import NoNodeError

from kafkaproof.checker.commands.main import main
from kafkaproof.impl.harness.driving.cluster import Cluster, Size
from kafkaproof.impl.harness.driving.joining import (
    UNCLEAN,
    Found,
    _require_no_quorum,
    _unclean,
    joined,
    look_at,
    told_of,
)
from kafkaproof.impl.harness.driving.zookeeper_server import Keeper
from kafkaproof.impl.harness.real.cluster import KafkaCluster
from kafkaproof.impl.seams.zookeeper.partition_numbers import OFFSETS_TOPIC
from kafkaproof.impl.seams.zookeeper.znodes import CLIENTS, INNER, BrokerId, State, Topic
from kafkaproof.spec.errors import UserError
from tests.impl.settled import producer_to

OURS = Size(ids=(1, 5, 7), groups=True)
ORDERS = Topic(((1, 5), (5, 9), (7, 1)), "opguTbXnTuWgAF4_b1tylQ")
REGISTERED = {2: BrokerId("127.0.0.1", 1, 2).encode()}
PATIENCE = 60


def found(topics, registered=None, states=None):
    return Found("zk:1", topics, states or {}, registered or {}, "3.9")


def test_the_brokers_in_assignments_that_are_there_are_known():
    size = joined(OURS, found({"orders": ORDERS, OFFSETS_TOPIC: Topic(((1, 5, 7),))}, REGISTERED))
    assert (size.partitions, size.groups, size.others) == (0, True, (2, 9))
    assert size.places.offsets == 0 and size.places.is_further(1)


def test_an_offsets_topic_of_several_partitions_is_a_topic_like_others():
    there = found({OFFSETS_TOPIC: Topic(((1,),) * 50)})
    size = joined(OURS, there)
    assert not size.groups and size.standing == 0 and "no groups" in told_of(there, size)


@pytest.mark.parametrize(
    ("there", "why"),
    [
        (found({"orders": ORDERS}, {5: REGISTERED[2]}), "broker 5 is registered there; stop it, or give other --ids"),
        (found({"many": Topic((tuple(range(10, 17)),))}), "these are more than 9, the most"),
        (found({}, {2: b'{"endpoints":["PLAINTEXT://h:1"]}'}), "broker 2 is registered without a listener REPLICATION"),
    ],
)
def test_what_our_brokers_cannot_go_on_with_is_refused(there, why):
    with pytest.raises(UserError, match=why):
        joined(OURS, there)


@pytest.mark.parametrize(
    ("migration", "controller", "rules"),
    [
        (
            {"kraft_controller_id": 3000, "kraft_metadata_offset": 41},
            None,
            "/migration says that the KRaft controller 3000",
        ),
        (None, {"brokerid": 3001, "kraftControllerEpoch": 5}, "/controller says that the KRaft controller 3001"),
        ({"kraft_controller_id": -1, "kraft_metadata_offset": -1}, {"brokerid": 1, "kraftControllerEpoch": -1}, None),
        (None, None, None),
    ],
)
def test_a_zookeeper_that_a_quorum_rules_is_refused(migration, controller, rules):
    data = [None if each is None else json.dumps(each).encode() for each in (migration, controller)]
    if rules is None:
        return _require_no_quorum("zk:1", *data)
    with pytest.raises(UserError, match=rules):
        _require_no_quorum("zk:1", *data)


IN_SYNC = {
    "all of ours, and none of ours": ((1, 5), (9,), (9,)),
    "one of ours, and the leader does not run": ((9,), (9, 5), (9,)),
    "one of ours behind a leader that runs": ((9,), (2, 5), (9,)),
}


@pytest.mark.parametrize("isrs", IN_SYNC.values(), ids=IN_SYNC)
def test_what_a_broker_of_ours_could_lead_without_the_records_needs_an_option(isrs):
    states = {("orders", p): State(isr[0], isr, 0, 1) for p, isr in enumerate(isrs)}
    there = found({"orders": ORDERS}, REGISTERED, states=states)
    risky = 0 if 1 in isrs[0] else 1
    with pytest.raises(UserError, match=rf"zk:1: 1 partitions \(orders-{risky}\) may be led by 1, 5, 7.*--empty-logs$"):
        joined(OURS, there)
    assert "1 of them may be led by ours, without their records" in told_of(there, joined(OURS, there, empty_logs=True))


@pytest.mark.parametrize("isr", [(2,), (9,)], ids=["in sync is one that runs", "in sync is one that does not run"])
@pytest.mark.parametrize("unclean", [frozenset(), frozenset({"orders"})], ids=["clean", "unclean"])
def test_an_out_of_sync_replica_of_ours_is_a_risk_where_an_unclean_election_may_choose_it(isr, unclean):
    states = {("orders", 1): State(isr[0], isr, 0, 1)}
    there = replace(found({"orders": ORDERS}, REGISTERED, states=states), unclean=unclean)
    assert there.at_risk({5}) == ([("orders", 1)] if unclean and isr == (9,) else [])
    assert there.at_risk({7}) == []


def test_who_has_no_replicas_joins_without_asking():
    states = {("orders", p): State(9, (9,), 0, 1) for p in range(3)}
    there = found({"orders": ORDERS}, REGISTERED, states=states)
    assert joined(OURS, there).joins and "empty" not in told_of(there, joined(OURS, there))


def test_empty_logs_are_for_a_zookeeper_that_is_in_use(kafkaproof):
    assert "--empty-logs needs --zookeeper" in kafkaproof("run", "--empty-logs").complaint


class Configured:
    """A client of a ZooKeeper that has some configurations."""

    def __init__(self, **allowed):
        self.data = allowed

    def get(self, path):
        if path not in self.data:
            raise NoNodeError
        return json.dumps({"config": {UNCLEAN: self.data[path]} if self.data[path] else {}}).encode(), None

    def get_children(self, path):
        return [each.removeprefix(f"{path}/") for each in self.data if each.startswith(f"{path}/")]


def test_a_topic_says_whether_its_elections_may_be_unclean_or_else_the_brokers_do():
    topics = {"/config/topics/a": "true", "/config/topics/b": "false", "/config/topics/c": None}
    for broker, wanted in (("false", {"a"}), ("true", {"a", "c", "d"})):
        client = Configured(**topics, **{"/config/brokers/<default>": broker})
        assert _unclean(client, ["a", "b", "c", "d"]) == wanted


# With a real ZooKeeper


@pytest.fixture
def keeper(tmp_path):
    (tmp_path / "zk").mkdir()
    keeper = Keeper(tmp_path / "zk", tick=250)
    yield keeper
    keeper.stop()


def state(cluster, topic, p):
    data = cluster.below(f"{Topic.path_of(topic)}/partitions/{p}")
    return State.decode(cluster.operator.get(State.path_of(topic, p))[0]) if data else State(-1, (), -1, -1)


def produce(cluster, topic, partitions, count):
    with closing(producer_to(cluster, topic, partitions)) as producer:
        return [producer.send(topic, b"%d" % i, partition=i % partitions).get(PATIENCE).offset for i in range(count)]


@pytest.mark.thorough
def test_brokers_of_any_ids_go_on_with_the_topics_of_others(keeper, tmp_path, capsys):
    with Cluster(tmp_path / "first", OURS, keeper.address) as cluster:
        cluster.start_all()
        cluster.await_all()
        admin = KafkaAdminClient(bootstrap_servers=cluster.bootstrap())
        admin.create_topics([NewTopic("orders", 2, 3)])
        ruling = cluster.controller()
        assert ruling in OURS.ids
        cluster.kill(ruling)
        cluster.await_that(lambda: cluster.controller() not in (ruling, None), "another rules")
        cluster.start(ruling)
        cluster.await_that(lambda: set(state(cluster, "orders", 0).isr) == set(OURS.ids), "all are in sync")
        cluster.reassign(1, [7, 5])
        cluster.await_that(lambda: set(state(cluster, "events", 1).isr) == {5, 7}, "the partition has moved")
        before = state(cluster, "orders", 0)
        cluster.stop_all()
    (tmp_path / "first" / "zookeeper").symlink_to(keeper.data)
    assert main(["replay", str(tmp_path / "first")]) == 0
    there = look_at(keeper.address)
    assert there and there.topics.keys() == {"events", "orders", OFFSETS_TOPIC} and not there.registered
    ids = ["--ids", ",".join(map(str, OURS.ids))]
    assert main(["run", *ids, "--zookeeper", keeper.address, "--directory", str(tmp_path / "refused")]) == 2
    assert "may be led by 1, 5, 7" in capsys.readouterr().err and not (tmp_path / "refused").exists()
    with Cluster(tmp_path / "second", joined(OURS, there, empty_logs=True), keeper.address) as cluster:
        cluster.start_all()
        cluster.await_that(lambda: set(state(cluster, "orders", 1).isr) == set(OURS.ids), "all are in sync")
        assert state(cluster, "orders", 0).leader_epoch >= before.leader_epoch
        assert produce(cluster, "orders", 2, 4) == [0, 0, 1, 1]
        admin = KafkaAdminClient(bootstrap_servers=cluster.bootstrap())
        admin.alter_partition_reassignments({TopicPartition("orders", 0): [5, 1]})
        cluster.await_that(lambda: set(state(cluster, "orders", 0).isr) == {1, 5}, "the partition has moved")
        cluster.stop_all()
    assert main(["replay", str(keeper.data)]) == 0
    assert "conforms to fenced" in capsys.readouterr().out


class OfOneNetwork(KafkaCluster):
    """Real brokers whose listeners have the names of ours."""

    listeners = CLIENTS, INNER


@pytest.mark.real
def test_a_broker_of_ours_joins_real_ones_that_run(kafka, keeper, tmp_path, capsys):
    size = Size(ids=(1, 2, 101), release=kafka("3.9.1"), recorded=False, session_timeout=4.0)
    with OfOneNetwork(tmp_path / "real", size, keeper.address) as real:
        real.start_all()
        admin = KafkaAdminClient(bootstrap_servers=real.bootstrap())
        admin.create_topics([NewTopic("orders", 2, 2)])
        produce(real, "orders", 2, 20)
        there = look_at(keeper.address)
        assert there and there.registered.keys() == {1, 2, 101}
        ours = joined(Size(brokers=1, replicas=1, ids=(7,), groups=True, session_timeout=4.0), there)
        with Cluster(tmp_path / "ours", ours, keeper.address) as cluster:
            cluster.start_all()
            cluster.await_all()
            admin.alter_partition_reassignments(
                {TopicPartition("orders", 0): [7, 101], TopicPartition("orders", 1): [7, 1]}
            )
            cluster.await_that(lambda: set(state(cluster, "orders", 0).isr) == {7, 101}, "the first has moved")
            cluster.await_that(lambda: set(state(cluster, "orders", 1).isr) == {1, 7}, "the second has moved")
            admin.elect_leaders(0, {"orders": [0, 1]})
            cluster.await_that(lambda: state(cluster, "orders", 0).leader == 7, "ours leads")
            places = [TopicPartition("orders", p) for p in range(2)]
            with closing(KafkaConsumer(bootstrap_servers=real.bootstrap(), auto_offset_reset="earliest")) as consumer:
                consumer.assign(places)
                read: list = []
                cluster.await_that(
                    lambda: read.extend(r for rs in consumer.poll(200).values() for r in rs) or len(read) >= 20,
                    "all is read",
                )
            assert min(produce(real, "orders", 2, 4)) >= 10
            cluster.stop_all()
        real.stop_all()
    assert main(["replay", str(keeper.data)]) == 0
    assert "conforms to fenced" in capsys.readouterr().out
