"""Single changes of partition/fenced that go unnoticed, and transitions that a variant takes at no recorded scope."""

INELIGIBLE = "Only a controller that deletes topics makes a replica ineligible, and none does so here."
LEGAL = "kafkaproof.spec.kafka.state_machines.replica_move_is_legal"
IF_OFFLINE = "if after == REPLICA_DELETION_INELIGIBLE and before == OFFLINE_REPLICA: return True"
CREATION, RECREATION = "kafkaproof.spec.partition.creation", "kafkaproof.spec.partition.recreation"
DELETION, REASSIGNMENT = "kafkaproof.spec.partition.deletion", "kafkaproof.spec.partition.reassignment"
METADATA = "kafkaproof.spec.partition.metadata"
REFUSED = "if answer == FENCED or answer == EXPIRED: give_up(controller, answer)"
FOUND = "found = with_member(found, p)"
IN_HAND = (
    "if contains(intersection(controller.dropping, hosted_by(controller, r)), p) and goes_offline(controller, p, r): "
    f"{FOUND}"
)
ONE_PARTITION = "Every topic has one partition at its scopes, and there is one topic."
UNBEGUN = "On EXPIRED nothing is to be dropped: the event has not begun."
ON_ITS_WAY = "What is not on its way is read by nobody, and replaced before it is."
HOSTED = "return hosted if controller.starting else difference(hosted, controller.deleting)"
EQUIVALENT = {
    (LEGAL, f"{IF_OFFLINE} -> nothing"): INELIGIBLE,
    (LEGAL, f"{IF_OFFLINE} -> if after == ONLINE_REPLICA and before == OFFLINE_REPLICA: return True"): INELIGIBLE,
    (
        f"{CREATION}.zookeeper.write_topic_config",
        "return outcome(zk, OK, delivery) if session_open(zk, b) else EXPIRED -> anything",
    ): "Nothing looks at the answer; that a lost one is a fault is asked.",
    (f"{CREATION}.creation.topic_change", "give_up(controller, answer) -> nothing"): UNBEGUN,
    (
        f"{CREATION}.creation.create_topic",
        f"{REFUSED} -> if answer == FENCED or answer == MINE: give_up(controller, answer)",
    ): UNBEGUN,
    (f"{CREATION}.creation.create_topic", f"{REFUSED} -> if answer == FENCED: give_up(controller, answer)"): UNBEGUN,
    (
        f"{METADATA}.network.put_update",
        "if update.leader != leader or update.leader_epoch != leader_epoch or update.isr != isr: update.to = 0 -> "
        "if update.leader_epoch != leader_epoch or update.isr != isr: update.to = 0",
    ): "Another leader has another leader epoch.",
    (f"{METADATA}.network.take_halt", "halt.leader_epochs[b] = 0 -> nothing"): ON_ITS_WAY,
}
UNNOTICED = {
    (
        "kafkaproof.spec.partition.progress.to_take_offline",
        f"{HOSTED} -> {HOSTED.replace('if controller', 'if not controller')}",
    ): "It takes a queued deletion and a broker failure before a term begins: two faults, more than the scopes have.",
    (f"{DELETION}.progress.to_take_offline", f"{IN_HAND} -> if goes_offline(controller, p, r): {FOUND}"): ONE_PARTITION,
    (
        f"{DELETION}.progress.to_take_offline",
        f"{IN_HAND} -> if contains(intersection(controller.dropping, hosted_by(controller, r)), p): {FOUND}",
    ): ONE_PARTITION,
    (
        f"{CREATION}.creation.begin_partition",
        "if contains(replicas_of(partition.assignment), r) and replicas_move(controller): "
        "partition.replicas[r] = NEW_REPLICA -> if contains(replicas_of(partition.assignment), r): "
        "partition.replicas[r] = NEW_REPLICA",
    ): "A state machine is dead only in a third term, and after two faults: more than the scopes have.",
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
