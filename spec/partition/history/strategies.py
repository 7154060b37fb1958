"""Elections of earlier releases: the oldest choice by ISR order, the needless election, the ISR that becomes empty.

In 0.8.0 the leader was chosen by the order of the ISR, which says only who joined last. Up to 1.0 the last member left
an ISR when the topic allowed unclean elections, so no replica was known to have the committed records. Only what
differs from `kafka.strategies` is here. Up to 0.11 `online` did not look at log directories.
"""

from kafkaproof.spec.kafka.strategies import first_in, isr_after_removal, preferred_leader, prefers
from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.spec.language.sets import contains, without_member


def offline_leader_by_isr_order(assignment, ordered_isr, online):
    """The first online member of the ISR in its stored order, a sequence; else any online replica.

    Unclean elections could not be forbidden before 0.8.2.

    Kafka: OfflinePartitionLeaderSelector.selectLeader, 0.8.0.
    """
    leader = first_in(ordered_isr, online)
    return first_in(assignment, online) if leader == NOBODY else leader


def preferred_leader_if_needed(assignment, isr, online, leader):
    """The preferred replica, or NOBODY where it leads already (LeaderElectionNotNeededException).

    Later releases leave out such partitions before the election; `leader` is what the controller remembers.

    Kafka: PreferredReplicaPartitionLeaderSelector.selectLeader, 0.8 to 1.0.
    """
    if prefers(assignment, leader):
        return NOBODY
    return preferred_leader(assignment, isr, online)


def isr_after_removal_or_empty(isr, replica, unclean):
    """The ISR when `replica` goes offline; where unclean elections are enabled even the last member leaves.

    Kafka: KafkaController.removeReplicaFromIsr, 0.8.2 to 1.0.
    """
    return without_member(isr, replica) if unclean == 1 else isr_after_removal(isr, replica)


def may_rebalance_if_online(assignment, isr, online, leader):
    """Whether the automatic rebalance tries to move a leader: the preferred replica is online, in the ISR or not.

    Kafka: KafkaController.checkAndTriggerPartitionRebalance, 0.8.1 to 0.10.2; checkAndTriggerAutoLeaderRebalance,
           0.11 to 2.5.
    """
    if prefers(assignment, leader) or assignment.length == 0:
        return False
    return contains(online, assignment.slots[0])
