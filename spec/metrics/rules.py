"""What counts, of one partition: the definitions that all systems, and recordings of real clusters, share.

A set is a bit mask over brokers 0 to `brokers` - 1.
"""

from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.spec.language.sets import contains, difference, is_empty


def size(members, brokers):
    """How many members a set has."""
    count = 0
    for b in range(brokers):
        if contains(members, b):
            count += 1
    return count


def is_led(leader, registered):
    """Whether the leader is a registered broker."""
    return leader != NOBODY and contains(registered, leader)


def is_under_replicated(isr, replicas, adding, brokers):
    """Whether an ISR is smaller than the replicas were before a reassignment.

    Kafka: Partition.isUnderReplicated, 2.5 to 3.9 (KIP-352; before, replicas that are being added counted too).
    """
    return size(isr, brokers) < size(difference(replicas, adding), brokers)


def is_imbalanced(preferred, leader, isr, adding):
    """Whether somebody else than the preferred replica leads; one being added counts from when it is in the ISR.

    Kafka: KafkaController.preferredReplicaImbalanceCount, 0.11 to 3.9; ControllerContext.hasPreferredLeader, 2.7 to
           3.9.
    """
    if contains(adding, preferred):
        return contains(isr, preferred)
    return leader != preferred


def is_election(former, leader):
    """Whether a state names another leader than the one before it; `former` is NOBODY for the first state."""
    return leader != NOBODY and leader != former


def is_unclean(isr, leader):
    """Whether a state names a leader who was not in the ISR before it.

    Kafka: OfflinePartitionLeaderSelector.selectLeader, 0.8 to 1.0;
           PartitionLeaderElectionAlgorithms.offlinePartitionLeaderElection, 1.1 to 3.9.
    """
    return leader != NOBODY and not contains(isr, leader)


def lost(isr, after):
    """Whether a leader's change of the ISR took somebody out.

    Kafka: Partition.maybeShrinkIsr, 0.8 to 3.9.
    """
    return not is_empty(difference(isr, after))


def gained(isr, after):
    """Whether a leader's change of the ISR took somebody in.

    Kafka: Partition.maybeExpandIsr, 0.9 to 3.9.
    """
    return not is_empty(difference(after, isr))
