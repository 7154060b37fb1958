"""Transitions that a variant of topics takes at no recorded scope."""

ONCE = dict.fromkeys(
    ("creation.create_topic", "creation.topic_change", "replica.refuse_topic"),
    "Its scopes have one topic; a second of the same name is at scopes of `kip455`.",
)
WHOLE = dict.fromkeys(
    ("expansion.add_partitions", "expansion.new_partitions", "expansion.restore_partitions"),
    "Its topic has one partition at its scopes, and gets no more: reassignment is what differs from `kip455`.",
)
NEVER_TAKEN = {}
"""By variant: a transition, and why no recorded scope has it."""
