"""What is asked of controllers that read what their servers know."""

from kafkaproof.spec.language.model import sometimes
from kafkaproof.spec.language.sets import contains
from kafkaproof.spec.partition.context import WRITING_LEADER
from kafkaproof.spec.partition.lagging.zookeeper import is_behind
from kafkaproof.spec.partition.properties.controllers import rules
from kafkaproof.spec.partition.properties.safety import SAFETY as ALL


def rules_and_sees_all(s, b):
    """Whether a controller rules, waits for events, and reads what is there (for properties)."""
    return rules(s, b) and not is_behind(s.zk, b)


def elects_from_the_past(s):
    """A controller is to write the result of an election from a state that another has written over since."""
    for b in range(len(s.brokers)):
        controller = s.brokers[b].controller
        for p in range(len(s.zk.partitions)):
            if controller.doing == WRITING_LEADER and contains(s.zk.clients[b].late, p):
                if not contains(s.zk.partitions[p].readers, b):
                    return True
    return False


def knows_the_departed(s):
    """A controller takes a broker for live that is gone, and is told of it only when its server catches up."""
    for b in range(len(s.brokers)):
        gone = not contains(s.zk.registered, b)
        for client in s.zk.clients:
            if gone and client.rules and contains(client.changed, b) and contains(client.was, b):
                return True
    return False


SAFETY = tuple(p.rebound({rules: rules_and_sees_all}) for p in ALL)
GOALS = (sometimes(elects_from_the_past, epochs=2, faults=2), sometimes(knows_the_departed))
