"""Who is elected: the controller's election strategies as pure functions, and the removal from an ISR.

An assignment is a sequence of distinct brokers, the first of them preferred; all other inputs are sets.
`online` are the brokers that are registered, not shutting down, and whose log directory of this partition
works; `online_or_leaving` counts those that are shutting down as well. Each strategy is three functions:

- its leader, NOBODY when the election fails; then nothing is written;
- the new ISR, of an election that did not fail;
- the recipients of LeaderAndIsr; those that are dead are left out when it is sent.

The order of an assignment decides, that of an ISR never does. Every result is written with a leader epoch
one higher, even where the leader stays; the first state of a new partition has epoch 0.

Source: kafka.controller.PartitionLeaderElectionAlgorithms, 1.1 to 3.9; kafka.controller.Election, 2.4 to 3.9 (before
        1.1 the PartitionLeaderSelectors; `spec/partition/history/strategies.py` says where they differ).
"""

from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.spec.language.sets import (
    contains,
    difference,
    intersection,
    is_empty,
    only,
    with_member,
    without_member,
)


def first_in(sequence, members):
    """The first element of a sequence that is in a set, or NOBODY if none is."""
    for i in range(sequence.length):
        if contains(members, sequence.slots[i]):
            return sequence.slots[i]
    return NOBODY


def replicas_of(assignment):
    """The brokers of an assignment, as a set."""
    members = 0
    for i in range(assignment.length):
        members = with_member(members, assignment.slots[i])
    return members


def new_topic_leader(assignment, online):
    """The leader of a partition that has no state znode yet: its first online replica.

    Kafka: PartitionStateMachine.initializeLeaderAndIsrForPartition, 0.8 to 1.0; initializeLeaderAndIsrForPartitions,
           1.1 to 3.9.
    """
    return first_in(assignment, online)


def new_topic_isr(assignment, online):
    """All online replicas: as long as nothing is written, each of them is in sync."""
    return intersection(replicas_of(assignment), online)


def new_topic_recipients(assignment, online):
    """The members of the first ISR."""
    return new_topic_isr(assignment, online)


def may_elect_uncleanly(isr, online, allowed):
    """Whether an election may take a leader from outside the ISR.

    `allowed` is unclean.leader.election.enable of the topic, or 1 for an operator's request (2.4+). It
    counts only while no member of the ISR is online, not even one that is no longer assigned.

    Kafka: OfflinePartitionLeaderSelector.selectLeader, 0.8 to 1.0; PartitionStateMachine.doElectLeaderForPartitions,
           1.1 to 3.9; collectUncleanLeaderElectionState, 2.3 to 3.9.
    """
    return allowed == 1 and is_empty(intersection(isr, online))


def offline_leader(assignment, isr, online, allowed):
    """The leader of a partition that has none: the first online replica in the ISR, else any online one if allowed.

    `allowed` as in `may_elect_uncleanly`.

    Kafka: OfflinePartitionLeaderSelector.selectLeader, 0.8.1 to 1.0;
           PartitionLeaderElectionAlgorithms.offlinePartitionLeaderElection, 1.1 to 3.9.
    """
    if may_elect_uncleanly(isr, online, allowed):
        return first_in(assignment, online)
    return first_in(assignment, intersection(isr, online))


def offline_isr(isr, online, leader):
    """The online part of the ISR; after an unclean election the leader alone, which then recovers (3.2+)."""
    if contains(isr, leader):
        return intersection(isr, online)
    return only(leader)


def may_be_recovering(was_recovering, isr, leader, new_isr):
    """Whether a state may be written as RECOVERING over one that has this ISR and was RECOVERING or not (KIP-704).

    Only an election outside the ISR marks a partition so, with the leader alone in the ISR. Later elections and removals
    keep the mark, and any ISR that a leader writes ends it: the controller refuses a larger ISR that is RECOVERING, and
    a leader that would go back to RECOVERING.

    Kafka: Election.leaderForOffline, 3.2 to 3.9; KafkaController.processAlterPartition, 3.2; tryProcessAlterPartition,
           3.3 to 3.9.
    """
    if leader == NOBODY:
        return was_recovering == 1
    if new_isr != only(leader):
        return False
    return was_recovering == 1 or not contains(isr, leader)


