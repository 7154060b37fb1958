"""Metrics of controller election."""

from kafkaproof.spec.election.broker_state import NONE
from kafkaproof.spec.election.network import arriving
from kafkaproof.spec.kafka.zookeeper import ABSENT
from kafkaproof.spec.metrics.controllers import ANSWERS, EPOCHS
from kafkaproof.spec.metrics.metric import Measure
from kafkaproof.spec.metrics.names import ACTIVE_CONTROLLERS, BROKERS, REFUSED_REQUESTS, SESSION_EXPIRIES


def active_controllers(s):
    """How many brokers believe that they are the controller.

    Kafka: KafkaController.isActive, 1.1 to 3.9.
    """
    count = 0
    for broker in s.brokers:
        if broker.active:
            count += 1
    return count


def channel_managers(s):
    """How many brokers have a channel manager.

    Kafka: KafkaController.isActive, 0.8 to 1.0.
    """
    count = 0
    for broker in s.brokers:
        if broker.ruling != NONE:
            count += 1
    return count


def registered_brokers(s):
    """How many broker ids are registered, by the current process or a former one."""
    count = 0
    for client in s.zk.clients:
        if client.registered != ABSENT:
            count += 1
    return count


def refused_requests(before, after):
    """How many control requests were delivered to a broker that had seen a higher epoch."""
    count = 0
    for b in range(len(after.brokers)):
        for epoch in range(len(after.network.requests)):
            delivered = arriving(before.network, b, epoch) and not arriving(after.network, b, epoch)
            if delivered and epoch < before.brokers[b].seen_epoch:
                count += 1
    return count


REQUESTS = ("leader_and_isr", "update_metadata", "stop_replica")
COMMON = (
    *EPOCHS,
    Measure(BROKERS, registered_brokers),
    *ANSWERS,
    Measure(REFUSED_REQUESTS, refused_requests, of=REQUESTS),
    Measure(SESSION_EXPIRIES, of=("expire_session",)),
)
METRICS = (Measure(ACTIVE_CONTROLLERS, active_controllers), *COMMON)
OF_VARIANT = {"zkclient": (Measure(ACTIVE_CONTROLLERS, channel_managers), *COMMON)}
