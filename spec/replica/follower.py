"""A follower: it fetches at its log's end, with the epoch of its last record, and truncates where it is told."""

from kafkaproof.spec.replica.broker import FETCHING, Broker
from kafkaproof.spec.replica.network import (
    answer_arrives,
    end_in,
    has_records,
    last_epoch_of,
    send,
    store_answer,
    wants_to_send,
)
from kafkaproof.spec.replica.storage import cut, end_of_epoch, has_epoch


def truncation_point(broker, epoch, end):
    """Where the log must end when the leader's `epoch` ends at `end`; enough if it has that epoch (KIP-279)."""
    own = end_of_epoch(broker.log, epoch)
    return min(own, end) if has_epoch(broker.log, epoch) else own


def after_truncation(broker, epoch):
    """Fetching goes on, and finds out whether that was enough (2.7+)."""
    broker.state = FETCHING


def send_request(s, b: Broker):
    """A follower sends its request, for the first time or again.

    Guards:  it follows; its present request is not on its way.
    Effects: it is; whatever else was between it and a leader is lost.
    Kafka:   AbstractFetcherThread.doWork, ReplicaFetcherThread.
    """
    broker = s.brokers[b]
    if not wants_to_send(s.network, b, broker):
        return False

    send(s.network, b, broker)
    return True


def receive_answer(s, b: Broker):
    """A follower gets an answer, and sends its next request.

    Guards:  there is one that it accepts.
    Effects: one more record, or none, and the high watermark of the answer as far as the log goes; or
             a shorter log.
    Kafka:   AbstractFetcherThread.processFetchRequest, truncateOnFetchResponse, maybeTruncate.
    """
    broker = s.brokers[b]
    if not answer_arrives(s.network, b, broker):
        return False

    if has_records(s.network, b):
        store_answer(s.network, b, broker)
    else:
        epoch = last_epoch_of(s.network, b)
        point = truncation_point(broker, epoch, end_in(s.network, b))
        after_truncation(broker, epoch)
        cut(broker, point)
    send(s.network, b, broker)
    return True
