"""Metrics of partition states in ZooKeeper: shared by partition and topics."""

from kafkaproof.spec.metrics.metric import Measure
from kafkaproof.spec.metrics.names import ISR_EXPANDS, ISR_SHRINKS, LEADER_ELECTIONS, UNCLEAN_ELECTIONS
from kafkaproof.spec.metrics.rules import gained, is_election, is_led, is_unclean, lost

NO_EPOCH = -1


def exists(state):
    """Whether a partition has a state."""
    return state.leader_epoch != NO_EPOCH


def is_offline(s, p):
    """Whether a partition has a state, and no registered leader."""
    return exists(s.zk.partitions[p]) and not is_led(s.zk.partitions[p].leader, s.zk.registered)


def leader_elections(before, after):
    """How many states a step wrote with another leader, or the first."""
    count = 0
    for p in range(len(after.zk.partitions)):
        if is_election(before.zk.partitions[p].leader, after.zk.partitions[p].leader):
            count += 1
    return count


def unclean_elections(before, after):
    """How many states a step wrote with a leader who was not in the ISR."""
    count = 0
    for p in range(len(after.zk.partitions)):
        former = before.zk.partitions[p]
        leader = after.zk.partitions[p].leader
        if exists(former) and is_election(former.leader, leader) and is_unclean(former.isr, leader):
            count += 1
    return count


def is_leaders_proposal(before, after, p):
    """Whether a step wrote the ISR of a partition as its leader proposes: the leader epoch stays."""
    former = before.zk.partitions[p]
    return exists(former) and former.leader_epoch == after.zk.partitions[p].leader_epoch


def isr_shrinks(before, after):
    """Of how many partitions a step took members out of the ISR, as their leader proposes."""
    count = 0
    for p in range(len(after.zk.partitions)):
        if is_leaders_proposal(before, after, p) and lost(before.zk.partitions[p].isr, after.zk.partitions[p].isr):
            count += 1
    return count


def isr_expands(before, after):
    """Of how many partitions a step took members into the ISR, as their leader proposes."""
    count = 0
    for p in range(len(after.zk.partitions)):
        if is_leaders_proposal(before, after, p) and gained(before.zk.partitions[p].isr, after.zk.partitions[p].isr):
            count += 1
    return count


STEPS = (
    Measure(LEADER_ELECTIONS, leader_elections),
    Measure(UNCLEAN_ELECTIONS, unclean_elections),
    Measure(ISR_SHRINKS, isr_shrinks),
    Measure(ISR_EXPANDS, isr_expands),
)
