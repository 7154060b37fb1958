"""Single changes of partition/fenced that go unnoticed, and transitions that a variant takes at no recorded scope."""

INELIGIBLE = "Only a controller that deletes topics makes a replica ineligible, and none does so here."
LEGAL = "kafkaproof.spec.kafka.state_machines.replica_move_is_legal"
IF_OFFLINE = "if after == REPLICA_DELETION_INELIGIBLE and before == OFFLINE_REPLICA: return True"
HOSTED = "return hosted if controller.starting else difference(hosted, controller.deleting)"
EQUIVALENT = {
    (LEGAL, f"{IF_OFFLINE} -> nothing"): INELIGIBLE,
    (LEGAL, f"{IF_OFFLINE} -> if after == ONLINE_REPLICA and before == OFFLINE_REPLICA: return True"): INELIGIBLE,
}
UNNOTICED = {
    (
        "kafkaproof.spec.partition.progress.to_take_offline",
        f"{HOSTED} -> {HOSTED.replace('if controller', 'if not controller')}",
    ): "It takes a queued deletion and a broker failure before a term begins: two faults, more than the scopes have."
}
ONE_FAULT = {"failover.move_controller": "A failover fails from two faults on, and its scopes have one."}
NEVER_TAKEN = {
    "withdrawing": {"isr.alter_partition": "Its partitions have one replica at its scopes: no ISR changes."},
    "creating": ONE_FAULT,
    "recreating": dict.fromkeys(
        ("brokers.storage_error", "deletion.drop_reassignment", "isr.alter_partition", "machines.write_leader"),
        "Its partitions have one replica at its scopes, and nothing is reassigned: nobody else leads.",
    ),
    "expanding": ONE_FAULT,
    "one-thread": ONE_FAULT,
    "kip112": ONE_FAULT,
    "unconfigured": ONE_FAULT,
}
"""By variant: a transition, and why no recorded scope has it."""
