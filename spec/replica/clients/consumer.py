"""A consumer, which takes any broker that believes to lead for the leader, and reads below its high watermark.

Consumers that check the leader epoch (2.1 and later) read less.
"""

from kafkaproof.spec.replica.broker import LEADER, Broker
from kafkaproof.spec.replica.clients.network import deliver, position_of


def consume(s, b: Broker):
    """The consumer reads its next record from broker `b`.

    Guards:  `b` believes to lead; the record is below its high watermark.
    Effects: the consumer has it.
    Kafka:   Fetcher (clients), ReplicaManager.fetchMessages.
    """
    broker = s.brokers[b]
    at = position_of(s.clients)
    if broker.state != LEADER or at >= broker.hw:
        return False

    deliver(s.clients, broker.log.slots[at].id)
    return True
