"""How `replica` refines the abstract `replication`: what must agree, and the steps that `replication` lacks.

No function maps states of `replica` to states of `replication`: the abstract leader reads its followers' state, so it
moves its high watermark, truncates or copies at the moment when the concrete leader *may*; the concrete one does so
once it has the messages, or never. Therefore the refinement is a relation, and the checker keeps for each concrete
state all abstract states to which the behaviour so far may have led (`kafkaproof.checker.refine`).

Both must agree on ZooKeeper (leader, leader epoch, ISR), on the next record, and on every log, except that the abstract
log of a follower may already include the answer in flight to it. A broker that leads in `replica` leads in
`replication`, in the same epoch; and no high watermark of `replica` is above that of `replication`. Not compared,
because only the abstract model has it or because it is older here: a follower's leader and epoch, a leader's ISR,
requests.

A broker that restarts is, abstractly, one that goes on: its leadership, which nobody obeys, may stay, and its
checkpointed high watermark is merely lower. min.insync.replicas only forbids steps.
"""

from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.spec.language.model import Transition
from kafkaproof.spec.language.refinement import Added, Refinement
from kafkaproof.spec.language.sets import contains, only, with_member, without_member
from kafkaproof.spec.replica.broker import LEADER, epoch_start
from kafkaproof.spec.replica.follower import truncation_point
from kafkaproof.spec.replica.network import RECORD, answer_arrives, has_records
from kafkaproof.spec.replication.model import KIP320
from kafkaproof.spec.replication.replication import (
    Replica,
    following_epoch,
    is_true_leader,
    presumes_leadership,
    reached_high_watermark,
    same_entry,
    write_isr,
    write_quorum,
)


def leader_shrink_isr_unseen(s, leader: Replica, follower: Replica):
    """The true leader removes a follower that, as far as it knows, has not caught up.

    Guards:  `follower` is in the ISR.
    Effects: it leaves the ISR, in the quorum and at the leader.
    Kafka:   Partition.maybeShrinkIsr, 0.8 to 3.9 (a leader knows fetches, not logs).
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
    Kafka:   ReplicaFetcherThread.processPartitionData, 0.8 to 3.9 (without records).
    """
    f = s.replicas[follower]
    if leader == follower or not following_epoch(s, leader, follower):
        return False
    if f.log.length != s.replicas[leader].log.length:
        return False

    f.hw = s.replicas[leader].hw
    return True


def leader_inc_high_watermark_by_past(s, leader: Replica):
    """A presumed leader raises its high watermark by a fetch that arrives late: a member has left the epoch since.

    Guards:  every member of the leader's local ISR has the record, and no older epoch than the leader's.
    Effects: the high watermark grows by one.
    Kafka:   Partition.maybeIncrementLeaderHW, 0.8 to 3.9; updateFollowerFetchState, 2.4 to 3.9 (a fetch counts,
             whatever happens after it).
    """
    l = s.replicas[leader]
    if not presumes_leadership(s, leader) or l.hw >= l.log.length:
        return False
    for f in range(len(s.replicas)):
        if contains(l.isr, f):
            if s.replicas[f].leader_epoch < l.leader_epoch or not same_entry(l.log, s.replicas[f].log, l.hw):
                return False

    l.hw += 1
    return True


def leader_expand_isr_at_epoch_start(s, leader: Replica, follower: Replica):
    """The true leader adds a follower that has reached the start of its epoch, although its high watermark has not.

    Guards:  `follower` follows in the leader's epoch; it has reached its high watermark and the start of its epoch.
    Effects: the follower joins the ISR, in the quorum and at the leader.
    Kafka:   Partition.maybeExpandIsr, 2.1 to 3.9 (KAFKA-7128).
    """
    isr = s.replicas[leader].isr
    if leader == follower or contains(isr, follower) or not is_true_leader(s, leader):
        return False
    if not following_epoch(s, leader, follower) or not reached_high_watermark(s, leader, follower):
        return False
    if s.replicas[follower].log.length < epoch_start(s.replicas[leader]):
        return False

    write_isr(s, leader, with_member(isr, follower))
    return True


def elect_unclean(s, leader: Replica):
    """The controller makes a replica outside the ISR leader.

    Guards:  nobody leads; `leader` is not in the ISR.
    Effects: a new epoch; the new leader alone is in the ISR.
    Kafka:   PartitionLeaderElectionAlgorithms.offlinePartitionLeaderElection, 1.1 to 3.9.
    """
    if s.quorum.leader != NOBODY or contains(s.quorum.isr, leader):
        return False

    write_quorum(s, leader, only(leader))
    return True


def same_logs_and_leaders(s, a):
    """Logs agree, except that a follower may already have the answer in flight; a leader in one leads in the other."""
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
    """Whether `other` is the log of `b` after the answer that is in flight to it."""
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


def no_higher_watermark(s, a):
    """No high watermark is above the abstract one."""
    for b in range(len(s.brokers)):
        if s.brokers[b].hw > a.replicas[b].hw:
            return False
    return True


TO_REPLICATION = Refinement(
    system="replica",
    abstract=KIP320,
    added=(
        Added(Transition(leader_shrink_isr_unseen, "replica {leader}")),
        Added(Transition(follower_fetch_nothing, "replica {follower}")),
        Added(Transition(leader_inc_high_watermark_by_past, "replica {leader}"), {"brokers": 3}),
        Added(Transition(leader_expand_isr_at_epoch_start, "replica {leader}"), {"brokers": 3}),
        Added(Transition(elect_unclean, "controller"), {"unclean": 1}),
    ),
    equal={
        "zk.leader": "quorum.leader",
        "zk.leader_epoch": "quorum.leader_epoch",
        "zk.isr": "quorum.isr",
        "clients.next_record": "next_record",
    },
    passes=same_logs_and_leaders,
    agrees=no_higher_watermark,
)
