"""The reader in the end waits for partitions that have no leader yet."""

from types import SimpleNamespace

import pytest
from kafka import TopicPartition
from kafka.errors import KafkaTimeoutError

from kafkaproof.impl.harness.driving import load
from kafkaproof.impl.harness.driving.load import Load
from kafkaproof.spec.errors import Unfinished

PLACES = [TopicPartition("events", p) for p in range(2)]
LOAD = SimpleNamespace(_topic="events")


def consumer(*answers):
    """One whose requests for the ends are answered so, the last one again and again."""
    waiting = list(answers)

    def end_offsets(places):
        answer = waiting.pop(0) if len(waiting) > 1 else waiting[0]
        if isinstance(answer, Exception):
            raise answer
        return answer

    return SimpleNamespace(end_offsets=end_offsets)


def test_a_partition_without_a_leader_is_waited_for():
    ends = dict.fromkeys(PLACES, 3)
    assert Load._ends(LOAD, consumer(KeyError(PLACES[1]), KafkaTimeoutError(), ends), PLACES, lambda: None) == ends


def test_a_partition_that_never_gets_a_leader_is_told(monkeypatch):
    monkeypatch.setattr(load, "PATIENCE", 0)
    with pytest.raises(Unfinished, match="no leader answers for events"):
        Load._ends(LOAD, consumer(KeyError(PLACES[1])), PLACES, lambda: None)


def test_of_two_records_acknowledged_at_one_offset_the_first_is_lost(monkeypatch):
    """As where followers truncate to the high watermark (KIP-101): the leader that comes next gives the offset again."""
    read = {PLACES[0]: [SimpleNamespace(offset=0, value=b"second")]}
    reader = SimpleNamespace(
        assign=lambda places: None, poll=lambda timeout_ms: read, position=lambda place: 1, close=lambda: None
    )
    monkeypatch.setattr(load, "KafkaConsumer", lambda **_: reader)
    monkeypatch.setattr(Load, "_ends", lambda *_: {PLACES[0]: 1})
    loaded = Load.__new__(Load)
    loaded._topic, loaded._partitions, loaded._bootstrap = "events", 1, lambda: []
    loaded.noted, loaded.replaced = {}, []
    for value in (b"first", b"second"):
        loaded._note(value, SimpleNamespace(partition=0, offset=0))
    assert loaded.read_all(lambda: None) == (2, 1, [(0, 0, b"first")])
