"""How followers of earlier releases truncate: to their high watermark, or where the leader says an epoch ends.

`hw` (up to 0.10.2): a new follower cuts its log at its own high watermark, which lags one fetch behind.
`epoch101` (0.11 to 1.1): it asks where its last epoch ends, and the answer is an offset alone.
`epoch279` (2.0 to 2.6): the answer names the epoch too, and the follower asks again until it has that epoch.
In all of them a fetch beyond the leader's end is answered with that end, and nothing else is compared.
"""

from kafkaproof.spec.replica.broker import FETCHING, LEADER, TRUNCATING, Broker
from kafkaproof.spec.replica.network import END, EPOCHS, answer_end, check, last_epoch_of, request_arrives
from kafkaproof.spec.replica.storage import NO_EPOCH, cut, end_of_epoch, has_epoch, known_epoch
from kafkaproof.spec.replica.zookeeper import OK


def restarts_for_another_leader(broker, leader, epoch):
    """Whether a follower restarts its fetcher: only for another leader (up to 1.1)."""
    return broker.state == LEADER or broker.leader != leader


def restarts_after_a_gap(broker, leader, epoch):
    """Whether a follower restarts its fetcher: for another leader, or when it has missed an epoch (2.0)."""
    return broker.state == LEADER or broker.leader != leader or epoch > broker.leader_epoch + 1


def begin_at_high_watermark(broker):
    """A new follower cuts its log at its high watermark, and fetches from there."""
    cut(broker, broker.hw)
    broker.state = FETCHING


def begin_truncating(broker):
    """A new follower with records asks where its last epoch ends."""
    broker.state = TRUNCATING if broker.log.length > 0 else FETCHING


def any_epoch(message, broker):
    """An answer does not say which epoch's request it belongs to."""
    return True


def beyond_end(log, offset, last):
    """A fetch is refused only beyond the leader's end: OFFSET_OUT_OF_RANGE."""
    return offset > log.length


def own_epoch(log, last):
    """The follower has its own last epoch, so it truncates exactly where the answer says."""
    return last


def whole_log(log, last):
    """OFFSET_OUT_OF_RANGE comes with the leader's end."""
    return log.length


def cut_at_offset(broker, epoch, end):
    """The follower truncates where the answer says, or to its high watermark if the leader does not know (KIP-101)."""
    return broker.hw if epoch == NO_EPOCH else end


def cut_at_epoch(broker, epoch, end):
    """The follower truncates to the end of the answered epoch: the smaller end if it has that epoch, else its own
    (KIP-279).
    """
    if epoch == NO_EPOCH:
        return broker.hw
    own = end_of_epoch(broker.log, epoch)
    return min(own, end) if has_epoch(broker.log, epoch) else own


def ask_until_known(broker, epoch):
    """The follower asks again, unless it has the epoch of the answer, or nothing is left."""
    known = epoch == NO_EPOCH or has_epoch(broker.log, epoch) or end_of_epoch(broker.log, epoch) == 0
    broker.state = FETCHING if known else TRUNCATING


def serve_epochs(s, b: Broker, follower: Broker):
    """A broker is asked where an epoch ends.

    Guards:  OffsetsForLeaderEpoch is in flight to it.
    Request: OK; NOT_LEADER; in later versions FENCED_LEADER_EPOCH or UNKNOWN_LEADER_EPOCH.
    Effects: on OK it answers with the largest epoch up to the requested one, and where that ends; it does not know an
             epoch above its own.
    Kafka:   ReplicaManager.lastOffsetForLeaderEpoch, LeaderEpochFileCache.endOffsetFor, 0.11 to 3.9.
    """
    broker = s.brokers[b]
    if not request_arrives(s.network, b, follower, EPOCHS):
        return False

    asked = last_epoch_of(s.network, follower)
    answer = check(s.network, follower, broker)
    if answer == OK and asked > broker.leader_epoch:
        answer_end(s.network, follower, END, NO_EPOCH, 0)
    elif answer == OK:
        answer_end(s.network, follower, END, known_epoch(broker.log, asked), end_of_epoch(broker.log, asked))
    return True
