"""A follower: it fetches at its log's end, with the epoch of its last record, and truncates where the answer says."""

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
    """Where the log must end if the leader's `epoch` ends at `end`; final if the log has that epoch (KIP-279)."""
    own = end_of_epoch(broker.log, epoch)
    return min(own, end) if has_epoch(broker.log, epoch) else own


def after_truncation(broker, epoch):
    """Go on fetching: the next fetch finds out whether the truncation was enough (2.8+)."""
    broker.state = FETCHING


def send_request(s, b: Broker):
    """A follower sends its request, for the first time or again.

    Guards:  it follows; its present request is not in flight.
    Effects: the request is in flight; any other message between it and a leader is lost.
    Kafka:   AbstractFetcherThread.doWork, 0.8 to 3.9.
    """
    broker = s.brokers[b]
    if not wants_to_send(s.network, b, broker):
        return False

    send(s.network, b, broker)
    return True


def receive_answer(s, b: Broker):
    """A follower gets an answer, and sends its next request.

    Guards:  there is an answer that it accepts.
    Effects: it appends a record if there is one, and takes the high watermark of the answer as far as its log goes; or
             it truncates its log.
    Kafka:   AbstractFetcherThread.processFetchRequest, 0.8 to 3.9; maybeTruncate, 0.11 to 3.9;
             truncateOnFetchResponse, 2.8 to 3.9.
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
