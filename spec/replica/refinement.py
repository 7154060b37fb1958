"""How `replica` refines the abstract `replication`: what must agree, and two steps that the abstract lacks.

A state of `replica` has no function to states of `replication`: the abstract leader reads its followers, so that
it moves its high watermark, truncates or copies at the moment at which the concrete one *may*, and the
concrete one does so when messages have told it, or never. So a relation is given, and the checker keeps
for each concrete state all abstract states that the behaviour so far may have led to (`checker.refinement`).

Agreed: ZooKeeper (leader, leader epoch, ISR), the next record, every log, but that a follower's may already be
as its answer on the way will make it; whoever leads in `replica` leads in `replication`, in the same epoch; and no
high watermark of `replica` is above that of `replication`. Not compared, since only the abstract has it or it
is older here: a follower's leader and epoch, a leader's ISR, requests.

A broker that restarts is, abstractly, one that goes on: its leadership, which nobody obeys, may stay.
"""

from dataclasses import replace

from spec.language.model import Model, Transition
from spec.language.sets import contains, without_member
from spec.museum.replication import KIP320
from spec.replica.broker import LEADER
from spec.replica.follower import truncation_point
from spec.replica.network import RECORD, answer_arrives, has_records
from spec.replication import Replica, following_epoch, is_true_leader, write_isr


def leader_shrink_isr_unseen(s, leader: Replica, follower: Replica):
    """The true leader removes a follower which it does not know to have caught up.

    Guards:  `follower` is in the ISR.
    Effects: it leaves the ISR, in the quorum and at the leader.
    Kafka:   Partition.maybeShrinkIsr: known are fetches, not logs.
    """
    isr = s.replicas[leader].isr
    if leader == follower or not contains(isr, follower) or not is_true_leader(s, leader):
        return False

    write_isr(s, leader, without_member(isr, follower))
    return True


def follower_fetch_nothing(s, leader: Replica, follower: Replica):
    """A follower that lacks no record learns the leader's high watermark.

    Guards:  `follower` follows in the leader's epoch, and its log is as long.
    Effects: the high watermark becomes the leader's.
    Kafka:   ReplicaFetcherThread.processPartitionData, without records.
    """
    f = s.replicas[follower]
    if leader == follower or not following_epoch(s, leader, follower):
        return False
    if f.log.length != s.replicas[leader].log.length:
        return False

    f.hw = s.replicas[leader].hw
    return True


ADDED = (
    Transition(leader_shrink_isr_unseen, "replica {leader}"),
    Transition(follower_fetch_nothing, "replica {follower}"),
)
ABSTRACT: Model = replace(KIP320, variant="kip320-unseen", transitions=KIP320.transitions + ADDED, expected={})


def seen(s):
    """What must be equal: ZooKeeper's state and the next record of `replica`."""
    return s.zk.leader, s.zk.leader_epoch, s.zk.isr, s.clients.next_record


def seen_abstract(a):
    """The same of `replication`."""
    return a.quorum.leader, a.quorum.leader_epoch, a.quorum.isr, a.next_record


def agrees(s, a):
    """Whether no high watermark is above the abstract one."""
    for b in range(len(s.brokers)):
        if s.brokers[b].hw > a.replicas[b].hw:
            return False
    return True


def passes(s, a):
    """Whether logs and leaderships agree, as the module says."""
    for b in range(len(s.brokers)):
        broker = s.brokers[b]
        replica = a.replicas[b]
        if broker.state == LEADER and (replica.leader != b or replica.leader_epoch != broker.leader_epoch):
            return False
        if not same_log(broker.log, replica.log, broker.log.length) and not answered_log(s, b, replica.log):
            return False
    return True


def same_log(log, other, length):
    """Whether `other` is the first `length` records of `log`."""
    if other.length != length:
        return False
    for i in range(length):
        if log.slots[i].id != other.slots[i].id or log.slots[i].epoch != other.slots[i].epoch:
            return False
    return True


def answered_log(s, b, other):
    """Whether `other` is the log of `b` after the answer that is on its way to it."""
    broker = s.brokers[b]
    message = s.network.messages[b]
    if not answer_arrives(s.network, b, broker):
        return False
    if not has_records(s.network, b):
        point = truncation_point(broker, message.last, message.end)
        return same_log(broker.log, other, min(point, broker.log.length))
    if message.kind != RECORD or other.length != broker.log.length + 1:
        return False
    if other.slots[other.length - 1].id != message.id or other.slots[other.length - 1].epoch != message.last:
        return False
    for i in range(broker.log.length):
        if broker.log.slots[i].id != other.slots[i].id or broker.log.slots[i].epoch != other.slots[i].epoch:
            return False
    return True
