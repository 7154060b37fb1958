"""Lemmas of partition replication (KIP-320): why what is committed stays, for any number of epochs and records.

In short: a log is the beginning of its leader's; who is in an ISR and has not come to an epoch keeps that epoch from
committing, one such member after the other; so whoever is elected in an epoch holds all that was committed before.
"""

from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.spec.language.sets import contains, difference, is_empty, union
from kafkaproof.spec.replication.properties.invariants import (
    follower_log_is_prefix,
    hw_is_in_log,
    leader_has_state_isr,
    logs_match,
    newest_request_is_state,
    replica_took_a_request,
)
from kafkaproof.spec.replication.properties.safety import has_all_committed
from kafkaproof.spec.replication.replication import (
    Replica,
    Request,
    following_epoch,
    is_true_leader,
    presumes_leadership,
)


def before_first_request(s):
    """Before its first request a partition has no leader."""
    return s.quorum.leader_epoch >= 0 or s.quorum.leader == NOBODY


def request_leader_in_isr(s, leader: Replica, request: Request):
    """The leader that a request names is in the ISR that it names."""
    sent = s.requests.slots[request]
    return request >= s.requests.length or sent.leader != leader or contains(sent.isr, leader)


def leader_in_known_isr(s, leader: Replica, r: Replica):
    """The leader that a replica knows is in the ISR that it knows."""
    return s.replicas[r].leader != leader or contains(s.replicas[r].isr, leader)


def untaken_request_has_state_isr(s, leader: Replica):
    """Until the newest leader has taken its request, nobody changes the ISR."""
    last = s.quorum.leader_epoch
    if s.quorum.leader != leader or last < 0 or s.replicas[leader].leader_epoch >= last:
        return True
    return s.requests.slots[last].isr == s.quorum.isr


def follower_is_behind(s, leader: Replica, follower: Replica):
    """Who follows in an epoch follows a replica that leads in it, or has left it."""
    f = s.replicas[follower]
    return f.leader != leader or f.leader_epoch <= s.replicas[leader].leader_epoch


def records_are_numbered(s, r: Replica):
    """Records in logs were written: their ids are below the next one."""
    log = s.replicas[r].log
    for i in range(len(log.slots)):
        if i < log.length and log.slots[i].id >= s.next_record:
            return False
    return True


def records_are_no_newer(s, r: Replica):
    """No record in a log is of a later epoch than the replica's."""
    log = s.replicas[r].log
    for i in range(len(log.slots)):
        if i < log.length and log.slots[i].epoch > s.replicas[r].leader_epoch:
            return False
    return True


def epochs_never_fall(s, r: Replica):
    """The epochs of the records in a log never fall from one to the next."""
    log = s.replicas[r].log
    for i in range(len(log.slots) - 1):
        if i + 1 < log.length and log.slots[i].epoch > log.slots[i + 1].epoch:
            return False
    return True


def moved_on(s, isr, epoch):
    """Whether a member of `isr` has come to an epoch after `epoch`, so that in `epoch` nothing more is committed."""
    for r in range(len(s.replicas)):
        if contains(isr, r) and s.replicas[r].leader_epoch > epoch:
            return True
    return False


def untaken(s, leader, request):
    """Whether `request` makes `leader` leader, and it may still take it."""
    return (
        request < s.requests.length
        and s.requests.slots[request].leader == leader
        and s.replicas[leader].leader_epoch < request
    )


def isr_grows_after_a_move(s, leader: Replica):
    """While nobody of a leader's ISR has moved on, the ISR in the state znode has nobody else."""
    l = s.replicas[leader]
    if not presumes_leadership(s, leader) or moved_on(s, l.isr, l.leader_epoch):
        return True
    return is_empty(difference(s.quorum.isr, l.isr))


def isr_grows_after_a_move_from_a_request(s, leader: Replica, request: Request):
    """The same of the ISR that a request names which its leader may still take."""
    if not untaken(s, leader, request):
        return True
    isr = s.requests.slots[request].isr
    return moved_on(s, isr, request) or is_empty(difference(s.quorum.isr, isr))


def in_request(s, member, request):
    """Whether the ISR that `request` names has `member`."""
    return request < s.requests.length and contains(s.requests.slots[request].isr, member)


def later_isr_is_from_isr(s, leader: Replica, member: Replica, later: Request):
    """While nobody of a leader's ISR has moved on, requests of later epochs name nobody else."""
    l = s.replicas[leader]
    if not presumes_leadership(s, leader) or later <= l.leader_epoch or not in_request(s, member, later):
        return True
    return contains(l.isr, member) or moved_on(s, l.isr, l.leader_epoch)


