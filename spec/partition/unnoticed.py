"""Single changes of partition/fenced that go unnoticed, and transitions that a variant takes at no recorded scope."""

INELIGIBLE = "Only a controller that deletes topics makes a replica ineligible, and none does so here."
LEGAL = "kafkaproof.spec.kafka.state_machines.replica_move_is_legal"
IF_OFFLINE = "if after == REPLICA_DELETION_INELIGIBLE and before == OFFLINE_REPLICA: return True"
CREATION, RECREATION = "kafkaproof.spec.partition.creation", "kafkaproof.spec.partition.recreation"
DELETION, REASSIGNMENT = "kafkaproof.spec.partition.deletion", "kafkaproof.spec.partition.reassignment"
ELECTING = "kafkaproof.spec.partition.electing"
EXPANSION = "kafkaproof.spec.partition.expansion"
UNFIT = "replicas == 0 or replicas > live_brokers(controller) or is_queued(controller, p)"
METADATA = "kafkaproof.spec.partition.metadata"
REFUSED = "if answer == FENCED or answer == EXPIRED: give_up(s, b, answer)"
FOUND = "found = with_member(found, p)"
IN_HAND = (
    "if contains(intersection(controller.dropping, hosted_by(controller, r)), p) and goes_offline(controller, p, r): "
    f"{FOUND}"
)
WAITS = "waits = controller.doing == IDLE or controller.doing == CHANGING or controller.doing == RESUMING"
ONE_PARTITION = "Every topic has one partition at its scopes, and there is one topic."
UNBEGUN = "On EXPIRED nothing is to be dropped: the event has not begun."
ON_ITS_WAY = "What is not on its way is read by nobody, and replaced before it is."
NO_REQUEST = "Whose partitions are added is read only while there is a request."
HOSTED = "return hosted if controller.starting else difference(hosted, controller.deleting)"
EQUIVALENT = {
    (LEGAL, f"{IF_OFFLINE} -> nothing"): INELIGIBLE,
    (LEGAL, f"{IF_OFFLINE} -> if after == ONLINE_REPLICA and before == OFFLINE_REPLICA: return True"): INELIGIBLE,
    (
        f"{CREATION}.zookeeper.write_topic_config",
        "return outcome(zk, OK, delivery) if session_open(zk, b) else EXPIRED -> anything",
    ): "Nothing looks at the answer; that a lost one is a fault is asked.",
    (f"{CREATION}.creation.create_partitions", "controller.strategy = OFFLINE -> nothing"): "It is so between events.",
    (f"{EXPANSION}.state.drop_request", "expansion.of = 0 -> nothing"): NO_REQUEST,
    (f"{EXPANSION}.state.drop_request", "expansion.of = 0 -> expansion.of = 1"): NO_REQUEST,
    (f"{EXPANSION}.zookeeper.restore_topic", "return EXPIRED -> return NODEEXISTS"): UNBEGUN,
    (f"{CREATION}.creation.create_partitions", "give_up(s, b, answer) -> nothing"): UNBEGUN,
    (
        f"{CREATION}.creation.create_topic",
        f"{REFUSED} -> if answer == FENCED or answer == MINE: give_up(s, b, answer)",
    ): UNBEGUN,
    (f"{CREATION}.creation.create_topic", f"{REFUSED} -> if answer == FENCED: give_up(s, b, answer)"): UNBEGUN,
    (
        f"{METADATA}.network.put_update",
        "if update.leader != leader or update.leader_epoch != leader_epoch or update.isr != isr: update.to = 0 -> "
        "if update.leader_epoch != leader_epoch or update.isr != isr: update.to = 0",
    ): "Another leader has another leader epoch.",
    (
        f"{REASSIGNMENT}.plans.verdict_on",
        "return ACCEPTED if is_known(partition) else UNKNOWN_SERVER_ERROR -> "
        "return ACCEPTED if not is_known(partition) else UNKNOWN_SERVER_ERROR",
    ): "The reassignment begins with either answer, and nothing else looks at it.",
    (f"{METADATA}.network.take_halt", "halt.leader_epochs[b] = 0 -> nothing"): ON_ITS_WAY,
    (
        "kafkaproof.spec.election.election.confirm_epoch",
        "wanted = broker.read_epoch + 1 -> wanted = broker.read_version + 1",
    ): "The epoch and its version are equal: both begin at 0, and only an election raises them.",
    (f"{ELECTING}.zookeeper.fire_nothing", "return 0 -> anything"): "Nothing looks at the answer.",
    (
        f"{ELECTING}.state.lapse",
        "broker.active = 0 -> nothing",
    ): "No candidate owns /controller before its term begins, where one transaction writes it and the epoch.",
}
UNNOTICED = {
    (
        f"{EXPANSION}.zookeeper.partitions_beside",
        "count += 1 -> nothing",
    ): "Where the assignment starts is chosen freely, so that only its name is another one with two brokers.",
    (
        "kafkaproof.spec.partition.progress.to_take_offline",
        f"{HOSTED} -> {HOSTED.replace('if controller', 'if not controller')}",
    ): "It takes a queued deletion and a broker failure before a term begins: two faults, more than the scopes have.",
    (f"{DELETION}.progress.to_take_offline", f"{IN_HAND} -> if goes_offline(controller, p, r): {FOUND}"): ONE_PARTITION,
    (
        f"{DELETION}.progress.to_take_offline",
        f"{IN_HAND} -> if contains(intersection(controller.dropping, hosted_by(controller, r)), p): {FOUND}",
    ): ONE_PARTITION,
    (f"{REASSIGNMENT}.faults.ask_for_cancellation", "s.network.alteration.partition = p -> nothing"): ONE_PARTITION,
    (
        f"{REASSIGNMENT}.faults.ask_for_alteration",
        "if request.wanted != NOTHING_WANTED or contains(others, first): return False -> "
        "if request.wanted != NOTHING_WANTED: return False",
    ): "A target has one replica at its scopes, so there are no others.",
    (
        f"{REASSIGNMENT}.progress.look_later",
        f"{WAITS} -> {WAITS.replace('CHANGING', 'READING_STATES')}",
    ): "It takes a broker that comes while another goes, besides the controller: its scopes have two brokers.",
    (
        f"{REASSIGNMENT}.reassignment.check_reassignment",
        "if answer == EXPIRED: ... else ... -> if answer == BADVERSION: ... else ...",
    ): "With one partition in hand the event is over either way.",
    (
        f"{RECREATION}.network.identify",
        "request.to = 0 -> nothing",
    ): "StopReplica has overtaken what was on its way to the replicas of the former topic.",
    (
        f"{RECREATION}.replica.refuse_topic",
        "broker.seen_epoch = epoch -> nothing",
    ): "At its scopes a broker has heard of a term before it hears of a topic that was created in it.",
    (
        "kafkaproof.spec.partition.phases.progress.same",
        "return one.length == other.length and begins_with(one, other) -> return begins_with(one, other)",
    ): "It takes an assignment that begins with a shorter target, or is one: more replicas than its scopes have.",
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
        ("brokers.storage_error", "deletion.drop_reassignment", "isr.alter_partition"),
        "Its partitions have one replica at its scopes, and nothing is reassigned: nobody else leads.",
    ),
    "expanding": ONE_FAULT,
    "requesting": ONE_FAULT,
    "one-thread": ONE_FAULT,
    "kip112": ONE_FAULT,
    "unconfigured": ONE_FAULT,
}
"""By variant: a transition, and why no recorded scope has it."""
