"""What Kafka never did: a broker that hears of any change of /controller stands, if it then finds none.

A watch speaks once. From the moment in which it has spoken of a creation until /controller is read again, a deletion
is heard by nobody; whoever then finds nothing must not wait for a word that has been said already.
"""

from kafkaproof.spec.election.belief import CHECKING_TO_ELECT, IDLE, OPEN
from kafkaproof.spec.election.session import Broker
from kafkaproof.spec.kafka.zookeeper import NOTHING, take_event, waiting


def handle_change(s, b: Broker):
    """The controller thread takes up what its watch on /controller said, and looks whether it is needed.

    Guards:  no event is in progress; the watch has fired.
    Effects: /controller is checked against what `b` believes; if there is none, `b` stands.
    Kafka:   none; KafkaController.processControllerChange, 1.1 to 3.9, only checks.
    """
    broker = s.brokers[b]
    if broker.session != OPEN or broker.doing != IDLE or waiting(s.zk, b) == NOTHING:
        return False

    take_event(s.zk, b)
    broker.doing = CHECKING_TO_ELECT
    return True
