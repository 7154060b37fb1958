"""Changes to groups that no property notices."""

TOLD = "What an operator is told stands in the step and not in the state; tests hold the codes."
EQUIVALENT = {
    (
        "kafkaproof.spec.group.faults.fail_over",
        "if committed < storage.committed or kept < committed or storage.log.length < kept: return False -> "
        "if committed < storage.committed or kept < committed or storage.log.length < committed: return False",
    ): "Who keeps more records than there are keeps them all.",
    (
        "kafkaproof.spec.group.deletion.dies_without_offsets",
        "return group.state == EMPTY and group.pending == NOWHERE -> return group.state == EMPTY",
    ): "Only transactions have pending offsets, and `current` has none.",
}
UNNOTICED = {
    (
        "kafkaproof.spec.group.offsets.fetch",
        "answer_operator(s.network, fetch_verdict(s.brokers[b], stable)) -> anything",
    ): TOLD,
    ("kafkaproof.spec.group.validation.flaw_verdict", "if flaw == SESSION_TOO_LONG: ... -> anything"): TOLD,
    (
        "kafkaproof.spec.group.storage.has_begun",
        "return epoch <= storage.epoch -> anything",
    ): "Only FindCoordinator asks whether an epoch has begun, whose answer stands in the step and not in the state.",
    (
        "kafkaproof.spec.group.membership.all_synced",
        "return False -> return True",
    ): "No sync is ever overdue then; what that leaves is left by the expiry of a member's session, too.",
}
