"""ListOffsets in version 0, as tools of 1.1 ask: the offsets at which segments begin, and the end, before a time."""

from types import SimpleNamespace

import pytest
from kafka.protocol.consumer.offsets import ListOffsetsRequest, ListOffsetsResponse

from kafkaproof.impl.clients.offsets import Offsets
from kafkaproof.impl.protocol.wire import Call
from kafkaproof.impl.seams.storage.log import FileLog
from kafkaproof.spec.protocol.batches import read_header
from kafkaproof.spec.replica.broker import FETCHING, LEADER
from tests.impl.batches import batch

LATEST, EARLIEST, FAR = -1, -2, 1 << 60


def answer(plane, timestamp, most=10):
    topic = ListOffsetsRequest.ListOffsetsTopic
    asked = topic.ListOffsetsPartition(partition_index=0, timestamp=timestamp, max_num_offsets=most)
    request = ListOffsetsRequest(replica_id=-1, topics=[topic(name="events", partitions=[asked])])
    call = Call(request, 0)
    Offsets(lambda name, p: plane).list_offsets(call)
    response = call.wait()
    response.API_VERSION = 0
    return ListOffsetsResponse[0].decode(response.encode()).topics[0].partitions[0]


@pytest.fixture
def plane(tmp_path):
    """A leader of three records, of which two are committed."""
    log = FileLog(tmp_path)
    for values in ((b"one", b"two"), (b"three",)):
        log.incoming = batch(*values)
        log.append(read_header(log.incoming).crc, 1)
    return SimpleNamespace(log=log, checkpoint=2, replica=SimpleNamespace(state=LEADER, leader_epoch=1))


@pytest.mark.parametrize(
    ("timestamp", "most", "offsets"),
    [(LATEST, 10, [2, 0]), (LATEST, 1, [2]), (EARLIEST, 10, [0]), (0, 10, []), (FAR, 10, [2, 0])],
)
def test_offsets_before_a_time(plane, timestamp, most, offsets):
    found = answer(plane, timestamp, most)
    assert (found.error_code, list(found.old_style_offsets)) == (0, offsets)


def test_no_segment_begins_before_the_log_start_offset(plane):
    plane.log.begin_at(1)
    assert list(answer(plane, LATEST).old_style_offsets) == [2, 1]


def test_an_empty_log_has_one(plane, tmp_path):
    plane.log, plane.checkpoint = FileLog(tmp_path / "empty"), 0
    assert list(answer(plane, LATEST).old_style_offsets) == [0]


def test_who_does_not_lead_has_none(plane):
    plane.replica.state = FETCHING
    found = answer(plane, LATEST)
    assert (found.error_code, list(found.old_style_offsets)) == (6, [])
