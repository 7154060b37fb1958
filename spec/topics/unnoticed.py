"""Transitions that a variant of topics takes at no recorded scope; changes by machine are made of `partition`."""

EQUIVALENT = {}
UNNOTICED = {}

WHOLE = dict.fromkeys(
    ("creation.topic_change", "expansion.add_partitions", "expansion.new_partitions"),
    "Its scopes have room for one partition and one topic; more are at scopes of `kip455`.",
)
ONE_SENDING = dict.fromkeys(("replica.late_stop_replica",), "That a StopReplica is sent twice is explored in `kip455`.")
RESTORED = dict.fromkeys(("expansion.restore_partitions",), "No partition is added at its scopes.")
OLDER = WHOLE | ONE_SENDING | RESTORED
NEVER_TAKEN = {
    "two-phase": WHOLE | ONE_SENDING,
    "restoring": OLDER,
    "checked": OLDER,
    "kip380": OLDER,
    "removal-at-start": OLDER,
    "kip455-zk": OLDER,
}
"""By variant: a transition, and why no recorded scope has it."""
