"""When earlier releases elect a leader, accept an ISR, or end a partition otherwise than the present one."""

from kafkaproof.spec.kafka.state_machines import OFFLINE_PARTITION, ONLINE_PARTITION
from kafkaproof.spec.kafka.strategies import prefers, replicas_of
from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.spec.language.sets import contains
from kafkaproof.spec.partition.context import PREFERRED, PREFERRED_BY_ZNODE, is_known, is_queued, online
from kafkaproof.spec.partition.elections import chosen_leader
from kafkaproof.spec.partition.history.strategies import preferred_leader_if_needed
from kafkaproof.spec.partition.triggers import is_reassignable
from kafkaproof.spec.partition.zookeeper import assigned, is_moved


def whoever_they_are(controller, isr):
    """Whether the members of a proposed ISR are eligible: always, live or not (KIP-841 is of 3.3).

    Kafka: KafkaController.processAlterIsr, 2.7 to 3.1; processAlterPartition, 3.2.
    """
    return True


def all_replicas(s, controller, p):
    """The replicas that a proposed ISR may consist of: all of them (for properties)."""
    return assigned(s.zk, p)


def is_moved_away_though_queued(controller, p, leaver):
    """Whether a controlled shutdown touches a partition: on the broker, replicated and known, its topic queued for
    deletion or not.

    Kafka: KafkaController.doControlledShutdown, 1.1 to 2.0; shutdownBroker, 0.8 to 1.0.
    """
    partition = controller.partitions[p]
    return (
        contains(replicas_of(partition.assignment), leaver) and partition.assignment.length > 1 and is_known(partition)
    )


def chosen_leader_if_needed(controller, partition, isr, unclean):
    """The leader that the event in progress elects; NOBODY where a preferred election is not needed.

    Kafka: PreferredReplicaPartitionLeaderSelector.selectLeader, 0.8 to 1.0.
    """
    if controller.strategy == PREFERRED or controller.strategy == PREFERRED_BY_ZNODE:
        return preferred_leader_if_needed(partition.assignment, isr, online(controller, partition), partition.leader)
    return chosen_leader(controller, partition, isr, unclean)


def end_needless(controller, partition):
    """An election has failed. A preferred one that is not needed counts as held: the partition is Online, also where its
    leader is dead.

    Kafka: PartitionStateMachine.electLeaderForPartition, handleStateChange, 0.8 to 1.0.
    """
    asked = controller.strategy == PREFERRED or controller.strategy == PREFERRED_BY_ZNODE
    if asked and prefers(partition.assignment, partition.leader):
        partition.state = ONLINE_PARTITION


def is_whole_batch_elected_again(refused):
    """Whether a partition is elected again in the next round of an election, if there is one: always, its own write
    refused or not.

    Kafka: PartitionStateMachine.electLeaderForPartitions, 1.1 to 2.2; ZkPartitionStateMachine.electLeaderForPartitions,
           2.3.
    """
    return True


def mark_dead_leaders(controller):
    """Partitions led by the brokers that fail in this event go Offline: not those without a leader, nor those whose leader
    is shutting down or has failed before.

    Kafka: KafkaController.onBrokerFailure, 0.8 to 0.11.
    """
    for p in range(len(controller.partitions)):
        partition = controller.partitions[p]
        dead = partition.leader != NOBODY and contains(controller.replicas, partition.leader)
        if is_known(partition) and dead and not is_queued(controller, p):
            partition.state = OFFLINE_PARTITION


def end_none_at_start(controller):
    """The partitions that no longer exist once the deletion of their topic starts: none, all exist until its end.

    Kafka: TopicDeletionManager.onTopicDeletion, 0.10.2 to 2.0.
    """
    return 0


def is_barred_by_list(s, b):
    """Whether the automatic rebalance moves no leader: while a partition is being reassigned, which a listed one is here
    until its request is deleted.

    Kafka: KafkaController.checkAndTriggerPartitionRebalance, 0.8.1 to 0.10.2; checkAndTriggerAutoLeaderRebalance, 0.11
           to 3.3.
    """
    controller = s.brokers[b].controller
    for p in range(len(controller.partitions)):
        if is_moved(s.zk, p) and is_reassignable(controller, p):
            return True
    return False


def is_barred_by_election(s, b):
    """Whether the automatic rebalance moves no leader: also while a request for preferred leaders counts as in progress, as one
    does that has failed. (Not modelled: it does so in its process also when the term is over. The next failover of the
    process elects for its partitions as for a request that is there. It fails, as does each later one, while one of them has
    no state, or is of a topic that another controller has deleted; else the request is over.)

    Kafka: KafkaController.checkAndTriggerPartitionRebalance, removePartitionsFromPreferredReplicaElection,
           initializePreferredReplicaElection, maybeTriggerPreferredReplicaElection, 0.8.1 to 0.10.2.
    """
    return s.brokers[b].controller.overlooked == 1 or is_barred_by_list(s, b)


def goes_back_if_online(controller, partition):
    """Whether the automatic rebalance has a leader elected that its preferred replica may replace: it is online, in the
    ISR or not (for properties).
    """
    return contains(online(controller, partition), partition.assignment.slots[0])
