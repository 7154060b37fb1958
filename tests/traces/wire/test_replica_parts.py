"""Parts of judging the data path: fetch sessions, logs, sequence numbers of producers, numbers of requests."""

from dataclasses import replace
from types import SimpleNamespace

import pytest
from kio.schema.errors import ErrorCode

from kafkaproof.spec.protocol.batches import Batch, CorruptBatch, Numbered, heads_in
from kafkaproof.spec.protocol.correlation import missing_in
from kafkaproof.spec.protocol.fetch_sessions import Sessions
from kafkaproof.traces.evidence.features import of_release
from kafkaproof.traces.wire.replica.known import Known
from kafkaproof.traces.wire.replica.leaders import Asked, Leaders
from kafkaproof.traces.wire.replica.logs import Log, Run
from kafkaproof.traces.wire.replica.producers import Producers, Sent
from kafkaproof.traces.wire.replica.roles import Role
from kafkaproof.traces.wire.replica.stage import variants_of

PLACE = ("events", 0)


def batch(first, count, offset=0, epoch=0, crc=None):
    producer = Numbered(7, 0, first, first + count - 1)
    return Batch(offset, 80, epoch, first if crc is None else crc, count, 0, producer)


def fetching(session, number, *offsets, forgotten=()):
    wanted = [{"partition": p, "fetch_offset": at, "current_leader_epoch": 1} for p, at in enumerate(offsets)]
    left = [{"topic": "events", "partitions": list(forgotten)}] if forgotten else []
    topics = [{"topic": "events", "partitions": wanted}] if wanted else []
    return {"session_id": session, "session_epoch": number, "topics": topics, "forgotten_topics_data": left}


def giving(session, **marks):
    parts = [
        {"partition_index": int(p[1:]), "error_code": ErrorCode.none, "high_watermark": hw, "records": b""}
        for p, hw in marks.items()
    ]
    return {
        "session_id": session,
        "error_code": ErrorCode.none,
        "responses": [{"topic": "events", "partitions": parts}],
    }


def test_a_session_says_again_what_it_leaves_out():
    sessions = Sessions()
    first = sessions.ask(fetching(0, 0, 5, 9))
    sessions.give(first, giving(44, p0=3, p1=4))
    second = sessions.ask(fetching(44, 1, 6))
    assert second.wanted["events", 1].offset == 9 and second.named == {PLACE} and second.is_whole
    given = sessions.give(second, giving(44, p0=5))
    assert (given[PLACE].hw, given["events", 1].hw) == (5, 4)
    third = sessions.ask(fetching(44, 2, forgotten=[0]))
    assert set(third.wanted) == {("events", 1)}
    assert not sessions.ask(fetching(99, 4)).is_whole


def test_after_an_answer_that_nobody_saw_nothing_is_known_of_what_is_left_out():
    sessions = Sessions()
    sessions.give(sessions.ask(fetching(0, 0, 5)), giving(44, p0=3))
    sessions.ask(fetching(44, 1))
    assert sessions.give(sessions.ask(fetching(44, 2)), giving(44))[PLACE].hw is None


def test_a_log_keeps_epochs_and_tells_of_another_batch_in_a_place():
    log = Log()
    for each in batch(0, 3), batch(3, 2, 3), batch(5, 2, 5, epoch=2):
        log.add(each)
    assert log.runs() == [Run(0, 5, 0), Run(5, 7, 2)] and log.least == 7
    assert log.other_than(batch(3, 2, 3)) is None
    assert log.other_than(batch(3, 2, 4)) == batch(3, 2, 3)
    log.cut(4)
    assert log.runs() == [Run(0, 3, 0)] and log.at(3) is None


def test_bytes_that_are_no_batch_are_refused():
    with pytest.raises(CorruptBatch, match="magic"):
        heads_in(bytes(80))


def test_numbers_that_lack_are_between_others():
    assert missing_in([4, 2, 7]) == [3, 5, 6] and missing_in([]) == []


@pytest.fixture
def answered():
    """Judges how a batch at broker 0, a leader alone, is answered; `known` is what is known of replicas."""
    role, isr = Role(0, 0, frozenset({0}), 0, 0), frozenset({0})
    roles = SimpleNamespace(
        of=lambda *_: [role], isrs=lambda *_: {isr}, members=lambda *_: isr, configured_at=lambda _: 0
    )
    known = Known()
    producers = Producers(known, roles, Leaders(known, roles, variants_of(of_release("3.9.1"))))

    def judge(sent, base, error="NONE", acks=-1, broker=0):
        least = known.of(0, PLACE).log.least
        return producers.why_not(Asked(broker, -1, PLACE, None, 1, 2, 0, least), Sent(sent, acks, error, base, least))

    judge.known = known
    return judge


def test_sequence_numbers_are_answered_by_what_a_leader_remembers(answered):
    assert answered(batch(0, 5), 0) is None and answered(batch(5, 2), 5) is None
    assert answered(batch(5, 2), 5) is None
    assert "stands at offset 5" in answered(batch(5, 2), 7)
    assert "a leader answers OUT_OF_ORDER_SEQUENCE_NUMBER" in answered(batch(9, 1), 7)
    assert answered(batch(9, 1), -1, "OUT_OF_ORDER_SEQUENCE_NUMBER") is None
    assert "a leader answers NONE" in answered(batch(7, 1), -1, "OUT_OF_ORDER_SEQUENCE_NUMBER")
    older = replace(batch(7, 1), producer=Numbered(7, -1, 7, 7))
    assert "a leader answers INVALID_PRODUCER_EPOCH" in answered(older, 7)


@pytest.mark.parametrize("refused", [True, False])
def test_a_batch_that_its_former_leader_refused_may_stand_in_the_log(answered, refused):
    log = answered.known.of(0, PLACE).log
    log.add(batch(0, 5))
    log.add(replace(batch(0, 1, offset=7), producer=Numbered(8, 0, 0, 0)))
    log.is_known = True
    if refused:
        assert answered(batch(5, 2), -1, "NOT_LEADER_OR_FOLLOWER", broker=1) is None
    found = answered(batch(5, 2), 5)
    assert found is None if refused else "where its log ended at 8 or later" in found


def test_an_offset_is_where_the_log_ended(answered):
    assert answered(batch(0, 5), 0) is None
    unnumbered = replace(batch(0, 1, crc=9), producer=Numbered(-1, -1, -1, -1))
    assert "where its log ended at 5 or later" in answered(unnumbered, 3)


def test_one_number_of_replicas_is_enough_all_the_time(answered):
    assert answered(batch(0, 5), 0) is None
    assert "min.insync.replicas is 1" in answered(batch(5, 1), -1, "NOT_ENOUGH_REPLICAS")
