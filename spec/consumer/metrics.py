"""Metrics of the consumer system: one group of old consumers, which rebalances through ZooKeeper."""

from kafkaproof.spec.consumer.member import LOOKING, reads
from kafkaproof.spec.consumer.zookeeper import Answer
from kafkaproof.spec.kafka.zookeeper import ABSENT
from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.spec.metrics.metric import Measure
from kafkaproof.spec.metrics.names import (
    CONSUMERS,
    DOUBLE_READS,
    OLD_REBALANCES,
    OWNED,
    PARTITIONS,
    SESSION_EXPIRIES,
    ZOOKEEPER_REQUESTS,
)


def consumers(s):
    """The number of consumers that are registered, by their present session or a former one."""
    count = 0
    for client in s.zk.clients:
        if client.registered != ABSENT:
            count += 1
    return count


def partitions(s):
    """The number of partitions of the topic."""
    return s.zk.size


def owned(s):
    """The number of partitions that have an owner node."""
    count = 0
    for partition in s.zk.partitions:
        if partition.owner != NOBODY:
            count += 1
    return count


def double_reads(s):
    """The number of partitions that more than one consumer reads."""
    count = 0
    for p in range(len(s.zk.partitions)):
        readers = 0
        for consumer in s.consumers:
            if reads(consumer, p):
                readers += 1
        if readers > 1:
            count += 1
    return count


def attempts(before, after):
    """The number of attempts to rebalance that a step began.

    Kafka: ZookeeperConsumerConnector."RebalanceRateAndTime", 0.8.2 to 1.1.
    """
    count = 0
    for c in range(len(after.consumers)):
        if after.consumers[c].doing == LOOKING and before.consumers[c].doing != LOOKING:
            count += 1
    return count


METRICS = (
    Measure(CONSUMERS, consumers),
    Measure(PARTITIONS, partitions),
    Measure(OWNED, owned),
    Measure(DOUBLE_READS, double_reads),
    Measure(OLD_REBALANCES, attempts),
    Measure(ZOOKEEPER_REQUESTS, answers=Answer.names),
    Measure(SESSION_EXPIRIES, of=("expire_session",)),
)
