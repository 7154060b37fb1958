"""Changes of election that go unnoticed, and transitions that a variant takes at no recorded scope."""

COUNTED = "Faults are counted only to bound what is explored: no rule asks how many there were."
UNASKED = "The answer is never looked at: there is only one."
EQUIVALENT = {
    ("kafkaproof.spec.kafka.zookeeper.open_session", "return OK -> anything"): UNASKED,
    ("kafkaproof.spec.kafka.zookeeper.end_session", "return OK -> anything"): UNASKED,
    ("kafkaproof.spec.kafka.zookeeper.take_event", "return OK -> anything"): UNASKED,
    ("kafkaproof.spec.election.faults.crash", "s.zk.faults += 1 -> anything"): COUNTED,
    ("kafkaproof.spec.election.faults.close_session_and_end", "s.zk.faults += 1 -> anything"): COUNTED,
    ("kafkaproof.spec.election.faults.expire_session", "s.zk.faults += 1 -> anything"): COUNTED,
    ("kafkaproof.spec.election.faults.delete_controller", "s.zk.faults += 1 -> anything"): COUNTED,
    ("kafkaproof.spec.election.faults.fail_batch", "s.zk.faults += 1 -> anything"): COUNTED,
    ("kafkaproof.spec.kafka.zookeeper.outcome", "zk.faults += 1 -> anything"): COUNTED,
    (
        "kafkaproof.spec.kafka.zookeeper.note_write",
        "zk.ghosts.stale_write = 1 -> anything",
    ): "No write of a deposed controller is applied in this variant (no_stale_write is proved), so none is recorded.",
    (
        "kafkaproof.spec.election.requests.is_stale",
        "return epoch < broker.seen_epoch -> return epoch <= broker.seen_epoch",
    ): "The content of a request is not kept here, so a second one of an epoch changes nothing; `requests` keeps it.",
}
UNNOTICED = {
    (
        "kafkaproof.spec.election.faults.stop",
        "if s.brokers[b].session != OPEN or not s.zk.clients[b].session: return False -> "
        "if s.brokers[b].session != EXPIRED_SESSION or not s.zk.clients[b].session: return False",
    ): "No process is stopped any more; a crash and the expiry of its session leave the same state as a stop.",
    (
        "kafkaproof.spec.election.faults.stop",
        "if s.brokers[b].session != OPEN or not s.zk.clients[b].session: return False -> "
        "if s.brokers[b].session != OPEN: return False",
    ): "A process that has not heard of its session's expiry is stopped; for all others that is a crash.",
    (
        "kafkaproof.spec.election.faults.has_orphan",
        "return zk.clients[b].registered == ORPHAN or (zk.controller == b and "
        "zk.controller_orphaned == 1) -> return zk.controller == b and zk.controller_orphaned == 1",
    ): "The former session of a broker that was not the controller never expires: its id becomes free only after a "
    "stop, which leaves the same states.",
    (
        "kafkaproof.spec.election.active_controller.load",
        "if broker.doing != LOADING and (not at_work(broker)): return False -> "
        "if broker.doing != LOADING: return False",
    ): "A controller at work that reads only after a refusal is refused more often, and reaches the same states.",
}
NEVER_TAKEN = {
    "rolling": dict.fromkeys(
        ("election.found_epoch", "legacy.found_epoch"),
        "An upgrade begins where a controller has been elected once: /controller_epoch is there.",
    )
}
"""By variant: a transition, and why no recorded scope has it."""
