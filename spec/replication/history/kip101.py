"""Truncation by leader epoch, first form (0.11 to 1.1, KIP-101).

A new follower asks where its last epoch ends. When the leader knows no larger epoch, the follower falls back to its
high watermark; and the answer holds an offset alone, so after quick changes of the leader, records of different epochs
may stay in place (KIP-279).
"""

from kafkaproof.spec.replication.history.unfenced_replication import follow_and_truncate, may_follow
from kafkaproof.spec.replication.replication import Replica, Request


def truncation_point(leader, follower):
    """The offset at which `follower` truncates its log, by the leader's answer for the epoch of its last record."""
    if follower.log.length == 0:
        return 0
    epoch = follower.log.slots[follower.log.length - 1].epoch
    if leader.log.length == 0:
        return follower.hw
    if leader.log.slots[leader.log.length - 1].epoch == epoch:
        return leader.log.length
    for i in range(len(leader.log.slots)):
        if i < leader.log.length and leader.log.slots[i].epoch > epoch:
            return i
    return follower.hw


def become_follower(s, leader: Replica, follower: Replica, request: Request):
    """A replica takes a request that names another leader, and truncates by its last epoch's end.

    Guards:  the request names `leader`, has a higher epoch than `follower` knows, and the answer is
             not beyond the follower's own end (then it would not be a truncation).
    Effects: the log ends at the answer.
    Kafka:   LeaderEpochFileCache.endOffsetFor, ReplicaFetcherThread.maybeTruncate, 0.11 to 1.1.
    """
    if not may_follow(s, leader, follower, request):
        return False
    end = truncation_point(s.replicas[leader], s.replicas[follower])
    if end > s.replicas[follower].log.length:
        return False

    follow_and_truncate(s, leader, follower, request, end)
    return True
