"""Brokers of ours and of Kafka in one cluster: whoever is elected leads the rest, and nothing acknowledged is lost."""

import threading
import time
from argparse import ArgumentTypeError

import pytest
from kafka import KafkaConsumer, KafkaProducer, TopicPartition
from kafka.admin import KafkaAdminClient, NewPartitions, NewTopic
from kafka.errors import KafkaError

from kafkaproof.checker.commands.main import main
from kafkaproof.impl.commands.size import read_brokers
from kafkaproof.impl.harness.driving.cluster import Size
from kafkaproof.impl.harness.real.mixed import MixedCluster
from kafkaproof.impl.seams.zookeeper.request_znodes import Reassignment
from kafkaproof.impl.seams.zookeeper.znodes import TOPICS, State

MADE, PARTITIONS, BROKERS, PATIENCE = "made", 3, 3, 120


class Produced:
    """Produces to all partitions until it is stopped; `at` has the place of each acknowledged record."""

    def __init__(self, bootstrap):
        self.at, self._ends = {}, threading.Event()
        self._producer = KafkaProducer(
            bootstrap_servers=bootstrap,
            acks="all",
            enable_idempotence=False,
            retries=100,
            request_timeout_ms=5000,
            metadata_max_age_ms=1000,
        )
        self._thread = threading.Thread(target=self._produce)
        self._thread.start()

    def _produce(self):
        n = 0
        while not self._ends.wait(0.02):
            try:
                found = self._producer.send(MADE, b"%d" % n, partition=n % PARTITIONS).get(PATIENCE)
                self.at[b"%d" % n] = found.partition, found.offset
            except KafkaError:
                pass  # it is not acknowledged, and may be there or not
            except (ValueError, AssertionError):
                pass  # its metadata has not all partitions yet
            n += 1

    def stop(self):
        self._ends.set()
        self._thread.join()
        self._producer.close()


def states(cluster):
    return [State.decode(cluster.operator.get(State.path_of(MADE, p))[0]) for p in range(PARTITIONS)]


def is_whole(cluster):
    there = all(cluster.operator.exists(State.path_of(MADE, p)) for p in range(PARTITIONS))
    return there and all(set(state.isr) == set(range(BROKERS)) for state in states(cluster))


def goes_on(cluster, produced):
    """Wait until each partition has taken another record."""
    before = len(produced.at)
    cluster.await_that(lambda: len(produced.at) > before + 2 * PARTITIONS, "records are acknowledged")


def die_and_come_back(cluster, produced, broker):
    cluster.kill(broker)
    cluster.await_that(lambda: all(state.leader not in (broker, -1) for state in states(cluster)), "others lead")
    cluster.await_that(lambda: all(broker not in state.isr for state in states(cluster)), "it is in no ISR")
    goes_on(cluster, produced)
    cluster.start(broker)
    cluster.await_that(lambda: is_whole(cluster), "it has caught up")


def read(bootstrap, count):
    consumer = KafkaConsumer(bootstrap_servers=bootstrap, auto_offset_reset="earliest", enable_auto_commit=False)
    consumer.assign([TopicPartition(MADE, p) for p in range(PARTITIONS)])
    found, until = {}, time.monotonic() + PATIENCE
    while len(found) < count and time.monotonic() < until:
        for records in consumer.poll(500).values():
            found.update(((record.partition, record.offset), record.value) for record in records)
    consumer.close()
    return found


def has_all(cluster, produced):
    """Whether each acknowledged record is where it was acknowledged."""
    found = read(cluster.bootstrap(), len(produced.at))
    return {value: place for place, value in found.items()}.items() >= produced.at.items() and produced.at


def size_of(kafka):
    return Size(brokers=BROKERS, ours=1, release=kafka("3.9.1"), groups=True, session_timeout=4.0)


def begin(cluster):
    """Start a cluster, which our broker rules; a client for administrators."""
    cluster.start_all()
    assert cluster.controller() == 0
    cluster.await_that(lambda: all(map(cluster.has_started, range(BROKERS))), "all have started")
    return KafkaAdminClient(bootstrap_servers=cluster.bootstrap())


