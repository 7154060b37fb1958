"""A first attempt at KIP-320: followers and leaders compare only the epoch of the last record.

The epoch of the record just before an offset stands for the follower's epoch; a fetch or a truncation that a leader of
another epoch answers is still accepted.
"""

from kafkaproof.spec.language.sets import contains, with_member, without_member
from kafkaproof.spec.replication.replication import (
    Replica,
    Request,
    adopt,
    copy_entry,
    end_of_match,
    is_true_leader,
    presumes_leadership,
    reached_current_epoch,
    truncate,
    write_isr,
)


def caught_up(s, leader, follower, end):
    """Whether `follower` follows `leader` and both logs hold a record of one epoch before `end`."""
    l = s.replicas[leader]
    f = s.replicas[follower]
    if not presumes_leadership(s, leader) or f.leader != leader:
        return False
    if end == 0:
        return True
    if end > l.log.length or end > f.log.length:
        return False
    return l.log.slots[end - 1].epoch == f.log.slots[end - 1].epoch


def become_follower(s, leader: Replica, follower: Replica, request: Request):
    """A replica takes a request that names another leader; it truncates later.

    Guards:  the request names `leader` and has a higher epoch than `follower` knows.
    Effects: `follower` adopts epoch, leader and ISR; log and high watermark stay.
    Kafka:   none (an early draft of KIP-320, in no release).
    """
    if leader == follower or request >= s.requests.length or s.requests.slots[request].leader != leader:
        return False
    if request <= s.replicas[follower].leader_epoch:
        return False

    adopt(s.replicas[follower], request, leader, s.requests.slots[request].isr)
    return True


def follower_fetch(s, leader: Replica, follower: Replica):
    """A follower fetches one record if the epoch of its last record is the leader's at that offset.

    Guards:  both logs hold a record of the same epoch before the follower's end; the leader has more.
    Effects: one more record; the high watermark becomes the leader's, as far as the log goes.
    Kafka:   none (an early draft of KIP-320, in no release).
    """
    l = s.replicas[leader]
    f = s.replicas[follower]
    if f.log.length >= l.log.length or not caught_up(s, leader, follower, f.log.length):
        return False

    copy_entry(l.log, f.log)
    f.hw = min(l.hw, f.log.length)
    return True


def follower_truncate(s, leader: Replica, follower: Replica):
    """A follower whose log cannot continue the leader's truncates to where they agree.

    Guards:  `follower` follows `leader`, which believes it leads; its log is longer, or its last record has another
             epoch than the leader's at that offset.
    Effects: the log ends after the last record that both have.
    Kafka:   none (an early draft of KIP-320, in no release).
    """
    l = s.replicas[leader]
    f = s.replicas[follower]
    if not presumes_leadership(s, leader) or f.leader != leader:
        return False
    if f.log.length <= l.log.length:
        if f.log.length == 0:
            return False
        if l.log.slots[f.log.length - 1].epoch == f.log.slots[f.log.length - 1].epoch:
            return False

    end = end_of_match(l.log, f.log)
    truncate(f.log, end)
    f.hw = min(end, f.hw)
    return True


def leader_inc_high_watermark(s, leader: Replica):
    """A presumed leader raises its high watermark by one record that its ISR has in the same epoch.

    Guards:  the leader has a record there, and every member of its local ISR one of the same epoch.
    Effects: the high watermark grows by one.
    Kafka:   none (an early draft of KIP-320, in no release).
    """
    l = s.replicas[leader]
    if not presumes_leadership(s, leader) or l.hw >= l.log.length:
        return False
    for f in range(len(s.replicas)):
        if contains(l.isr, f) and not caught_up(s, leader, f, l.hw + 1):
            return False

    l.hw += 1
    return True


def leader_shrink_isr(s, leader: Replica, follower: Replica):
    """The true leader removes from the ISR a follower whose log does not end as its own does.

    Guards:  `follower` has no record of the same epoch before the leader's end.
    Effects: the follower leaves the ISR, in the quorum and at the leader.
    Kafka:   none (an early draft of KIP-320, in no release).
    """
    l = s.replicas[leader]
    if leader == follower or not contains(l.isr, follower) or not is_true_leader(s, leader):
        return False
    if caught_up(s, leader, follower, l.log.length):
        return False

    write_isr(s, leader, without_member(l.isr, follower))
    return True


def leader_expand_isr(s, leader: Replica, follower: Replica):
    """The true leader adds to the ISR a follower whose log agrees with its own at the high watermark.

    Guards:  both logs hold a record of the same epoch before the leader's high watermark, and that
             has reached the leader's own epoch.
    Effects: the follower joins the ISR, in the quorum and at the leader.
    Kafka:   none (an early draft of KIP-320, in no release).
    """
    l = s.replicas[leader]
    if contains(l.isr, follower) or not is_true_leader(s, leader):
        return False
    if not caught_up(s, leader, follower, l.hw) or not reached_current_epoch(s, leader):
        return False

    write_isr(s, leader, with_member(l.isr, follower))
    return True
