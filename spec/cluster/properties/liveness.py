"""Liveness of the composed cluster: a leader alone in the ISR waits for no other replica, whoever is controller."""

from kafkaproof.spec.language.fairness import at_last, strong, weak
from kafkaproof.spec.language.model import eventually
from kafkaproof.spec.partition.context import Partition
from kafkaproof.spec.partition.properties.liveness import CONTROLLERS_WORK
from kafkaproof.spec.replica.properties.liveness import alone_acknowledges as acknowledges
from kafkaproof.spec.replica.properties.liveness import leader_is_alone as is_alone


def leader_is_alone(s, p):
    """The leader of `p` that ZooKeeper names leads, and is alone in the ISR."""
    return is_alone(s.planes[p])


def alone_acknowledges(s, p: Partition):
    """A live leader that stays alone in ZooKeeper's ISR eventually waits for no other replica, and acknowledges by
    itself all that it has (L4).
    """
    return acknowledges(s.planes[p])


ANSWERS_COME = (
    strong("alter_partition", each=("p", "sender")),
    strong("confirm_isr", "refuse_isr", each=("p", "sender")),
    weak("learn_isr", each=("b", "p")),
)
LIVENESS = (eventually(alone_acknowledges, given=CONTROLLERS_WORK + ANSWERS_COME + (at_last(leader_is_alone),)),)
