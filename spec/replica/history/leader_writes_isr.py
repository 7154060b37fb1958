"""ISR changes in 0.8 to 2.6: the leader writes the znode itself, and has the answer before it goes on.

A leader whose version is stale (BADVERSION) keeps its old ISR, and retries until LeaderAndIsr brings it the new
version. If that request was lost, it retries for ever (KAFKA-2729).

Up to 2.0.0 a follower joins when it has reached the high watermark. A new leader starts with the high watermark that it
had as a follower, one fetch behind. So a replica without the last committed records may join, and be elected
(KAFKA-7128).
"""

from kafkaproof.spec.language.sets import contains, with_member, without_member
from kafkaproof.spec.replica.broker import Broker, advance
from kafkaproof.spec.replica.clients.network import commit
from kafkaproof.spec.replica.leader import has_fetched, may_change_isr, may_join
from kafkaproof.spec.replica.zookeeper import OK, set_isr


def has_caught_up(broker, follower):
    """Whether a follower has reached the high watermark, even if that lags behind what is committed (up to 2.0.0)."""
    return broker.ends[follower] >= broker.hw


def expand_isr(s, b: Broker, follower: Broker):
    """A leader adds to the ISR a follower that has caught up.

    Guards:  it leads; the follower has fetched in this leader epoch, and its known end is far enough.
    Request: OK; BADVERSION.
    Effects: on OK the follower is in the leader's ISR too.
    Kafka:   Partition.updateLeaderHWAndMaybeExpandIsr, 0.8; maybeExpandIsr, 0.9 to 2.6.
    """
    broker = s.brokers[b]
    if not may_change_isr(broker) or contains(broker.isr, follower):
        return False
    if not has_fetched(broker, follower) or not may_join(broker, follower):
        return False

    answer = set_isr(s.zk, b, broker.leader_epoch, with_member(broker.isr, follower))
    if answer == OK:
        broker.isr = with_member(broker.isr, follower)
        advance(broker, b)
        commit(s.clients, s.zk, b, broker)
    return True


def shrink_isr(s, b: Broker, follower: Broker):
    """A leader removes from the ISR a follower that is out of sync.

    Guards:  it leads; the follower's known end differs from its own. Time is not modelled.
    Request: OK; BADVERSION.
    Effects: on OK the high watermark no longer waits for the follower.
    Kafka:   Partition.maybeShrinkIsr, 0.8 to 2.6.
    """
    broker = s.brokers[b]
    if not may_change_isr(broker) or follower == b or not contains(broker.isr, follower):
        return False
    if broker.ends[follower] == broker.log.length:
        return False

    answer = set_isr(s.zk, b, broker.leader_epoch, without_member(broker.isr, follower))
    if answer == OK:
        broker.isr = without_member(broker.isr, follower)
        advance(broker, b)
        commit(s.clients, s.zk, b, broker)
    return True