def conforms(directory, capsys, undecided=False):
    """Whether the log of ZooKeeper, all that was sent, and the steps of our processes conform. `undecided`: of a group more
    may be possible than replay tries.
    """
    code = main(["replay", str(directory)])
    taken = capsys.readouterr().out
    if code or "conforms to fenced: each step is enabled" not in taken:
        return False
    code = main(["replay", str(directory / "zookeeper"), "--wire", str(directory)])
    told = capsys.readouterr().out
    if code == 3 and undecided:
        return "conforms to fenced: each record is a step that it allows" in told and "\nundecided: " in told
    return code == 0 and "conforms to fenced: each record is a step that it allows" in told and "\nconforms: " in told


@pytest.mark.real
def test_whoever_is_elected_leads_brokers_of_both_kinds(kafka, tmp_path, capsys):
    with MixedCluster(tmp_path / "c", size_of(kafka)) as cluster:
        begin(cluster).create_topics([NewTopic(MADE, PARTITIONS, BROKERS)])
        cluster.await_that(lambda: is_whole(cluster), "all brokers are in sync")
        assert {state.leader for state in states(cluster)} == {0, 1, 2}, "each broker leads a partition"
        produced = Produced(cluster.bootstrap())
        try:
            goes_on(cluster, produced)
            die_and_come_back(cluster, produced, 1)
            assert cluster.controller() == 0
            die_and_come_back(cluster, produced, 0)
            assert cluster.controller() in (1, 2), "a broker of Kafka rules now, over one of ours"
            goes_on(cluster, produced)
            cluster.ask_to_stop(0)
            cluster.children[0].wait(PATIENCE)
            assert all(state.leader in (1, 2) and 0 not in state.isr for state in states(cluster))
            cluster.start(0)
            cluster.await_that(lambda: is_whole(cluster), "ours has caught up")
        finally:
            produced.stop()
        assert has_all(cluster, produced)
        cluster.stop_all()
    assert conforms(tmp_path / "c", capsys)


@pytest.mark.real
def test_topics_on_real_brokers_are_expanded_reassigned_deleted_and_created_again(kafka, tmp_path, capsys):
    with MixedCluster(tmp_path / "c", size_of(kafka)) as cluster:
        admin = begin(cluster)
        admin.create_topics([NewTopic(MADE, PARTITIONS - 1, BROKERS)])
        admin.create_partitions({MADE: NewPartitions(PARTITIONS)})
        cluster.await_that(lambda: is_whole(cluster), "all brokers are in sync")
        logs = [tmp_path / "c" / f"broker-{b}" for b in (1, 2)]
        cluster.await_that(
            lambda: all(len(list(log.glob(f"data-*/{MADE}-?"))) == PARTITIONS for log in logs), "all have logs"
        )
        move(cluster, [2, 1])
        admin.delete_topics([MADE])
        cluster.await_that(lambda: MADE not in cluster.below(TOPICS), "it is deleted")
        assert not any(list(log.glob(f"data-*/{MADE}-?")) for log in logs)
        admin.create_topics([NewTopic(MADE, PARTITIONS, BROKERS)])
        cluster.await_that(lambda: is_whole(cluster), "all brokers are in sync again")
        cluster.stop_all()
    assert conforms(tmp_path / "c", capsys)


def move(cluster, replicas):
    """Reassign a partition of the first topic."""
    cluster.await_that(lambda: not cluster.operator.exists(Reassignment.path), "no other is asked for")
    cluster.reassign(0, replicas)
    state = State.path_of(cluster.places.topic, 0)
    cluster.await_that(lambda: set(State.decode(cluster.operator.get(state)[0]).isr) == set(replicas), "it has moved")


def rule_really(cluster):
    """Let a real broker be the controller of all three."""
    cluster.kill(0)
    cluster.await_that(lambda: cluster.controller() in (1, 2), "a real broker rules")
    cluster.start(0)
    cluster.await_that(cluster.is_in_sync, "ours has come back")


def rule_ourselves(cluster):
    """Let the broker of ours be the controller: the sessions of the others expire."""
    for broker in (1, 2):
        cluster.pause(broker)
    cluster.await_that(lambda: cluster.controller() == 0, "ours rules")
    for broker in (1, 2):
        cluster.resume(broker)
    cluster.await_that(cluster.is_in_sync, "the real ones have come back")


