"""What a broker knows of producers follows its log: appends, truncation, a new process; and the numbers that batches say."""

from kafkaproof.impl.clients.producers import REPEATED, TAKEN, Producers
from kafkaproof.impl.seams.storage.log import FileLog
from kafkaproof.impl.seams.zookeeper.znodes import ProducerIdBlock
from kafkaproof.spec.protocol.batches import read_header
from kafkaproof.spec.replica.producing.sequences import RETAINED
from tests.impl import batches

LAST = (1 << 31) - 1


def batch(first, count=1, epoch=0, producer=7):
    values = (b"%d" % (first + n) for n in range(count))
    return batches.batch(*values, producer=producer, epoch=epoch, first=first)


def append(log, *batches):
    for data in batches:
        log.incoming = data
        log.append(read_header(data).crc, 0)


def test_a_batch_says_its_producer_and_its_sequence_numbers():
    assert read_header(batch(3, 4, epoch=2)).producer == (7, 2, 3, 6)
    assert read_header(batch(LAST, 3)).producer == (7, 0, LAST, 1)
    assert read_header(batch(-1, 2, producer=-1)).producer.id == -1


def test_the_last_batches_are_known_with_their_places(tmp_path):
    log = FileLog(tmp_path / "t-0")
    producers, sent = Producers(log), [batch(2 * n, 2) for n in range(RETAINED + 2)]
    assert producers.judge(sent[0]) == (TAKEN, 0)
    append(log, *sent[:-1])
    assert [producers.judge(each)[0] for each in sent] == [
        "OUT_OF_ORDER_SEQUENCE_NUMBER",
        *[REPEATED] * RETAINED,
        TAKEN,
    ]
    assert [producers.judge(each)[1] for each in sent[1:]] == [1, 2, 3, 4, 5, 6]
    assert producers.judge(batch(2, 1))[0] == "OUT_OF_ORDER_SEQUENCE_NUMBER", "not the same range"
    assert producers.judge(batch(5, producer=8)) == (TAKEN, 6), "nothing is known of it (KIP-360)"
    assert producers.judge(batch(-1, producer=-1)) == (TAKEN, 6)


def test_another_epoch_begins_at_0_and_ends_the_former(tmp_path):
    log = FileLog(tmp_path / "t-0")
    producers = Producers(log)
    append(log, batch(0), batch(1))
    assert producers.judge(batch(2, epoch=1))[0] == "OUT_OF_ORDER_SEQUENCE_NUMBER"
    assert producers.judge(batch(0, epoch=1))[0] == TAKEN
    append(log, batch(0, epoch=1))
    assert producers.judge(batch(2))[0] == producers.judge(batch(1))[0] == "INVALID_PRODUCER_EPOCH"
    assert producers.judge(batch(1, epoch=1))[0] == TAKEN


def test_sequence_numbers_begin_anew_after_the_last(tmp_path):
    log = FileLog(tmp_path / "t-0")
    producers = Producers(log)
    append(log, batch(LAST - 1, 2))
    assert producers.judge(batch(0))[0] == TAKEN
    append(log, batch(0), batch(1))
    assert [producers.judge(each)[0] for each in (batch(LAST - 1, 2), batch(0), batch(2))] == [
        REPEATED,
        REPEATED,
        TAKEN,
    ]


def test_what_is_truncated_is_forgotten_and_a_new_process_reads_its_log(tmp_path):
    log = FileLog(tmp_path / "t-0")
    producers = Producers(log)
    append(log, batch(0), batch(1), batch(2))
    assert producers.judge(batch(2)) == (REPEATED, 2)
    log.truncate(1)
    append(log, batch(9, producer=9), batch(1))
    assert producers.judge(batch(1)) == (REPEATED, 2)
    assert producers.judge(batch(2)) == (TAKEN, 3)
    log.truncate(0)
    assert producers.judge(batch(2)) == (TAKEN, 0), "nothing is known"
    append(log, batch(0), batch(1))
    log.close()
    again = FileLog(tmp_path / "t-0")
    assert Producers(again).judge(batch(1)) == (REPEATED, 1)
    again.close()


def test_blocks_of_ids_follow_each_other():
    first = ProducerIdBlock.after(2, b"")
    assert first.encode() == b'{"version":1,"broker":2,"block_start":"0","block_end":"999"}'
    assert ProducerIdBlock.after(0, first.encode()) == ProducerIdBlock(0, 1000, 1999)
