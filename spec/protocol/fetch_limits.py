"""How much of a log an answer to a fetch has (KIP-74)."""


def fits(size: int, given: int, in_partition: int, most: int, most_in_partition: int) -> bool:
    """Whether a batch of `size` bytes goes into an answer that has `given` bytes, `in_partition` of them of its partition.
    The first batch does, however large; any other as far as the limits of the request and of the partition go.

    Kafka: ReplicaManager.readFromLocalLog, 0.10.1 to 3.5; readFromLog, 3.6 to 3.9 (Kafka cuts the last batch at the limit).
    """
    return given == 0 or given + size <= most and in_partition + size <= most_in_partition
