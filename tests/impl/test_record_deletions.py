"""DeleteRecords: what a leader answers, when, and that all replicas, and processes after them, begin where it says."""

from types import SimpleNamespace

import pytest
from kafka import KafkaConsumer, KafkaProducer, TopicPartition
from kafka.admin import KafkaAdminClient
from kafka.protocol.admin import DeleteRecordsRequest

from kafkaproof.impl.clients.record_deletions import RecordDeletions
from kafkaproof.impl.harness.driving.cluster import TOPIC, Cluster, Size, wait_until
from kafkaproof.impl.protocol.wire import Call
from kafkaproof.impl.seams.storage.log import FileLog
from kafkaproof.impl.seams.zookeeper.znodes import State
from kafkaproof.spec.protocol.batches import read_header
from kafkaproof.spec.replica.broker import FETCHING, LEADER
from tests.impl.batches import batch
from tests.impl.settled import in_sync

NONE, OUT_OF_RANGE, UNKNOWN, NOT_LEADER, TIMED_OUT, INVALID_TOPIC = 0, 1, 3, 6, 7, 17
HIGH_WATERMARK, NO_WATERMARK = -1, -1
PLACE = TopicPartition(TOPIC, 0)


def filled(directory, start=0):
    log = FileLog(directory, start)
    while log.end_offset < 4:
        log.incoming = batch(b"one", b"two")
        log.append(read_header(log.incoming).crc, 1)
    return log


class Leader:
    """Broker 0, with replicas 1 and 2, and three of four records committed; `ask` asks it, `wait` is what waits."""

    def __init__(self, directory):
        replica = SimpleNamespace(state=LEADER, leader_epoch=1)
        self.plane = SimpleNamespace(log=filled(directory), checkpoint=3, replica=replica, follower_starts={1: 0, 2: 0})
        self.metadata = SimpleNamespace(alive=0b111)
        process = SimpleNamespace(
            broker=0,
            partition=SimpleNamespace(metadata=self.metadata),
            partition_zookeeper=SimpleNamespace(told={0: (0, 1, 2)}),
        )
        known = {(TOPIC, 0): 0}
        planes = {(TOPIC, 0): self.plane}
        self._deletions = RecordDeletions(
            process, lambda *place: planes.get(place), lambda *place: known.get(place), self._wait
        )

    def _wait(self, milliseconds, done):
        self.wait = done
        self.is_answered = done(False)

    def ask(self, offset, topic=TOPIC):
        asked = DeleteRecordsRequest.DeleteRecordsTopic
        partition = asked.DeleteRecordsPartition(partition_index=0, offset=offset)
        self._call = Call(
            DeleteRecordsRequest(topics=[asked(name=topic, partitions=[partition])], timeout_ms=9), version=2
        )
        self._deletions.delete(self._call)

    def answer(self):
        found = self._call.wait().topics[0].partitions[0]
        return found.error_code, found.low_watermark


@pytest.fixture
def leader(tmp_path):
    return Leader(tmp_path)


def test_the_answer_waits_for_the_replicas_on_live_brokers(leader):
    leader.ask(2)
    assert not leader.is_answered and leader.plane.log.start_offset == 2
    leader.plane.follower_starts[1] = 2
    assert not leader.wait(False)
    leader.metadata.alive = 0b011
    assert leader.wait(False) and leader.answer() == (NONE, 2)


def test_a_follower_that_has_not_fetched_in_this_epoch_is_waited_for_until_time_is_up(leader):
    leader.plane.follower_starts = {1: 3}
    leader.ask(HIGH_WATERMARK)
    assert not leader.is_answered and leader.wait(True)
    assert leader.answer() == (TIMED_OUT, -1)


def test_the_log_start_offset_does_not_fall(leader):
    leader.plane.log.begin_at(3)
    leader.plane.follower_starts = {1: 3, 2: 3}
    leader.ask(1)
    assert leader.answer() == (NONE, 3)


@pytest.mark.parametrize("offset", [4, -2])
def test_what_is_beyond_the_high_watermark_is_out_of_range(leader, offset):
    leader.ask(offset)
    assert leader.answer() == (OUT_OF_RANGE, NO_WATERMARK) and leader.plane.log.start_offset == 0


@pytest.mark.parametrize(("topic", "error"), [("none", UNKNOWN), ("__consumer_offsets", INVALID_TOPIC)])
def test_a_topic_that_is_not_there_or_internal(leader, topic, error):
    leader.ask(0, topic)
    assert leader.answer() == (error, NO_WATERMARK)


def test_who_no_longer_leads_says_so(leader):
    leader.ask(2)
    leader.plane.replica.state = FETCHING
    assert leader.wait(False) and leader.answer() == (NOT_LEADER, NO_WATERMARK)


def test_a_log_begins_where_the_checkpoint_says_but_not_behind_its_end(tmp_path):
    log = filled(tmp_path)
    log.close()
    assert [FileLog(tmp_path, start).start_offset for start in (0, 3, 9)] == [0, 3, 4]


def test_a_truncated_log_and_a_new_one_begin_earlier(tmp_path):
    log = filled(tmp_path, 3)
    log.begin_at(3)
    log.truncate(1)
    assert log.start_offset == 2
    log.remove()
    assert log.start_offset == 0


@pytest.mark.thorough
def test_records_are_deleted_at_all_brokers_for_good(tmp_path):
    with Cluster(tmp_path, Size(partitions=1, session_timeout=60.0)) as cluster:
        cluster.start_all()
        assert wait_until(lambda: in_sync(cluster))
        producer = KafkaProducer(bootstrap_servers=cluster.bootstrap(), acks="all")
        for n in range(5):
            producer.send(TOPIC, b"%d" % n).get(60)
        admin = KafkaAdminClient(bootstrap_servers=cluster.bootstrap())
        assert admin.delete_records({PLACE: 3})[PLACE]["low_watermark"] == 3
        assert earliest(cluster) == 3
        former = State.decode(cluster.operator.get(State.path_of(TOPIC, 0))[0]).leader
        cluster.stop(former)
        assert wait_until(lambda: not cluster.children[former].running)
        consumer = KafkaConsumer(bootstrap_servers=cluster.bootstrap(), auto_offset_reset="earliest")
        consumer.assign([PLACE])
        consumer.seek(PLACE, 0)
        assert [each.value for each in next(iter(consumer.poll(60_000).values()))][:1] == [b"3"]
        consumer.close()
        cluster.start(former)
        assert wait_until(lambda: in_sync(cluster))
        for broker in range(3):
            (start,) = (
                (tmp_path / "logs" / f"broker-{broker}" / "log-start-offset-checkpoint").read_text().splitlines()[2:]
            )
            assert start == f"{TOPIC} 0 3"


def earliest(cluster):
    consumer = KafkaConsumer(bootstrap_servers=cluster.bootstrap())
    found = consumer.beginning_offsets([PLACE])[PLACE]
    consumer.close()
    return found
