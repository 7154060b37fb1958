"""Truncation to the high watermark (up to 0.10.2).

A new follower drops everything above its own high watermark, which lags one fetch behind the leader's:
it may drop records that were committed while it was in the ISR (KIP-101, first scenario).
"""

from kafkaproof.spec.replication.history.unfenced_replication import follow_and_truncate, may_follow
from kafkaproof.spec.replication.replication import Replica, Request


def become_follower(s, leader: Replica, follower: Replica, request: Request):
    """A replica takes a request that names another leader, and truncates to its own high watermark.

    Guards:  the request names `leader` and has a higher epoch than `follower` knows.
    Effects: the log ends at the follower's high watermark.
    Kafka:   Partition.makeFollower, 0.8 to 0.10.2; ReplicaManager.makeFollowers, 0.8.1 to 0.10.2.
    """
    if not may_follow(s, leader, follower, request):
        return False

    follow_and_truncate(s, leader, follower, request, s.replicas[follower].hw)
    return True
