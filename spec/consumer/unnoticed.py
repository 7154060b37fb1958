"""Changes to the old consumer that no property notices, and transitions that a variant takes at no recorded scope."""

EQUIVALENT = {
    (
        "kafkaproof.spec.consumer.session.rebalance_changed",
        "if not consumer.up or consumer.doing != IDLE or (not has_fired(s.zk, c)): return False -> "
        "if consumer.doing != IDLE or not has_fired(s.zk, c): return False",
    ): "The flag of a process that is gone is cleared with it.",
    (
        "kafkaproof.spec.consumer.faults.add_partition",
        "if s.zk.size == len(s.zk.partitions): return False -> nothing",
    ): "One partition more than there may be is cut by the same bound.",
    (
        "kafkaproof.spec.consumer.faults.expire_session",
        "if not s.consumers[c].up or not session_open(s.zk, c): return False -> "
        "if not session_open(s.zk, c): return False",
    ): "Without a process there is no session, as `sessions_are_whole` holds.",
    (
        "kafkaproof.spec.consumer.faults.lose_brokers",
        "s.zk.changes += 1 -> anything",
    ): "That the brokers were lost is counted only to bound what is explored: no rule asks for it.",
}
UNNOTICED = {
    (
        "kafkaproof.spec.consumer.faults.shut_down",
        "if consumer.doing != IDLE and consumer.doing != FAILED: return False -> "
        "if consumer.doing != IDLE and consumer.doing != IDLE: return False",
    ): "A consumer that may not stop between two attempts stops after them: no property asks when."
}

UNCOMMITTED = dict.fromkeys(
    ("offsets.commit", "offsets.consume"), "No offsets are at its scopes: who owns what is all that it is about."
)
UNSPLIT = {"faults.split_session": "No session is split at its scopes: how one is repaired is that of `orderly`."}
UNEXPIRED = dict.fromkeys(
    ("faults.expire_session", "session.reopen"), "No session expires at its scopes, which are about assignment."
)
UNCHANGED = dict.fromkeys(
    ("faults.add_partition", "faults.crash", "faults.expire_orphan", "faults.shut_down"),
    "Nothing changes at its scopes: they show what the assignment is of two consumers that stay.",
)
UNLOST = dict.fromkeys(
    ("faults.lose_brokers", "faults.regain_brokers"), "No brokers are lost at its scopes, which are about assignment."
)
NEVER_TAKEN = {
    "unlimited": UNCOMMITTED | UNSPLIT,
    "roundrobin": UNCOMMITTED | UNSPLIT | UNEXPIRED,
    "range-ceil": UNCOMMITTED | UNSPLIT | UNEXPIRED | UNCHANGED | UNLOST,
}
"""By variant: a transition, and why no recorded scope has it."""
