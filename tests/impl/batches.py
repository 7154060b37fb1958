"""Record batches, as producers send them."""

from kafka.record.default_records import DefaultRecordBatchBuilder

NO_PRODUCER = -1


def batch(*values, producer=NO_PRODUCER, epoch=-1, first=-1):
    """A batch with a record for each value; `producer`, `epoch` and `first` are what an idempotent producer says of it."""
    builder = DefaultRecordBatchBuilder(
        magic=2,
        compression_type=0,
        is_transactional=False,
        producer_id=producer,
        producer_epoch=epoch,
        base_sequence=first,
        batch_size=10_000,
    )
    for offset, value in enumerate(values):
        builder.append(offset, timestamp=1, key=None, value=value, headers=[])
    return bytes(builder.build())
