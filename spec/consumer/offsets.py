"""What the threads of a consumer read, and which offsets it commits in ZooKeeper."""

from kafkaproof.spec.consumer.member import Consumer, Partition, reads
from kafkaproof.spec.consumer.zookeeper import set_offset
from kafkaproof.spec.kafka.zookeeper import OK
from kafkaproof.spec.language.sets import contains


def consume(s, c: Consumer, p: Partition):
    """A thread takes the next record of a partition.

    Guards:  a thread of `c` reads `p`; the session need not be open. (What is read outside the registry is never
             committed, and is not modelled.)
    Effects: the position advances by one, and is not yet committed.
    Kafka:   ConsumerIterator.next, 0.8 to 1.1.
    """
    consumer = s.consumers[c]
    if not reads(consumer, p) or not contains(consumer.registry, p):
        return False

    consumer.positions[p].offset += 1
    consumer.positions[p].uncommitted = 1
    return True


def commit(s, c: Consumer, p: Partition):
    """A consumer writes how far it has read, by the auto-committer or after the fetchers are stopped.

    Guards:  `p` is in the registry; the position differs from the one last read from ZooKeeper or committed.
    Request: OK; EXPIRED.
    Effects: the position is committed.
    Kafka:   ZookeeperConsumerConnector.commitOffsets, 0.8 to 1.1; commitOffsetToZooKeeper, 0.8.2 to 1.1.
    """
    consumer = s.consumers[c]
    if not contains(consumer.registry, p) or not consumer.positions[p].uncommitted:
        return False

    answer = set_offset(s.zk, c, p, consumer.positions[p].offset)
    if answer == OK:
        consumer.positions[p].uncommitted = 0
    return True
