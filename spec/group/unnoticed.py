"""Changes to groups that no property notices, and transitions that a variant takes at none of its recorded scopes."""

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

AGED = dict.fromkeys(
    ("deletion.clean_up", "faults.time_passes"),
    "Time does not pass at its scopes: nothing of expiry is particular to the variant.",
)
LOADED = {
    "loading.load_fails": "No broker fails at its scopes with two brokers: a load that fails is that of `current`."
}
FAULTLESS = dict.fromkeys(
    ("faults.crash", "faults.crash_client", "faults.give_up", "offsets.commit_refused", "sync.sync_refused"),
    "Nothing fails at its scopes: failures are those of `current`.",
)
UNDELETED = "Nothing is deleted at its scopes, which takes a fault."
DELAYED = {"join.complete_join": "Its scopes have one generation, which begins after the initial delay."}
NEVER_TAKEN = {
    "forgetful": AGED | DELAYED,
    "static": AGED
    | LOADED
    | dict.fromkeys(("member.leave", "membership.leave"), "Clients 0 and 1 are static, and do not leave.")
    | dict.fromkeys(
        ("member.take_id", "membership.expire_pending"), "Clients 0 and 1 are static: no member is pending."
    ),
    "limited": AGED | LOADED | FAULTLESS | {"deletion.bury": UNDELETED},
    "transactional": AGED | LOADED,
    "scheduled": AGED
    | LOADED
    | DELAYED
    | FAULTLESS
    | dict.fromkeys(("deletion.bury", "deletion.topic_deleted"), UNDELETED)
    | dict.fromkeys(("member.give_in", "member.start"), "No client is turned away or stops without a fault."),
}
"""By variant: a transition, and why no recorded scope has it."""
