"""Truncation by leader epoch, second form (2.0, KIP-279): to the last record that both logs share.

The offset is right, but the follower asks the replica that the request names, and nobody checks that this replica leads
in that epoch. Its answer may be older than what was committed since (KIP-320).
"""

from kafkaproof.spec.language.domains import Choice
from kafkaproof.spec.replication.history.unfenced_replication import follow_and_truncate, may_follow
from kafkaproof.spec.replication.replication import Replica, Request, end_of_match

Reason = Choice("EMPTY", "MATCH")
EMPTY, MATCH = Reason


def become_follower(s, leader: Replica, follower: Replica, request: Request, reason: Reason):
    """A replica takes a request that names another leader, and truncates to where the logs agree.

    Guards:  the request names `leader` and has a higher epoch than `follower` knows; whether `leader` leads is not
             checked. EMPTY is for a follower without records.
    Effects: the log ends after the last record that both have.
    Kafka:   ReplicaFetcherThread.maybeTruncate, 2.0 (KAFKA-6361).
    """
    f = s.replicas[follower]
    if not may_follow(s, leader, follower, request):
        return False
    if reason == EMPTY and f.log.length != 0:
        return False

    follow_and_truncate(s, leader, follower, request, end_of_match(s.replicas[leader].log, f.log))
    return True
