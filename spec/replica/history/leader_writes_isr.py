"""ISR changes of 0.8 to 2.6: the leader writes the znode itself, and knows the answer when it goes on.

A leader whose version is stale (BADVERSION) keeps its old ISR, and tries again for ever, until LeaderAndIsr
brings it the new version. If that was lost, nothing does (KAFKA-2729).

Up to 2.0.0 a follower joins when it has reached the high watermark. That of a new leader is the one it had as a
follower, one fetch behind: a replica without the last committed records may join, and be elected (KAFKA-7128).
"""

from kafkaproof.spec.language.sets import contains, with_member, without_member
from kafkaproof.spec.replica.broker import Broker, advance
from kafkaproof.spec.replica.clients.network import commit
from kafkaproof.spec.replica.leader import may_change_isr, may_join
from kafkaproof.spec.replica.zookeeper import OK, set_isr


def has_caught_up(broker, follower):
    """Whether a follower has reached the high watermark, even where that is behind what is committed (up to 2.0.0)."""
    return broker.ends[follower] >= broker.hw


def expand_isr(s, b: Broker, follower: Broker):
    """A leader adds a follower that has caught up to the ISR.

    Guards:  it leads; the follower's known end is far enough.
    Request: OK; BADVERSION.
    Effects: on OK the follower is in the leader's ISR too.
    Kafka:   Partition.maybeExpandIsr, 0.8 to 2.6.
    """
    broker = s.brokers[b]
    if not may_change_isr(broker) or contains(broker.isr, follower) or not may_join(broker, follower):
        return False

    answer = set_isr(s.zk, b, broker.leader_epoch, with_member(broker.isr, follower))
    if answer == OK:
        broker.isr = with_member(broker.isr, follower)
        advance(broker, b)
        commit(s.clients, s.zk, b, broker)
    return True


def shrink_isr(s, b: Broker, follower: Broker):
    """A leader removes a follower that is out of sync from the ISR.

    Guards:  it leads; the follower's known end is not its own. Time is not modelled.
    Request: OK; BADVERSION.
    Effects: on OK the high watermark waits for the follower no more.
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