@pytest.mark.real
def test_a_topic_of_a_real_controller_is_one_of_ours_whoever_rules(kafka, tmp_path, capsys):
    with MixedCluster(tmp_path / "c", size_of(kafka)) as cluster:
        begin(cluster)
        rule_really(cluster)
        admin = KafkaAdminClient(bootstrap_servers=cluster.bootstrap())
        admin.create_topics([NewTopic(MADE, PARTITIONS, BROKERS)])
        cluster.await_that(lambda: is_whole(cluster), "all brokers are in sync")
        admin.create_partitions({MADE: NewPartitions(PARTITIONS + 1)})
        cluster.await_that(lambda: cluster.operator.exists(State.path_of(MADE, PARTITIONS)), "it has one more")
        cluster.await_that(cluster.is_in_sync, "all brokers are in sync of that, too")
        assert {state.leader for state in states(cluster)} == {0, 1, 2}, "each broker leads a partition"
        produced = Produced(cluster.bootstrap())
        try:
            goes_on(cluster, produced)
            die_and_come_back(cluster, produced, 0)
            die_and_come_back(cluster, produced, 3 - cluster.controller())
            rule_ourselves(cluster)
            goes_on(cluster, produced)
            move(cluster, [2, 1])
            move(cluster, [0, 1])
        finally:
            produced.stop()
        assert has_all(cluster, produced)
        cluster.delete_topic(MADE)
        cluster.await_that(lambda: MADE not in cluster.below(TOPICS), "it is deleted")
        cluster.stop_all()
    assert conforms(tmp_path / "c", capsys)


@pytest.mark.real
def test_brokers_are_replaced_by_the_other_kind_one_after_the_other_and_back_under_load(kafka, tmp_path, capsys):
    with MixedCluster(tmp_path / "c", size_of(kafka)) as cluster:
        begin(cluster).create_topics([NewTopic(MADE, PARTITIONS, BROKERS)])
        cluster.await_that(lambda: is_whole(cluster), "all brokers are in sync")
        produced = Produced(cluster.bootstrap())
        kinds = []
        try:
            for broker in (0, 1, 2, 2, 1, 0):
                goes_on(cluster, produced)
                cluster.replace(broker)
                kinds.append(set(cluster.ours))
            goes_on(cluster, produced)
        finally:
            produced.stop()
        assert kinds == [set(), {1}, {1, 2}, {1}, set(), {0}]
        assert has_all(cluster, produced)
        cluster.stop_all()
    assert conforms(tmp_path / "c", capsys)


@pytest.mark.real
@pytest.mark.parametrize(
    "seed, brokers", [(1, "ours:1,kafka-3.9.1:2"), (2, "ours:2,kafka-3.9.1:1"), (3, "ours:1,kafka-3.9.1:2")]
)
def test_chaos_loses_nothing_that_was_acknowledged(kafka, tmp_path, capsys, seed, brokers):
    kafka("3.9.1")
    options = [
        "--brokers",
        brokers,
        "--chaos",
        str(seed),
        "--seconds",
        "60",
        "--load",
        "--directory",
        str(tmp_path / "c"),
    ]
    assert main(["run", *options]) == 0
    assert conforms(tmp_path / "c", capsys, undecided=True)


def test_a_mixture_is_read():
    assert read_brokers("ours:2,kafka-3.9.1:1") == (3, 2, "3.9.1") and read_brokers("4") == (4, 0, "")
    for wrong in ("ours:1", "ours:0,kafka-3.9.1:2", "-1", "kafka-3.9.1:2"):
        with pytest.raises(ArgumentTypeError, match="a number, or a mixture such as ours:1,kafka-3.9.1:2"):
            read_brokers(wrong)


@pytest.mark.parametrize(
    "asked, told",
    [
        (["--brokers", "ours:1,kafka-1.1.1:2"], "brokers of 2.8 or later can be mixed with ours"),
        (
            ["--brokers", "ours:1,kafka-3.9.1:2", "--scenario", "split-brain"],
            "--scenario is for clusters of one kind of brokers",
        ),
        (["--brokers", "ours:1,kafka-3.9.1:2", "--kafka", "3.9.1"], "leave --kafka away"),
        (["--brokers", "ours:1,kafka-3.9.1:2", "--variant", "legacy"], "only brokers of the variant fenced"),
        (["--brokers", "ours:5,kafka-3.9.1:5"], "from 1 to 9"),
    ],
)
def test_what_cannot_be_mixed_is_told(kafkaproof, tmp_path, asked, told):
    shown = kafkaproof("run", *asked, "--directory", tmp_path / "d")
    assert shown.code == 2 and told in shown.err and len(shown.err.splitlines()) == 1