def later_isr_is_from_request(s, leader: Replica, member: Replica, request: Request, later: Request):
    """The same of the ISR that a request names which its leader may still take."""
    if not untaken(s, leader, request) or later <= request or not in_request(s, member, later):
        return True
    isr = s.requests.slots[request].isr
    return contains(isr, member) or moved_on(s, isr, request)


def committed_in_epoch_is_known(s, leader: Replica, r: Replica):
    """What is committed of the true leader's epoch is below its own high watermark (KAFKA-7128)."""
    replica = s.replicas[r]
    if not is_true_leader(s, leader):
        return True
    for i in range(len(replica.log.slots)):
        if i < replica.hw and replica.log.slots[i].epoch == s.quorum.leader_epoch:
            if i >= s.replicas[leader].hw:
                return False
    return True


def epoch_isr(s, epoch):
    """The ISR with which an epoch began; of the epoch to come, the one in the state znode."""
    return s.requests.slots[epoch].isr if epoch < s.requests.length else s.quorum.isr


def stays_until_it_comes(s, member: Replica, request: Request, later: Request):
    """Who has not come to an epoch, and is in the ISR of a later one, was in its ISR."""
    if s.replicas[member].leader_epoch >= request or request > later or later > s.requests.length:
        return True
    return not contains(epoch_isr(s, later), member) or contains(epoch_isr(s, request), member)


def stays_in_leader_isr_until_it_comes(s, leader: Replica, member: Replica):
    """Who has not come to a leader's epoch, and is in its ISR, was in the ISR of its request."""
    l = s.replicas[leader]
    if not presumes_leadership(s, leader) or s.replicas[member].leader_epoch >= l.leader_epoch:
        return True
    return not contains(l.isr, member) or contains(epoch_isr(s, l.leader_epoch), member)


def first_held_back(s, r):
    """The epoch since which nothing was committed, up to that of `r`: in each of them a member of the ISR with which it
    ended, or of that of `r` if it leads, has not come to it. One after the epoch of `r` where that is said of none.

    A member holds back all epochs after its own, until it leaves the ISR; then another may hold back those before. So
    they do in turn, each but `r` and somebody who lags behind them all, whom this is to speak of.
    """
    first = s.replicas[r].leader_epoch + 1
    isr = epoch_isr(s, first)
    if presumes_leadership(s, r):
        isr = union(isr, s.replicas[r].isr)
    for turn in range(len(s.replicas) - 2):  # noqa: B007
        for m in range(len(s.replicas)):
            if contains(isr, m):
                first = min(first, s.replicas[m].leader_epoch + 1)
        isr = epoch_isr(s, first)
    return first


def isr_has_committed(s, r: Replica, member: Replica):
    """Every member of the ISR holds all that any replica knows as committed."""
    return not contains(s.quorum.isr, member) or has_all_committed(s, r, member)


def followed_has_committed(s, leader: Replica, r: Replica):
    """A leader holds all that a follower knows as committed."""
    return not following_epoch(s, leader, r) or has_all_committed(s, r, leader)


def first_isr_has_committed(s, r: Replica, member: Replica):
    """The ISR of the epoch since which nothing was committed holds all that `r` knows as committed."""
    return not contains(epoch_isr(s, first_held_back(s, r)), member) or has_all_committed(s, r, member)


def epoch_isr_has_committed(s, r: Replica, member: Replica, request: Request):
    """So does that of every epoch since, and after the epoch of `r`."""
    if request < first_held_back(s, r) or request >= s.requests.length:
        return True
    return not contains(s.requests.slots[request].isr, member) or has_all_committed(s, r, member)


KIP320 = (
    newest_request_is_state,
    before_first_request,
    replica_took_a_request,
    request_leader_in_isr,
    leader_in_known_isr,
    hw_is_in_log,
    leader_has_state_isr,
    untaken_request_has_state_isr,
    follower_is_behind,
    records_are_numbered,
    records_are_no_newer,
    epochs_never_fall,
    logs_match,
    follower_log_is_prefix,
    isr_grows_after_a_move,
    isr_grows_after_a_move_from_a_request,
    later_isr_is_from_isr,
    later_isr_is_from_request,
    committed_in_epoch_is_known,
    stays_until_it_comes,
    stays_in_leader_isr_until_it_comes,
    isr_has_committed,
    followed_has_committed,
    first_isr_has_committed,
    epoch_isr_has_committed,
)
