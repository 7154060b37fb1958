"""How reassignments in two phases react when terms begin."""

from kafkaproof.spec.language.combine import then
from kafkaproof.spec.language.sets import is_empty
from kafkaproof.spec.partition.context import READING_STATES
from kafkaproof.spec.partition.deletion import brokers
from kafkaproof.spec.partition.deletion.zookeeper import topics_of
from kafkaproof.spec.partition.phases.lists import read_list, take_up_list
from kafkaproof.spec.partition.reassignment.brokers import keep_from_deletion
from kafkaproof.spec.partition.reassignment.progress import reassigned
from kafkaproof.spec.partition.zookeeper import listed


def resume_reassignments(s, b):
    """After the last state the list of partitions to reassign is read; it is taken up when the machines have started.
    Topics that are queued for deletion are ineligible, even if the reassignment is then dropped
    (KafkaController.fetchTopicDeletionsInProgress, onControllerFailover, 1.1 to 2.3).
    """
    controller = s.brokers[b].controller
    if controller.epoch > 0 and controller.doing != READING_STATES:
        read_list(s, b)
        keep_from_deletion(controller, topics_of(s.zk, listed(s.zk)))
        take_up_list(s, b)


load_state = then(brokers.load_state, resume_reassignments)


def is_barred(s, b):
    """Whether the automatic rebalance moves no leader: while a partition is being reassigned.

    Kafka: KafkaController.checkAndTriggerPartitionRebalance, 0.8.1 to 0.10.2; checkAndTriggerAutoLeaderRebalance, 0.11
           to 3.3.
    """
    return not is_empty(reassigned(s.brokers[b].controller))
