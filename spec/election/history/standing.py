"""What Kafka never did: a broker that hears of any change of /controller becomes a candidate if it then finds none.

A watch fires once. After it has fired for a creation, and until /controller is read again, nobody is notified of a
deletion; a broker that then finds no /controller must not wait for a notification that has been sent already.
"""

from kafkaproof.spec.election.broker_state import CHECKING_TO_ELECT, IDLE, OPEN
from kafkaproof.spec.election.session import Broker
from kafkaproof.spec.kafka.zookeeper import NOTHING, take_event, waiting


def handle_change(s, b: Broker):
    """The controller thread handles the notification of its watch on /controller, and checks whether it is needed.

    Guards:  no event is in progress; the watch has fired.
    Effects: /controller is checked against what `b` believes; if there is none, `b` becomes a candidate.
    Kafka:   none (KafkaController.processControllerChange only checks).
    """
    broker = s.brokers[b]
    if broker.session != OPEN or broker.doing != IDLE or waiting(s.zk, b) == NOTHING:
        return False

    take_event(s.zk, b)
    broker.doing = CHECKING_TO_ELECT
    return True
