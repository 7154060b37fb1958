"""Lemmas of the data plane: what LeaderAndIsr says was written."""

from spec.language.domains import NOBODY, Bound, Number
from spec.language.sets import contains, is_empty
from spec.replica.broker import LEADER, NONE, Broker
from spec.replica.network import RECORD

Epoch = Number(0, Bound("epochs"))


def request_was_written(s, epoch: Epoch):
    """LeaderAndIsr is of leader epochs that were written."""
    return is_empty(s.network.requests[epoch].to) or epoch <= s.zk.leader_epoch


def newest_names_leader(s, epoch: Epoch):
    """That of the present leader epoch names the leader."""
    request = s.network.requests[epoch]
    return is_empty(request.to) or epoch != s.zk.leader_epoch or request.leader == s.zk.leader


def leader_has_epoch(s, b: Broker):
    """Who leads, for ZooKeeper or in its own eyes, does so in some leader epoch."""
    leads = s.brokers[b].state == LEADER and s.brokers[b].leader_epoch < 0
    return not leads and (s.zk.leader == NOBODY or s.zk.leader_epoch >= 0)


def leader_of_the_epoch_leads(s, b: Broker):
    """Who leads in the present leader epoch is the leader in ZooKeeper, if there is one."""
    newest = s.brokers[b].state == LEADER and s.brokers[b].leader_epoch == s.zk.leader_epoch
    return not newest or s.zk.leader == b


def leader_was_told(s, b: Broker):
    """A process that leads in ZooKeeper has the present leader epoch, or LeaderAndIsr is on its way to it."""
    if s.zk.leader != b or s.zk.leader_epoch < 0 or s.brokers[b].state == NONE:
        return True
    has_epoch = s.brokers[b].leader_epoch == s.zk.leader_epoch
    return has_epoch or contains(s.network.requests[s.zk.leader_epoch].to, b)


def older_with_newest(s, b: Broker, epoch: Epoch):
    """While LeaderAndIsr is on its way to the leader in ZooKeeper, that of the present leader epoch is."""
    if s.zk.leader != b or not contains(s.network.requests[epoch].to, b):
        return True
    return contains(s.network.requests[s.zk.leader_epoch].to, b)


def follower_has_leader(s, b: Broker):
    """Who follows knows whom, and in which leader epoch."""
    broker = s.brokers[b]
    return broker.state == NONE or broker.leader != NOBODY and broker.leader_epoch >= 0


def record_has_epoch(s, f: Broker):
    """A record on its way to a follower has the leader epoch in which it was written."""
    message = s.network.messages[f]
    return message.kind != RECORD or message.last >= 0


CURRENT = (
    request_was_written, newest_names_leader, leader_has_epoch, leader_of_the_epoch_leads, leader_was_told,
    older_with_newest, follower_has_leader, record_has_epoch,
)
