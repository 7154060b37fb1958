"""Record batches as producers send them and logs keep them (magic 2): what a broker reads of one, and writes into it.

Source: org.apache.kafka.common.record.DefaultRecordBatch, 0.11 to 3.9.
"""

from __future__ import annotations

import struct

from kafka.record.default_records import DefaultRecordBatchBuilder
from kafka.record.util import calc_crc32c

from kafkaproof.spec.protocol.batches import Batch, CorruptBatch, read_header

_CRC_AT, _CRC_OF, _EPOCH_AT = 17, 21, 12


def one_record(value: bytes) -> bytes:
    """A batch of one record, as a producer sends it; the same for the same value."""
    builder = DefaultRecordBatchBuilder(
        magic=2,
        compression_type=0,
        is_transactional=False,
        producer_id=-1,
        producer_epoch=-1,
        base_sequence=-1,
        batch_size=10_000,
    )
    builder.append(0, timestamp=1, key=None, value=value, headers=[])
    return bytes(builder.build())


def check(data: bytes) -> Batch:
    """The header of one whole batch whose checksum is right; raises CorruptBatch."""
    header = read_header(data)
    if len(data) != header.size:
        raise CorruptBatch(f"{len(data)} bytes, of a batch of {header.size}")
    if calc_crc32c(data[_CRC_OF:]) != header.crc:
        raise CorruptBatch("its checksum is not that of its records")
    return header


def split(data: bytes) -> list[bytes]:
    """The batches that follow each other in some bytes, each checked; raises CorruptBatch."""
    found = []
    while data:
        size = read_header(data).size
        check(data[:size])
        found.append(data[:size])
        data = data[size:]
    return found


def stamped(data: bytes, base_offset: int, epoch: int) -> bytes:
    """A batch with the offset and the leader epoch that the leader gives it; its checksum does not cover them."""
    stamp = bytearray(data)
    struct.pack_into("!q", stamp, 0, base_offset)
    struct.pack_into("!i", stamp, _EPOCH_AT, epoch)
    return bytes(stamp)
