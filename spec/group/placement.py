"""Which partition of __consumer_offsets holds a group. The leader of that partition coordinates the group."""

MOST_POSITIVE = 2**31 - 1


def java_hash(text: str) -> int:
    """Java's String.hashCode: a signed 32-bit number, computed over UTF-16."""
    value = 0
    units = text.encode("utf-16-be")
    for i in range(0, len(units), 2):
        value = value * 31 + units[i] * 256 + units[i + 1]
    return (value + 2**31) % 2**32 - 2**31


def partition_for(group: str, partitions: int) -> int:
    """The partition, of `partitions` (50 by default), that a group's name hashes to.

    The absolute value of the smallest int counts as 0.

    Kafka: GroupMetadataManager.partitionFor, Utils.abs, 0.9 to 3.9.
    """
    value = abs(java_hash(group))
    return (0 if value > MOST_POSITIVE else value) % partitions
