"""The rounds of an election of several partitions: those whose write met another version are elected again.

Requests are collected when a round is over, and sent after the last. First states are created once, and collected at
once.
"""

from kafkaproof.spec.kafka.state_machines import NEW_PARTITION
from kafkaproof.spec.language.sets import is_empty, with_member, without_member
from kafkaproof.spec.partition.context import COLLECTED, EMPTY, WRITTEN, drop_result
from kafkaproof.spec.partition.progress import proceed


def is_elected_again(refused):
    """Whether a partition is elected again in the next round of an election, if there is one: where its own write was
    refused, since it met another version.

    Kafka: ZkPartitionStateMachine.electLeaderForPartitions, 2.4 to 3.9.
    """
    return refused


def end_election(controller, p):
    """Partition `p` is done in this round, elected or not."""
    leave_round(controller, p, False)


def retry_election(controller, p):
    """The write of partition `p` met another version: there is another round.

    Kafka: PartitionStateMachine.electLeaderForPartitions, 1.1 to 2.2; ZkPartitionStateMachine.electLeaderForPartitions,
           2.3 to 3.9.
    """
    controller.another_round = 1
    leave_round(controller, p, True)


def leave_round(controller, p, refused):
    """A round of elections has passed partition `p`."""
    if is_elected_again(refused) and controller.partitions[p].state != NEW_PARTITION:
        controller.next_round = with_member(controller.next_round, p)
    end_partition(controller, p)


def end_partition(controller, p):
    """Nothing is left to do for partition `p`; after the last one the next round begins, or the requests are sent."""
    controller.todo = without_member(controller.todo, p)
    drop_result(controller)
    if is_empty(controller.todo):
        end_round(controller)
    proceed(controller)


def end_round(controller):
    """A round of elections is over. What it has written is collected, and sent unless there is another one."""
    if not controller.another_round:
        controller.partition_batch = EMPTY
    else:
        controller.todo = controller.next_round
        if controller.partition_batch == WRITTEN:
            controller.partition_batch = COLLECTED
    controller.another_round = 0
    controller.next_round = 0
