"""Single changes to `replica/current` that no property notices at the scopes where generated mutants are explored, and
transitions that a variant takes at no recorded scope.
"""

UNCLEAN = "These scopes allow one change of the leader and no unclean election; epoch_with_leader notices it with both."
EQUIVALENT = {
    (
        "kafkaproof.spec.replica.leader.may_change_isr",
        "return broker.state == LEADER and is_empty(broker.pending) -> return is_empty(broker.pending)",
    ): "Who does not lead has an empty ISR and knows no follower's end, so that it neither removes nor adds anybody."
}
UNNOTICED = {
    (
        "kafkaproof.spec.replica.controller.remove_replica",
        "if s.zk.leader != replica and (not contains(s.zk.isr, replica) or s.zk.isr == only(replica)): return False -> "
        "if s.zk.leader != replica and (not contains(s.zk.isr, replica)): return False",
    ): "The last member of the ISR is no leader only after a change of the leader, and these scopes allow one in all; "
    "removes_replica notices it with two.",
    ("kafkaproof.spec.replica.controller.elect_unclean", "s.zk.unclean += 1 -> s.zk.unclean += 0"): UNCLEAN,
    (
        "kafkaproof.spec.replica.controller.elect_unclean",
        "if s.zk.leader != NOBODY or contains(s.zk.isr, leader): return False -> nothing",
    ): UNCLEAN,
    (
        "kafkaproof.spec.replica.clients.network.lacks_replicas",
        "return acks == 1 and (not enough) -> return acks != 1 and (not enough)",
    ): "min.insync.replicas is 1 at these scopes, so that no ISR is too small; enough_replicas notices it with 2.",
    (
        "kafkaproof.spec.replica.leader.learn_refusal",
        "if broker.state != LEADER or proposal_state(s.network, b) != SENT: return False -> "
        "if broker.state == LEADER or proposal_state(s.network, b) != SENT: return False",
    ): "No leader hears a refusal any more; it would be as before its proposal, so that no state is missing.",
    (
        "kafkaproof.spec.replica.controller.elect_unclean",
        "if s.zk.leader != NOBODY or contains(s.zk.isr, leader): return False -> "
        "if contains(s.zk.isr, leader): return False",
    ): UNCLEAN,
    (
        "kafkaproof.spec.replica.clients.network.take_record",
        "if lacks_replicas(acks, enough): return NOT_ENOUGH_REPLICAS -> nothing",
    ): "min.insync.replicas is 1 at these scopes, so that no ISR is too small; enough_replicas notices it with 2.",
    (
        "kafkaproof.spec.replica.zookeeper.set_isr",
        "return BADVERSION -> return NODEEXISTS",
    ): "The controller only looks whether the answer is OK.",
}
NEVER_TAKEN = dict.fromkeys(
    ("hw", "epoch101", "epoch279", "join-at-hw", "fenced", "shrunk-isr", "late-answer"),
    {"controller.elect_unclean": "No election is unclean at its scopes; `current` has them at scopes of its own."},
)
"""By variant: a transition, and why no recorded scope has it."""
