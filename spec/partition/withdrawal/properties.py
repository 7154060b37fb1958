"""What becomes reachable when an operator deletes a list of reassignments."""

from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.spec.language.model import sometimes
from kafkaproof.spec.language.sets import is_empty
from kafkaproof.spec.partition.context import IDLE
from kafkaproof.spec.partition.withdrawal.zookeeper import hears
from kafkaproof.spec.partition.zookeeper import listed


def rules_at_rest(s, b):
    """Whether a broker owns /controller, and waits for events."""
    controller = s.brokers[b].controller
    return controller.epoch > 0 and controller.epoch == s.zk.epoch and controller.doing == IDLE


def goes_unheard(s):
    """There is a list of reassignments, and the controller does not know."""
    b = s.zk.controller
    if b == NOBODY or is_empty(listed(s.zk)):
        return False
    return rules_at_rest(s, b) and not hears(s.zk, b)


def is_heard_in_another_term(s):
    """A list went unheard and was left where it was; another term has begun, and its controller knows of the list."""
    b = s.zk.controller
    if b == NOBODY or is_empty(listed(s.zk)):
        return False
    return rules_at_rest(s, b) and hears(s.zk, b) and s.zk.epoch > 1


GOALS = (sometimes(goes_unheard, faults=3), sometimes(is_heard_in_another_term, epochs=2, faults=4))
