"""A broker's handling of LeaderAndIsr: it leads or follows, in a higher leader epoch than before."""

from kafkaproof.spec.language.domains import Bound, Number
from kafkaproof.spec.replica.broker import FETCHING, LEADER, Broker, follow, lead
from kafkaproof.spec.replica.clients.network import commit
from kafkaproof.spec.replica.network import arriving, isr_in, leader_in, leave_leader, send_first, take_request

Epoch = Number(0, Bound("epochs"))


def restarts(broker, leader, epoch):
    """Whether a follower restarts its fetcher: on any new epoch (2.1+)."""
    return True


def begin_fetching(broker):
    """A new follower fetches at its log's end, and learns from the answer where to truncate (2.8+)."""
    broker.state = FETCHING


def obey(broker, b, leader, epoch, isr):
    """Lead or follow in a new leader epoch. Returns whether a fetcher starts."""
    if leader == b:
        lead(broker, b, epoch, isr)
        return False
    if not restarts(broker, leader, epoch):
        broker.leader_epoch = epoch
        return False
    follow(broker, leader, epoch)
    begin_fetching(broker)
    return True


def leader_and_isr(s, b: Broker, epoch: Epoch):
    """A broker takes LeaderAndIsr, not necessarily the newest.

    Guards:  the request is in flight, and its leader epoch is above the broker's.
    Effects: if it is named as leader, it leads; otherwise it follows, if need be from a truncated log. It no longer
             waits for the answer to a former fetch, but that fetch itself may still arrive.
    Kafka:   ReplicaManager.becomeLeaderOrFollower, Partition.makeLeader, makeFollower, 0.8 to 3.9.
    """
    broker = s.brokers[b]
    if epoch <= broker.leader_epoch or not arriving(s.network, b, epoch):
        return False

    leader = leader_in(s.network, epoch)
    isr = isr_in(s.network, epoch)
    take_request(s.network, b, epoch)
    leave_leader(s.network, b)
    if obey(broker, b, leader, epoch, isr):
        send_first(s.network, b, broker)
    if broker.state == LEADER:
        commit(s.clients, s.zk, b, broker)
    return True
