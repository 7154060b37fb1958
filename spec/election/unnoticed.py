"""Changes of election that go unnoticed."""

COUNTED = "Faults are counted only to bound what is explored: no rule asks how many there were."
UNASKED = "Nobody looks at the answer: there is but one."
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
    ): "No write of a deposed controller is applied in this variant (no_stale_write is proved), so that none is noted.",
    (
        "kafkaproof.spec.election.requests.is_stale",
        "return epoch < broker.seen_epoch -> return epoch <= broker.seen_epoch",
    ): "What a request says is not kept here, so that a second one of an epoch changes nothing; `requests` has it.",
}
UNNOTICED = {
    (
        "kafkaproof.spec.election.faults.stop",
        "if s.brokers[b].session != OPEN or not s.zk.clients[b].session: return False -> "
        "if s.brokers[b].session != EXPIRED_SESSION or not s.zk.clients[b].session: return False",
    ): "Nobody is stopped any more, and what a stop leaves is left by a crash and the expiry of its session, too.",
    (
        "kafkaproof.spec.election.faults.stop",
        "if s.brokers[b].session != OPEN or not s.zk.clients[b].session: return False -> "
        "if s.brokers[b].session != OPEN: return False",
    ): "A process that has not heard of its session's expiry is stopped, which is a crash for everybody else.",
    (
        "kafkaproof.spec.election.faults.has_orphan",
        "return zk.clients[b].registered == ORPHAN or (zk.controller == b and "
        "zk.controller_orphaned == 1) -> return zk.controller == b and zk.controller_orphaned == 1",
    ): "The former session of a broker that was not the controller never expires: its id is free after a stop only, "
    "which leaves the same states.",
    (
        "kafkaproof.spec.election.reign.load",
        "if broker.doing != LOADING and (not at_work(broker)): return False -> "
        "if broker.doing != LOADING: return False",
    ): "A controller at work that reads no more until it is refused is refused more often, and comes to the same.",
}