def recovery_written(was_recovering, isr, leader, by_leader):
    """Whether a state is written as RECOVERING over one that has this ISR and was RECOVERING or not (KIP-704), by a leader
    or by an election or a removal.

    A leader takes itself for RECOVERED as soon as it begins to lead, and says so with its next ISR.

    Kafka: Election.leaderForOffline, LeaderAndIsr.newLeaderAndIsr, Partition.makeLeader, 3.2 to 3.9.
    """
    if by_leader:
        return 0
    return 1 if leader != NOBODY and not contains(isr, leader) else was_recovering


def offline_recipients(assignment, online):
    """The online replicas."""
    return intersection(replicas_of(assignment), online)


def reassign_leader(target, isr, online):
    """The leader after a reassignment: the first replica of the target that is online and in the ISR.

    Kafka: ReassignedPartitionLeaderSelector.selectLeader, 0.8 to 1.0;
           PartitionLeaderElectionAlgorithms.reassignPartitionLeaderElection, 1.1 to 3.9.
    """
    return first_in(target, intersection(isr, online))


def reassign_isr(isr):
    """The ISR stays; replicas that are removed leave it afterwards."""
    return isr


def reassign_recipients(target):
    """The replicas of the target."""
    return replicas_of(target)


def preferred_leader(assignment, isr, online):
    """The first replica of the assignment if it is online and in the ISR, else NOBODY.

    Kafka: PreferredReplicaPartitionLeaderSelector.selectLeader, 0.8 to 1.0;
           PartitionLeaderElectionAlgorithms.preferredReplicaPartitionLeaderElection, 1.1 to 3.9.
    """
    if assignment.length == 0:
        return NOBODY
    preferred = assignment.slots[0]
    return preferred if contains(intersection(isr, online), preferred) else NOBODY


def preferred_isr(isr):
    """The ISR stays."""
    return isr


def preferred_recipients(assignment):
    """All replicas."""
    return replicas_of(assignment)


def controlled_shutdown_leader(assignment, isr, online_or_leaving, leaving):
    """The leader that replaces one that is shutting down: the first member of the ISR that stays.

    `leaving` are the brokers that are shutting down. When the election fails, the old leader keeps leading.

    Kafka: ControlledShutdownLeaderSelector.selectLeader, 0.8 to 1.0;
           PartitionLeaderElectionAlgorithms.controlledShutdownPartitionLeaderElection, 1.1 to 3.9.
    """
    return first_in(assignment, difference(intersection(isr, online_or_leaving), leaving))


def controlled_shutdown_isr(isr, leaving):
    """The ISR without the brokers that are shutting down."""
    return difference(isr, leaving)


def controlled_shutdown_recipients(assignment, online_or_leaving):
    """The online replicas, including those that are shutting down."""
    return intersection(replicas_of(assignment), online_or_leaving)


def leader_after_removal(leader, replica):
    """The leader after `replica`, a member of the ISR, goes offline: NOBODY if it led.

    A replica outside the ISR goes offline without a write.

    Kafka: KafkaController.removeReplicaFromIsr, 0.8 to 1.0; ReplicaStateMachine.doRemoveReplicasFromIsr, 1.1 to 3.9.
    """
    return NOBODY if leader == replica else leader


def isr_after_removal(isr, replica):
    """The ISR after `replica`, one of its members, goes offline: without it, except that the last member stays."""
    return isr if isr == only(replica) else without_member(isr, replica)


def prefers(assignment, broker):
    """Whether `broker` is the first replica, so that the partition counts for its imbalance."""
    return assignment.length > 0 and assignment.slots[0] == broker


def is_imbalanced(preferring, led_by_others, percentage):
    """Whether the automatic rebalance acts for a broker.

    `preferring`: how many partitions, not being deleted, prefer it; `led_by_others`: how many of those
    are known to have another leader; `percentage`: leader.imbalance.per.broker.percentage, which the
    share must exceed.

    Kafka: KafkaController.checkAndTriggerPartitionRebalance, 0.8.1 to 0.10.2; checkAndTriggerAutoLeaderRebalance,
           0.11 to 3.9.
    """
    return led_by_others * 100 > percentage * preferring


def may_rebalance(assignment, isr, online, leader):
    """Whether the automatic rebalance of an imbalanced broker tries to move this partition's leader.

    Kafka: KafkaController.canPreferredReplicaBeLeader, 2.6 to 3.9.
    """
    return preferred_leader(assignment, isr, online) != NOBODY and not prefers(assignment, leader)
