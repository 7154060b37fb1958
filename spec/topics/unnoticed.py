"""Single changes of topics/kip455 that go unnoticed, and transitions that a variant takes at no recorded scope."""

EQUIVALENT = {
    (
        "kafkaproof.spec.partition.faults.expire_session",
        "if not s.brokers[b].up or not session_open(s.zk, b): return False -> "
        "if not session_open(s.zk, b): return False",
    ): "Without a process there is no session.",
    (
        "kafkaproof.spec.topics.faults.expand",
        "if s.zk.topic == 0 or p == 0 or s.zk.assignments[p].length > 0: return False -> "
        "if s.zk.topic == 0 or s.zk.assignments[p].length > 0: return False",
    ): "The first partition of a topic that exists has replicas.",
}
UNNOTICED = {
    (
        "kafkaproof.spec.topics.faults.add_replicas",
        "push(zk.assignments[p], replica if replica < brokers else replica - brokers) -> "
        "push(zk.assignments[p], replica if replica <= brokers else replica - brokers)",
    ): "Partitions have one replica at these scopes, so broker ids never wrap around.",
    (
        "kafkaproof.spec.topics.context.forget",
        "controller.bounced = 0 -> controller.live = 0",
    ): "A term that ends while a broker has bounced takes a crash and another election, more faults than scopes have.",
}

ONCE = {"faults.create_again": "Its scopes have one topic; a second of the same name is at scopes of `kip455`."}
WHOLE = dict.fromkeys(
    ("creation.ignore_partitions", "creation.new_partitions", "creation.restore_partitions", "faults.expand"),
    "Its topic has one partition at its scopes, and gets no more: reassignment is what differs from `kip455`.",
)
NEVER_TAKEN = {
    "late-watch": ONCE,
    "two-phase": ONCE,
    "restoring": ONCE,
    "checked": ONCE,
    "kip380": ONCE,
    "removal-at-start": ONCE,
    "kip455-zk": ONCE | WHOLE,
}
"""By variant: a transition, and why no recorded scope has it."""
