"""Metrics of the replica system: one partition, as its brokers and ZooKeeper have it."""

from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.spec.language.sets import everybody
from kafkaproof.spec.metrics.metric import Measure
from kafkaproof.spec.metrics.names import (
    AT_MIN_ISR,
    FAILED_ISR_UPDATES,
    FAILED_PRODUCE,
    ISR_EXPANDS,
    ISR_SHRINKS,
    LEADER_ELECTIONS,
    LEADERS,
    MAX_LAG,
    OFFLINE_PARTITIONS,
    REFUSED_FETCHES,
    UNCLEAN_ELECTIONS,
    UNDER_MIN_ISR,
    UNDER_REPLICATED,
)
from kafkaproof.spec.metrics.rules import gained, is_election, is_unclean, is_under_replicated, lost, size
from kafkaproof.spec.replica.broker import LEADER

NOBODY_ADDED = 0


def offline_partitions(s):
    """Whether nobody leads. Which brokers are alive is not modelled."""
    return 1 if s.zk.leader == NOBODY else 0


def leaders(s):
    """The number of brokers that believe they lead."""
    count = 0
    for broker in s.brokers:
        if broker.state == LEADER:
            count += 1
    return count


def under_replicated(s):
    """The number of brokers that believe they lead and know an ISR smaller than the set of replicas.

    Kafka: ReplicaManager."UnderReplicatedPartitions", 0.8 to 3.9.
    """
    count = 0
    for broker in s.brokers:
        everyone = everybody(len(s.brokers))
        if broker.state == LEADER and is_under_replicated(broker.isr, everyone, NOBODY_ADDED, len(s.brokers)):
            count += 1
    return count


def under_min_isr(s):
    """The number of brokers that believe they lead and have an ISR smaller than min.insync.replicas."""
    count = 0
    for broker in s.brokers:
        if broker.state == LEADER and size(broker.isr, len(s.brokers)) < len(broker.required):
            count += 1
    return count


def at_min_isr(s):
    """The number of brokers that believe they lead and have an ISR of exactly min.insync.replicas members."""
    count = 0
    for broker in s.brokers:
        if broker.state == LEADER and size(broker.isr, len(s.brokers)) == len(broker.required):
            count += 1
    return count


def max_lag(s):
    """How many records the replica farthest behind lacks of those of the leader that ZooKeeper names; 0 without a
    leader.
    """
    lag = 0
    if s.zk.leader != NOBODY:
        for broker in s.brokers:
            lag = max(lag, s.brokers[s.zk.leader].log.length - broker.log.length)
    return lag


def leader_elections(before, after):
    """Whether a step wrote another leader."""
    return 1 if is_election(before.zk.leader, after.zk.leader) else 0


def unclean_elections(before, after):
    """Whether a step wrote a leader that was not in the ISR."""
    elected = is_election(before.zk.leader, after.zk.leader)
    return 1 if elected and is_unclean(before.zk.isr, after.zk.leader) else 0


def isr_shrinks(before, after):
    """Whether a step removed members from the ISR in ZooKeeper, as the leader proposed."""
    proposed = before.zk.leader_epoch == after.zk.leader_epoch
    return 1 if proposed and lost(before.zk.isr, after.zk.isr) else 0


def isr_expands(before, after):
    """Whether a step added members to the ISR in ZooKeeper, as the leader proposed."""
    proposed = before.zk.leader_epoch == after.zk.leader_epoch
    return 1 if proposed and gained(before.zk.isr, after.zk.isr) else 0


METRICS = (
    Measure(OFFLINE_PARTITIONS, offline_partitions),
    Measure(LEADERS, leaders),
    Measure(UNDER_REPLICATED, under_replicated),
    Measure(UNDER_MIN_ISR, under_min_isr),
    Measure(AT_MIN_ISR, at_min_isr),
    Measure(MAX_LAG, max_lag),
    Measure(LEADER_ELECTIONS, leader_elections),
    Measure(UNCLEAN_ELECTIONS, unclean_elections),
    Measure(ISR_SHRINKS, isr_shrinks),
    Measure(ISR_EXPANDS, isr_expands),
    Measure(FAILED_ISR_UPDATES, answers=("BADVERSION",)),
    Measure(FAILED_PRODUCE, answers=("NOT_ENOUGH_REPLICAS",)),
    Measure(REFUSED_FETCHES, answers=("NOT_LEADER", "FENCED_LEADER_EPOCH", "UNKNOWN_LEADER_EPOCH")),
)
