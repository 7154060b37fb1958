"""Invariants of replicas: parts of properties, on which proofs rest."""

from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.spec.replication.replication import Replica, following_epoch, is_true_leader, same_entry


def newest_request_is_state(s):
    """The controller's last request names the epoch and the leader of the state znode."""
    last = s.quorum.leader_epoch
    if s.requests.length != last + 1:
        return False
    return last < 0 or s.requests.slots[last].leader == s.quorum.leader


def replica_took_a_request(s, r: Replica):
    """What a replica knows is of a request that was sent: its epoch, and the leader in it."""
    replica = s.replicas[r]
    if replica.leader_epoch < 0:
        return replica.leader == NOBODY and replica.leader_epoch == -1
    if replica.leader_epoch >= s.requests.length:
        return False
    return replica.leader != NOBODY and s.requests.slots[replica.leader_epoch].leader == replica.leader


def hw_is_in_log(s, r: Replica):
    """A high watermark is not beyond the log."""
    return s.replicas[r].hw <= s.replicas[r].log.length


def leader_has_state_isr(s, leader: Replica):
    """The true leader knows the ISR that the state znode holds."""
    return not is_true_leader(s, leader) or s.replicas[leader].isr == s.quorum.isr


def logs_match(s, a: Replica, b: Replica):
    """Logs that hold the same record at an offset are the same before it."""
    first = s.replicas[a].log
    second = s.replicas[b].log
    same = True
    for i in range(len(first.slots)):
        if same_entry(first, second, i):
            if not same:
                return False
        else:
            same = False
    return True


def follower_log_is_prefix(s, leader: Replica, follower: Replica):
    """The log of a follower is the beginning of its leader's."""
    log = s.replicas[follower].log
    if not following_epoch(s, leader, follower):
        return True
    for i in range(len(log.slots)):
        if i < log.length and not same_entry(s.replicas[leader].log, log, i):
            return False
    return True
