"""Clusters that have settled: on a busy machine a follower may leave the ISR at any time, and be back soon after."""

import time

from kafka import KafkaProducer

from kafkaproof.impl.harness.driving.cluster import wait_until
from kafkaproof.impl.seams.zookeeper.znodes import TOPICS, State, Topic


def in_sync(cluster) -> bool:
    """Whether every broker is registered, one rules, and the ISR of every partition has all that are assigned."""
    return cluster.is_whole() and all(
        _is_in_sync(cluster, topic, p, replicas)
        for topic in cluster.below(TOPICS)
        for p, replicas in enumerate(Topic.decode(cluster.operator.get(Topic.path_of(topic))[0]).assignments)
    )


def _is_in_sync(cluster, topic, p, replicas):
    path = State.path_of(topic, p)
    return cluster.operator.exists(path) and set(State.decode(cluster.operator.get(path)[0]).isr) == set(replicas)


def await_watches(cluster):
    """Wait until nobody is about to read /controller: one that goes while nobody watches it is never followed by another
    (what the specification predicts: ONE_CONTROLLER does not hold).
    """
    looks, before = [0], None
    while looks != before:
        time.sleep(2)
        before, looks = looks, [cluster.recorded(b, "maybe_resign") for b in cluster.children]


def producer_to(cluster, topic, partitions, **options):
    """A producer of kafka-python that knows so many partitions: brokers hear of them one by one, and it refuses others."""
    producer = KafkaProducer(bootstrap_servers=cluster.bootstrap(), metadata_max_age_ms=500, **options)
    assert wait_until(lambda: producer.partitions_for(topic) == set(range(partitions)))
    return producer
