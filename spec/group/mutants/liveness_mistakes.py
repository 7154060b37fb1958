"""The deliberate mistakes of `liveness`: functions that take the place of the true ones."""

from kafkaproof.spec.group.coordinator import SYNC_PARKED, unpark
from kafkaproof.spec.group.group_states import PREPARING_REBALANCE
from kafkaproof.spec.group.join import join_timeout
from kafkaproof.spec.group.loading import load
from kafkaproof.spec.group.membership import expire
from kafkaproof.spec.group.network import NONE, give_assignment
from kafkaproof.spec.group.sorts import Broker, KnownId, MemberId, Protocol, Topic
from kafkaproof.spec.group.verdicts import heartbeat_verdict


def hush_the_rebalance(broker, id, instance, generation):
    """A heartbeat in PreparingRebalance is answered with NONE: members are not told to join again."""
    verdict = heartbeat_verdict(broker, id, instance, generation)
    return NONE if broker.group.state == PREPARING_REBALANCE else verdict


def answer_the_leader(net, group, epoch):
    """When the assignment is stored, only the sync of the leader is answered."""
    member = group.members[group.leader]
    if member.parked == SYNC_PARKED:
        give_assignment(net, member.waiter, epoch, 1 if group.owner == group.leader else 0)
        unpark(member)


def delay_for_ever(s, b: Broker, leader: MemberId, protocol: Protocol, topic: Topic):
    """The initial delay of a rebalance is never over."""
    if s.brokers[b].group.delayed:
        return False
    return join_timeout(s, b, leader, protocol, topic)


def expire_newcomers(s, b: Broker, id: KnownId, heir: MemberId):
    """Only the session of a new member ends, whose first rebalance is not over."""
    if not s.brokers[b].group.members[id].fresh:
        return False
    return expire(s, b, id, heir)


def load_records(s, b: Broker):
    """The load of a partition without records does not end."""
    if s.brokers[b].read == 0:
        return False
    return load(s, b)


def keep_forsaken(group):
    """The expiry task takes offsets away, and leaves Empty groups."""
    return False
