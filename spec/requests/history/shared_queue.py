"""One request queue for clients and controllers (up to 2.1): control requests wait behind produce requests.

Only the head of a broker's queue matters: a produce request, with control requests behind it, or none. While they wait
the broker keeps its role: it answers produce requests with success for a partition that was taken away from it
(KIP-291).
"""

from kafkaproof.spec.partition.context import Broker
from kafkaproof.spec.partition.metadata.cache import start_process as begin
from kafkaproof.spec.partition.replica import Epoch
from kafkaproof.spec.requests.batch import NOTHING
from kafkaproof.spec.requests.broker import leads_any
from kafkaproof.spec.requests.network import UNANSWERED, Delivery, arrive, arriving, has_arrived, waiting


def start_process(broker):
    """A process begins with an empty cache and an empty queue."""
    begin(broker)
    broker.produce = 0


def may_handle_in_turn(broker):
    """Whether no produce request is ahead of a control request that arrives.

    Kafka: RequestChannel.sendRequest, 0.8 to 2.1.
    """
    return broker.up == 1 and not broker.produce


def produce_arrives(s, b: Broker):
    """A client sends a produce request to the broker that it believes to be the leader.

    Guards:  `b` believes that it leads; its queue is empty.
    Effects: the produce request is at the head of its queue.
    Kafka:   SocketServer, RequestChannel.sendRequest, 0.8 to 2.1.
    """
    broker = s.brokers[b]
    if not broker.up or not leads_any(broker, b) or broker.produce or waiting(s.network, b):
        return False

    broker.produce = 1
    return True


def request_arrives(s, b: Broker, epoch: Epoch, delivery: Delivery):
    """A control request arrives behind a produce request.

    Guards:  the process lives; a produce request is at the head of its queue.
    Effects: it waits.
    Kafka:   SocketServer, RequestChannel.sendRequest, 0.8 to 2.1.
    """
    broker = s.brokers[b]
    if not broker.up or not broker.produce or delivery == UNANSWERED:
        return False
    if arriving(s.network, epoch, b, delivery) == NOTHING or has_arrived(s.network, epoch, b, delivery):
        return False

    arrive(s.network, epoch, b, delivery)
    return True


def answer_produce(s, b: Broker):
    """A broker appends what a client produces, and answers with success if it believes that it leads.

    Guards:  a produce request is at the head of its queue.
    Effects: it is gone.
    Kafka:   KafkaApis.handleProduceRequest, 0.11 to 2.1.
    """
    broker = s.brokers[b]
    if not broker.up or not broker.produce:
        return False

    broker.produce = 0
    return True
