"""Where a broker fetches after it has led, or after its replica was deleted.

A broker that begins to lead may ask once more as a follower: that says nothing of where it fetches after it has led.
"""

from pathlib import Path
from types import SimpleNamespace

import pytest

from kafkaproof.traces.evidence.features import of_release
from kafkaproof.traces.explain.partitions.strategies import Elected
from kafkaproof.traces.wire.exchanges import Exchange, Place
from kafkaproof.traces.wire.reading import Wire
from kafkaproof.traces.wire.replica.judge import judge_replicas
from kafkaproof.traces.wire.traffic import Traffic
from kafkaproof.traces.wire.verdicts import Judged

FETCH, LEADER_AND_ISR, STOP_REPLICA = (1, 12), (4, 5), (5, 3)
PLACE = ("events", 0)


def exchange(time, broker, key, asked, told=None):
    found = Exchange(Place(Path("kafka-1"), time), time, broker, 0, b"")
    found.key, found.asked, found.told = key, asked, told
    found.answered = time + 1 if told else None
    return found


def tells(time, leader, epoch):
    """Broker 1 is told who leads."""
    state = {"partition_index": 0, "leader": leader, "isr": [0, 1], "leader_epoch": epoch, "controller_epoch": 1}
    state |= {"replicas": [0, 1], "partition_epoch": epoch}
    topics = [{"topic_name": "events", "partition_states": [state]}]
    live = [{"broker_id": 0}, {"broker_id": 1}]
    none = SimpleNamespace(value=0)
    return exchange(
        time, 1, LEADER_AND_ISR, {"topic_states": topics, "live_leaders": live}, {"error_code": none, "topics": []}
    )


def deletes(time, error):
    """Broker 1 is told to delete its replica; how it answers, None: not at all."""
    state = {"partition_index": 0, "leader_epoch": 2, "delete_partition": True}
    told = {"partition_index": 0, "topic_name": "events", "error_code": SimpleNamespace(name=error)}
    answer = {"error_code": SimpleNamespace(value=0, name="none"), "partition_errors": [told]} if error else None
    return exchange(
        time, 1, STOP_REPLICA, {"topic_states": [{"topic_name": "events", "partition_states": [state]}]}, answer
    )


def fetches(time, offset, epoch):
    """Broker 1 asks broker 0."""
    wanted = {"partition": 0, "fetch_offset": offset, "current_leader_epoch": epoch}
    topics = [{"topic": "events", "partitions": [wanted]}]
    asked = {"replica_id": 1, "session_id": 0, "session_epoch": -1, "topics": topics, "forgotten_topics_data": []}
    return exchange(time, 0, FETCH, asked)


def wrong(*exchanges):
    isr = frozenset({0, 1})
    state = SimpleNamespace(isr=isr, leader=0, leader_epoch=1)
    version = SimpleNamespace(before=(), time=0, state=state, elected=Elected(0, isr))
    history = SimpleNamespace(states={PLACE: [version]}, topics={"events": []}, lives=[], topic_ids=lambda _: ())
    judged = Judged(Wire())
    judge_replicas(Traffic(list(exchanges), history, of_release("3.9.1")), judged)
    return [each.text for each in judged.divergences]


@pytest.mark.parametrize("has_led", [True, False])
def test_where_it_fetches_after_it_has_led(has_led):
    follows, late = tells(1_000, 0, 1), fetches(2_002, 5, 1)
    led = [tells(2_000, 1, 2)] if has_led else []
    found = wrong(follows, *led, late, tells(3_000, 0, 3), fetches(4_000, 9, 3))
    assert found == ([] if has_led else ["events-0: broker 1 fetches from offset 9, where its log ends at 5"])


@pytest.mark.parametrize(
    "error, offset, wrongly", [("none", 0, None), ("none", 9, 0), (None, 0, None), (None, 9, None), ("", 0, 5)]
)
def test_where_it_fetches_after_its_replica_was_deleted(error, offset, wrongly):
    removal = [] if error == "" else [deletes(2_000, error)]
    found = wrong(tells(1_000, 0, 1), fetches(1_500, 5, 1), *removal, tells(3_000, 0, 3), fetches(4_000, offset, 3))
    told = f"events-0: broker 1 fetches from offset {offset}, where its log ends at {wrongly}"
    assert found == ([] if wrongly is None else [told])
