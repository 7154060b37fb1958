"""Topics from 2.4 to 2.6: leaders write the ISR, and the controller's watch on the state of a partition that is being
reassigned reports it.
"""

from kafkaproof.spec.language.sets import only
from kafkaproof.spec.partition.context import Broker, Partition
from kafkaproof.spec.partition.phases.zookeeper import is_in_isr
from kafkaproof.spec.partition.progress import at_work
from kafkaproof.spec.partition.reassignment.progress import is_reassigned, look_later, target_of


def caught_up(s, b: Broker, p: Partition):
    """A controller is notified that the target of a reassignment is in the ISR.

    Guards:  it is; `b` is at work.
    Effects: the ISR is to be read.
    Kafka:   KafkaController.processPartitionReassignmentIsrChange, 2.4 to 2.6.
    """
    controller = s.brokers[b].controller
    partition = controller.partitions[p]
    if not at_work(controller) or not is_reassigned(partition) or not is_in_isr(s.zk, p, target_of(partition)):
        return False

    look_later(controller, only(p))
    return True
