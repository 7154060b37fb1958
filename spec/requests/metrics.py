"""Metrics of the system requests: those of partition, and control requests on their way, waiting, refused."""

from kafkaproof.spec.language.sets import is_empty
from kafkaproof.spec.metrics.metric import Measure
from kafkaproof.spec.metrics.names import CONTROL_QUEUE, EVENT_QUEUE, REFUSED_REQUESTS, REQUEST_QUEUE
from kafkaproof.spec.partition import metrics as of_partition


def control_queue(s):
    """How many batches wait in the channels of all terms.

    Kafka: ControllerChannelManager."TotalQueueSize", 0.11 to 3.9.
    """
    count = 0
    for epoch in range(len(s.network.channels)):
        for r in range(len(s.brokers)):
            count += s.network.channels[epoch][r].queue.length
    return count


def request_queue(s):
    """How many requests wait at brokers: produce requests, and control requests behind them.

    Kafka: RequestChannel."RequestQueueSize", 0.8 to 3.9.
    """
    count = 0
    for broker in s.brokers:
        if broker.produce:
            count += 1
    for epoch in range(len(s.network.channels)):
        for r in range(len(s.brokers)):
            count += s.network.channels[epoch][r].queue.slots[0].waits + s.network.channels[epoch][r].late.waits
    return count


def event_queue(s):
    """How many answers to LeaderAndIsr wait for controllers, counting only storage errors."""
    count = 0
    for b in range(len(s.network.errors)):
        for r in range(len(s.network.errors)):
            if not is_empty(s.network.errors[b][r]):
                count += 1
    return count


HANDLERS = ("leader_and_isr", "update_metadata", "stop_replica")
STALE = ("STALE_CONTROLLER_EPOCH", "STALE_BROKER_EPOCH", "FENCED_LEADER_EPOCH")
METRICS = (
    *(measure for measure in of_partition.METRICS if measure.metric != EVENT_QUEUE),
    Measure(CONTROL_QUEUE, control_queue),
    Measure(REQUEST_QUEUE, request_queue),
    Measure(EVENT_QUEUE, event_queue),
    Measure(REFUSED_REQUESTS, of=HANDLERS, answers=STALE),
)
