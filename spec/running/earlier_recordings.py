"""What running controllers did in recordings up to format 7, beside the rules of `kafkaproof.spec.partition.history.recordings`."""

from kafkaproof.spec.language.sets import only
from kafkaproof.spec.partition.context import Broker, Partition
from kafkaproof.spec.partition.progress import at_work
from kafkaproof.spec.partition.reassignment.plans import is_ready
from kafkaproof.spec.partition.reassignment.progress import is_reassigned, look_later


def caught_up(s, b: Broker, p: Partition):
    """A controller at work finds that the target of a reassignment is in the ISR that it remembers, and looks at it."""
    controller = s.brokers[b].controller
    partition = controller.partitions[p]
    if not at_work(controller) or not is_reassigned(partition) or not is_ready(partition, partition.isr):
        return False

    look_later(controller, only(p))
    return True
