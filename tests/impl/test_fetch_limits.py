"""How many batches an answer to a consumer's fetch has: the first always, others as far as both limits go."""

from types import SimpleNamespace

import pytest
from kafka.protocol.consumer.fetch import FetchRequest

from kafkaproof.impl.clients.api import Api
from kafkaproof.impl.seams.storage.log import FileLog
from kafkaproof.spec.protocol.batches import heads_in, read_header
from kafkaproof.spec.replica.broker import LEADER
from tests.impl.batches import batch

DATA = batch(b"alike")
SIZE = len(DATA)
FAR = 100 * SIZE


def leader(directory):
    log = FileLog(directory)
    for _ in range(3):
        log.incoming = DATA
        log.append(read_header(DATA).crc, 1)
    replica = SimpleNamespace(state=LEADER, leader_epoch=1)
    return SimpleNamespace(log=log, checkpoint=3, replica=replica, clients=SimpleNamespace(position=0))


@pytest.mark.parametrize(
    ("most", "in_partition", "batches"),
    [
        (FAR, FAR, (3, 3)),
        (FAR, 1, (1, 0)),
        (1, FAR, (1, 0)),
        (0, 0, (1, 0)),
        (FAR, 2 * SIZE, (2, 2)),
        (4 * SIZE, FAR, (3, 1)),
        (4 * SIZE - 1, FAR, (3, 0)),
    ],
)
def test_batches_in_an_answer(tmp_path, most, in_partition, batches):
    planes = [leader(tmp_path / str(p)) for p in range(2)]
    api = Api.__new__(Api)
    api._plane, api._number = lambda topic, p: planes[p], lambda topic, p: p
    api._try_step = lambda step, p: True
    wanted = FetchRequest.FetchTopic.FetchPartition
    asked = [
        wanted(partition=p, fetch_offset=0, partition_max_bytes=in_partition, current_leader_epoch=-1) for p in (0, 1)
    ]
    answer = api._fetched(SimpleNamespace(max_bytes=most), [("events", each) for each in asked])
    found = answer.responses[0].partitions
    assert tuple(len(list(heads_in(each.records))) for each in found) == batches
