"""Frames between brokers: what is written is read again, and Kafka's own reader skips the stamp."""

import pytest
from kio.schema.errors import ErrorCode

from kafkaproof.impl.protocol.inner_frames import (
    TAG,
    Unreadable,
    answer_frame,
    api_of,
    read_answer,
    read_request,
    request_frame,
)
from kafkaproof.spec.protocol.frames import fields_of, number_of
from kafkaproof.spec.protocol.passed import ANSWER, REQUEST
from tests.frames import STOP_REPLICA, request

FIELDS = {
    "controller_id": 2,
    "controller_epoch": 7,
    "broker_epoch": 99,
    "topic_states": [
        {
            "topic_name": "events",
            "partition_states": [{"partition_index": 1, "leader_epoch": -2, "delete_partition": True}],
        }
    ],
}
STAMP = {"ids": ["2.1-5"], "clock": 3, "zxid": 1 << 40, "p": [1]}


@pytest.mark.parametrize("stamp", [STAMP, {}])
def test_a_request_is_read_as_it_was_written(stamp):
    data = request_frame(STOP_REPLICA, 3, 200, "2", FIELDS, stamp)
    frame = read_request(data[4:])
    assert frame[:4] == (STOP_REPLICA, 3, 200, "2") and frame.stamp == stamp and api_of(data[4:]) == (STOP_REPLICA, 3)
    (topic,) = frame.fields.topic_states
    assert (frame.fields.broker_epoch, topic.topic_name, topic.partition_states[0].leader_epoch) == (99, "events", -2)


def test_who_knows_the_schemas_alone_reads_the_same():
    data = request_frame(STOP_REPLICA, 3, 200, "2", FIELDS, STAMP)
    told = fields_of(STOP_REPLICA, 3, data, REQUEST)
    assert told["controller_epoch"] == 7 and told["topic_states"][0]["topic_name"] == "events"
    assert number_of(data, REQUEST) == 200
    assert TAG > 10_000, "Kafka's own tags are small"


def test_an_answer_is_read_as_it_was_written():
    error = {"topic_name": "events", "partition_index": 1, "error_code": ErrorCode.kafka_storage_error}
    fields = {"error_code": ErrorCode.none, "partition_errors": [error], "of another version": 1}
    data = answer_frame(STOP_REPLICA, 3, 200, fields, STAMP)
    frame = read_answer(data[4:], STOP_REPLICA, 3)
    assert frame.number == 200 and frame.stamp == STAMP
    assert frame.fields.partition_errors[0].error_code is ErrorCode.kafka_storage_error
    assert number_of(data, ANSWER) == 200


def test_a_request_of_another_writer_has_no_stamp():
    data = request(STOP_REPLICA, 4, 5, "1", controller_id=1)
    frame = read_request(data[4:])
    assert (frame.client, frame.stamp, frame.fields.controller_id) == ("1", {}, 1)


@pytest.mark.parametrize("data", [b"", b"\0\5", request_frame(STOP_REPLICA, 3, 1, "2", FIELDS, {})[4:-3]])
def test_what_is_no_frame_is_unreadable(data):
    with pytest.raises(Unreadable):
        read_request(data)
