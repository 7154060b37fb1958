"""Changes to replication that no property notices."""

ONE_LEADER = "A leader epoch has one leader: who knows the epoch knows the same leader, as `known_from_requests` holds."
EQUIVALENT = {
    (
        "kafkaproof.spec.replication.replication.following_epoch",
        "return presumes_leadership(s, leader) and f.leader == leader and (f.leader_epoch == "
        "s.replicas[leader].leader_epoch) -> return f.leader == leader and f.leader_epoch == "
        "s.replicas[leader].leader_epoch",
    ): ONE_LEADER,
    (
        "kafkaproof.spec.replication.replication.is_true_leader",
        "return quorum.leader == r and replica.leader == r and (replica.leader_epoch == quorum.leader_epoch) -> "
        "return replica.leader == r and replica.leader_epoch == quorum.leader_epoch",
    ): ONE_LEADER,
    (
        "kafkaproof.spec.replication.replication.is_true_leader",
        "return quorum.leader == r and replica.leader == r and (replica.leader_epoch == quorum.leader_epoch) -> "
        "return quorum.leader == r and replica.leader_epoch == quorum.leader_epoch",
    ): ONE_LEADER,
}
UNNOTICED = {}
