"""What a replica knows of a producer id, and how a leader judges a batch by that.

It knows the producer epoch of the last batch, and the last batches of that epoch: as many as a producer has in flight
at most (5 in Kafka). All of this follows from the log: it is noted with each append, and read anew from the log after a
truncation and in a new process. A batch is as a running broker has it, a range of sequence numbers; in the model it is
one record. Not modelled: what is forgotten because time passes (producer.id.expiration.ms) or segments are deleted.
"""

from kafkaproof.spec.language.domains import Bound, Choice, Number, Record, Sequence
from kafkaproof.spec.replica.zookeeper import OK, Answer

UNKNOWN = -1
RETAINED = 5
"""How many batches of a producer a running broker remembers (ProducerStateEntry.NUM_BATCHES_TO_RETAIN)."""
LAST_BUT_ONE = 2_147_483_646
"""Behind the sequence number that follows this one a producer begins anew at 0."""
Verdict = Choice(
    *Answer.names,
    "DUPLICATE",
    "NOT_LEADER_OR_FOLLOWER",
    "OUT_OF_ORDER_SEQUENCE_NUMBER",
    "UNKNOWN_PRODUCER_ID",
    "INVALID_PRODUCER_EPOCH",
)
DUPLICATE, NOT_LEADER_OR_FOLLOWER, *REFUSALS = list(Verdict)[len(Answer.names) :]
OUT_OF_ORDER_SEQUENCE_NUMBER, UNKNOWN_PRODUCER_ID, INVALID_PRODUCER_EPOCH = REFUSALS

ProducerEpoch = Number(UNKNOWN, Bound("bumps"))
SequenceNumber = Number(0, Bound("records", -1))
BATCH = Record(
    first=(SequenceNumber, "first sequence number"),
    last=(SequenceNumber, "last sequence number"),
    offset=(Number(0, Bound("log", -1)), "its offset in the log"),
)
ENTRY = Record(
    epoch=(ProducerEpoch, "producer epoch of the last batch, -1 without one"),
    batches=(Sequence(BATCH, Bound("in_flight")), "the last batches of that epoch, oldest first"),
)


def forget(entry):
    """Know nothing of the producer."""
    entry.epoch = UNKNOWN
    forget_batches(entry)


def forget_batches(entry):
    """Know none of its batches."""
    for k in range(len(entry.batches.slots)):
        clear(entry.batches.slots[k])
    entry.batches.length = 0


def clear(batch):
    """Clear what is known of a batch."""
    batch.first = 0
    batch.last = 0
    batch.offset = 0


def remembered(entry):
    """How many batches of a producer are remembered at most."""
    return len(entry.batches.slots) - 1


def note(entry, epoch, first, last, offset):
    """Note a batch that stands in the log at `offset`; one of a newer epoch takes the place of all older ones.

    Kafka: ProducerStateEntry.addBatch, 1.1 to 3.9.
    """
    if entry.epoch != epoch:
        forget_batches(entry)
    entry.epoch = epoch
    if entry.batches.length == remembered(entry):
        drop_oldest(entry.batches)
    batch = entry.batches.slots[entry.batches.length]
    batch.first = first
    batch.last = last
    batch.offset = offset
    entry.batches.length += 1


def drop_oldest(batches):
    """Forget the oldest batch."""
    for k in range(len(batches.slots) - 1):
        batches.slots[k].first = batches.slots[k + 1].first
        batches.slots[k].last = batches.slots[k + 1].last
        batches.slots[k].offset = batches.slots[k + 1].offset
    batches.length -= 1
    clear(batches.slots[batches.length])


def is_known(entry, epoch, first, last):
    """Whether a batch of this epoch with exactly these sequence numbers is among the last ones."""
    for k in range(len(entry.batches.slots)):
        batch = entry.batches.slots[k]
        if entry.epoch == epoch and k < entry.batches.length and batch.first == first and batch.last == last:
            return True
    return False


def offset_of(entry, first):
    """The offset of the batch that begins with this sequence number, which is among the last ones."""
    offset = 0
    for k in range(len(entry.batches.slots)):
        if k < entry.batches.length and entry.batches.slots[k].first == first:
            offset = entry.batches.slots[k].offset
    return offset


def is_next(entry, first):
    """Whether a batch that begins with this sequence number comes right behind the last one."""
    last = entry.batches.slots[entry.batches.length - 1].last
    return first == 0 if last > LAST_BUT_ONE else first == last + 1


def first_of_unknown(first):
    """How a leader answers a producer of whom it knows nothing: OK, whatever the sequence number (2.5+, KIP-360)."""
    return OK


def judge(entry, epoch, first, last):
    """How a leader answers a batch: OK, if it is to be appended; DUPLICATE, which the producer is told as success, with
    the offset of the first; INVALID_PRODUCER_EPOCH; OUT_OF_ORDER_SEQUENCE_NUMBER; up to 2.4 UNKNOWN_PRODUCER_ID.

    Kafka: Log.analyzeAndValidateProducerState, 0.11 to 3.0; UnifiedLog.analyzeAndValidateProducerState, 3.1 to 3.9;
           ProducerAppendInfo.checkProducerEpoch, ProducerAppendInfo.checkSequence, 1.1 to 3.9.
    """
    if is_known(entry, epoch, first, last):
        return DUPLICATE
    if epoch < entry.epoch:
        return INVALID_PRODUCER_EPOCH
    if entry.epoch == UNKNOWN:
        return first_of_unknown(first)
    if epoch > entry.epoch:
        return OK if first == 0 else OUT_OF_ORDER_SEQUENCE_NUMBER
    return OK if is_next(entry, first) else OUT_OF_ORDER_SEQUENCE_NUMBER
