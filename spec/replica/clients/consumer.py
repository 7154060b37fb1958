"""A consumer, which accepts as leader any broker that believes it leads, and reads below its high watermark.

Consumers that check the leader epoch (2.1 and later) read less.
"""

from kafkaproof.spec.replica.broker import LEADER, Broker
from kafkaproof.spec.replica.clients.network import deliver, position_of


def consume(s, b: Broker):
    """The consumer reads its next record from broker `b`.

    Guards:  `b` believes it leads; the record is below its high watermark.
    Effects: the consumer has it.
    Kafka:   KafkaApis.handleFetchRequest, 0.8 to 3.9; Fetcher.sendFetches, 0.10.0 to 3.9.
    """
    broker = s.brokers[b]
    at = position_of(s.clients)
    if broker.state != LEADER or at >= broker.hw:
        return False

    deliver(s.clients, broker.log.slots[at].id)
    return True
