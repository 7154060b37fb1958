"""Replication before KIP-320: a leader serves every follower that names it, whatever the epoch.

The transitions here are shared by `truncate_to_hw`, `kip101` and `kip279`, which differ in where a new
follower truncates.
"""

from kafkaproof.spec.language.sets import contains, with_member, without_member
from kafkaproof.spec.replication.replication import (
    Replica,
    adopt,
    copy_entry,
    is_true_leader,
    presumes_leadership,
    truncate,
    write_isr,
)


def caught_up(s, leader, follower, end):
    """Whether `follower` names `leader` and both logs reach offset `end`; epochs are not compared."""
    f = s.replicas[follower]
    return f.leader == leader and (end == 0 or (end <= s.replicas[leader].log.length and end <= f.log.length))


def leader_expand_isr(s, leader: Replica, follower: Replica):
    """The true leader adds to the ISR a follower that has reached its high watermark.

    Guards:  `follower` names this leader, in any epoch, and has reached its high watermark.
    Effects: the follower joins the ISR, in the quorum and at the leader.
    Kafka:   Partition.updateLeaderHWAndMaybeExpandIsr, 0.8; maybeExpandIsr, 0.9 to 2.0.0.
    """
    isr = s.replicas[leader].isr
    if contains(isr, follower) or not is_true_leader(s, leader):
        return False
    if not caught_up(s, leader, follower, s.replicas[leader].hw):
        return False

    write_isr(s, leader, with_member(isr, follower))
    return True


def leader_shrink_isr(s, leader: Replica, follower: Replica):
    """The true leader removes from the ISR a follower that has not reached its end offset.

    Guards:  `follower` does not name this leader, or is behind its end offset.
    Effects: the follower leaves the ISR, in the quorum and at the leader.
    Kafka:   Partition.maybeShrinkIsr, 0.8 to 2.0.
    """
    isr = s.replicas[leader].isr
    if leader == follower or not contains(isr, follower) or not is_true_leader(s, leader):
        return False
    if caught_up(s, leader, follower, s.replicas[leader].log.length):
        return False

    write_isr(s, leader, without_member(isr, follower))
    return True


def leader_inc_high_watermark(s, leader: Replica):
    """A presumed leader raises its high watermark by one offset that its whole ISR has reached.

    Guards:  every member of the leader's local ISR names it and has a longer log than the high
             watermark; epochs are not compared.
    Effects: the high watermark grows by one.
    Kafka:   Partition.maybeIncrementLeaderHW, 0.8 to 2.0.
    """
    l = s.replicas[leader]
    if not presumes_leadership(s, leader):
        return False
    for f in range(len(s.replicas)):
        if contains(l.isr, f):
            if s.replicas[f].leader != leader or s.replicas[f].log.length <= l.hw:
                return False

    l.hw += 1
    return True


def follower_replicate(s, leader: Replica, follower: Replica):
    """A follower fetches one record from the leader that it names, in any epoch.

    Guards:  `follower` names `leader`, which believes that it leads and has one more record.
    Effects: one more record; the high watermark becomes the leader's, as far as the log goes.
    Kafka:   ReplicaFetcherThread.processPartitionData, 0.8 to 2.0.
    """
    l = s.replicas[leader]
    f = s.replicas[follower]
    if not presumes_leadership(s, leader) or f.leader != leader or f.log.length >= l.log.length:
        return False

    copy_entry(l.log, f.log)
    f.hw = min(l.hw, f.log.length)
    return True


def may_follow(s, leader, follower, request):
    """Whether `request` names `leader` and is newer than what `follower` knows."""
    if leader == follower or request >= s.requests.length or s.requests.slots[request].leader != leader:
        return False
    return request > s.replicas[follower].leader_epoch


def follow_and_truncate(s, leader, follower, request, end):
    """`follower` truncates its log to `end` and adopts the request."""
    f = s.replicas[follower]
    truncate(f.log, end)
    f.hw = min(end, f.hw)
    adopt(f, request, leader, s.requests.slots[request].isr)
