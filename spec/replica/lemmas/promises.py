"""Lemmas of what is promised of replicas with real messages, for two brokers: why it stays.

Promised is what was committed or read, and what is below a high watermark: a broker's, or one in an answer. All of
the ISR has it, whoever is followed has it, and whom a leader proposes to add to the ISR.
"""

from kafkaproof.spec.language.domains import Bound, Number
from kafkaproof.spec.language.sets import contains
from kafkaproof.spec.replica.broker import FETCHING, LEADER, Broker
from kafkaproof.spec.replica.lemmas.logs import answers, has_below, is_answered
from kafkaproof.spec.replica.network import SENT
from kafkaproof.spec.replica.properties.safety import holds_committed, holds_read

Epoch = Number(0, Bound("epochs"))


def has_visible(s, b):
    """Whether `b` has all that is below the high watermark of a broker."""
    for other in range(len(s.brokers)):
        if not has_below(s, b, other, s.brokers[other].hw):
            return False
    return True


def has_answered(s, b):
    """Whether `b` has all that is below the high watermark in an answer on its way."""
    for f in range(len(s.brokers)):
        for leader in range(len(s.brokers)):
            if answers(s, f, leader) and not has_below(s, b, leader, s.network.messages[f].hw):
                return False
    return True


def has_promised(s, b):
    """Whether `b` has all that is promised."""
    return holds_committed(s, b) and holds_read(s, b) and has_visible(s, b) and has_answered(s, b)


def is_promised(s, i):
    """Whether something is promised at an offset."""
    if s.clients.places[i].ghosts.committed != 0 or s.clients.places[i].ghosts.read != 0:
        return True
    for b in range(len(s.brokers)):
        if i < s.brokers[b].hw or is_answered(s, b) and i < s.network.messages[b].hw:
            return True
    return False


def promised_in_epoch_is_known(s, leader: Broker):
    """What is promised of the epoch of the leader by right is below its high watermark (KAFKA-7128)."""
    broker = s.brokers[leader]
    if s.zk.unclean > 0 or broker.state != LEADER or broker.leader_epoch != s.zk.leader_epoch:
        return True
    for i in range(len(broker.log.slots)):
        if broker.hw <= i < broker.log.length and broker.log.slots[i].epoch == broker.leader_epoch:
            if is_promised(s, i):
                return False
    return True


def isr_has_promised(s, member: Broker):
    """Every member of the ISR in ZooKeeper has all that is promised."""
    return s.zk.unclean > 0 or not contains(s.zk.isr, member) or has_promised(s, member)


def followed_has_promised(s, leader: Broker, f: Broker):
    """So has who is followed."""
    follows = s.brokers[f].state == FETCHING and s.brokers[f].leader == leader
    return s.zk.unclean > 0 or not follows or has_promised(s, leader)


def to_be_followed_has_promised(s, leader: Broker, f: Broker, epoch: Epoch):
    """And whom LeaderAndIsr on its way to another names."""
    request = s.network.requests[epoch]
    will_follow = leader != f and request.leader == leader and contains(request.to, f)
    return s.zk.unclean > 0 or not will_follow or has_promised(s, leader)


def proposed_has_promised(s, leader: Broker, member: Broker):
    """And who is in the ISR that the leader by right has proposed."""
    alter = s.network.alters[leader]
    asked = alter.state == SENT and alter.epoch == s.zk.leader_epoch and contains(alter.isr, member)
    return s.zk.unclean > 0 or not asked or has_promised(s, member)


PROMISES = (
    promised_in_epoch_is_known,
    isr_has_promised,
    followed_has_promised,
    to_be_followed_has_promised,
    proposed_has_promised,
)
