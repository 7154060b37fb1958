"""Lemmas: what must be known besides a property, so that no step can break it. `kafkaproof prove` proves them.

A lemma is a predicate of a state, for all values of its other arguments.
"""

from spec.properties.async_isr_lemmas import MAXIMAL_ISR
from spec.properties.consumer_lemmas import ORDERLY
from spec.properties.election_lagging_lemmas import LAGGING
from spec.properties.election_lemmas import EDITED, FENCED
from spec.properties.group_limited_lemmas import LIMITED
from spec.properties.group_member_lemmas import CURRENT as GROUP_CURRENT
from spec.properties.group_member_lemmas import MIDDLE as GROUP_MIDDLE
from spec.properties.group_static_lemmas import STATIC
from spec.properties.group_transaction_lemmas import TRANSACTIONAL
from spec.properties.group_unlocked_lemmas import UNLOCKED
from spec.properties.partition_lemmas import FENCED as PARTITION_FENCED
from spec.properties.replica_lemmas import CURRENT as REPLICA_CURRENT
from spec.properties.replication_lemmas import KIP320
from spec.properties.requests_lemmas import CURRENT as REQUESTS_CURRENT
from spec.properties.topics_lemmas import KIP455 as TOPICS_KIP455

LEMMAS = {
    ("async-isr", "maximal-isr"): MAXIMAL_ISR,
    ("consumer", "orderly"): ORDERLY,
    ("election", "fenced"): FENCED,
    ("election", "fenced-edited"): EDITED,
    ("election", "fenced-lagging"): LAGGING,
    ("group", "classic"): GROUP_MIDDLE,
    ("group", "current"): GROUP_CURRENT,
    ("group", "limited"): LIMITED,
    ("group", "middle"): GROUP_MIDDLE,
    ("group", "static"): STATIC,
    ("group", "transactional"): TRANSACTIONAL,
    ("group", "unlocked"): UNLOCKED,
    ("partition", "fenced"): PARTITION_FENCED,
    ("replica", "current"): REPLICA_CURRENT,
    ("replication", "kip320"): KIP320,
    ("requests", "current"): REQUESTS_CURRENT,
    ("topics", "kip455"): TOPICS_KIP455,
}


GROUPS = {
    "above_stored": "with a load that fails",
    "stable_is_stored": "when a group dies and is born again",
    "no_stale_commit": "with two moves of the leader",
}
BY_AGE = GROUPS | {
    "durable": "with a load up to the high watermark",
    "loaded_is_log": "with a load up to the high watermark",
    "running_group_keeps_offset": "since offsets expire by their own age",
    "assignment_is_stored": "with two moves of the leader",
    "disjoint": "with two moves of the leader and two faults",
    "disjoint_by_number": "with a load that fails",
}
BY_GROUP = GROUPS | {
    "durable": "when the group is deleted meanwhile",
    "assignment_is_stored": "with two moves of the leader",
    "disjoint": "with two moves of the leader and two faults",
    "disjoint_by_number": "with two moves of the leader",
    "young_offset_stays": "of a commit without a generation",
}
ALONE = GROUPS | {
    "durable": "when the offset is deleted meanwhile",
    "assignment_is_stored": "with two moves of the leader and a fault",
    "young_offset_stays": "of a commit without a generation",
}
CLASSIC = BY_AGE | {"offset_never_regresses": "with three moves of the leader"}
FALSE_OF_GROUPS = {
    "unlocked": CLASSIC | {
        "stable_is_stored": "when records are appended in another order",
        "no_stale_commit": "when records are appended in another order",
    },
    "classic": CLASSIC,
    "middle": BY_AGE,
    "current": BY_GROUP,
    "static": ALONE,
    "limited": ALONE | {"disjoint_by_number": "with a load that fails"},
    "transactional": BY_GROUP,
}
FALSE_BEYOND = {
    ("election", "fenced-lagging", "own_epoch"): "false with two faults (findings/election.md)",
    ("partition", "fenced", "failed_is_lost"): "false with three faults (findings/partition.md)",
    ("partition", "fenced", "led_if_possible"): "false with three faults (findings/partition.md)",
    ("topics", "kip455", "deletion_goes_on"): "false with four requests and a fault (findings/topics.md)",
    ("topics", "kip455", "force_elects"): "false with two requests and two faults (findings/topics.md)",
    ("topics", "kip455", "own_logs_deleted"): "false with four requests and a fault (findings/topics.md)",
    ("topics", "kip455", "removed_when_deleted"): "false with two requests and two faults (findings/topics.md)",
    ("consumer", "orderly", "claims_afresh"): "false with an expiry and a crash (findings/consumer.md)",
} | {
    ("group", variant, name): f"false {when} (findings/group.md)"
    for variant, names in FALSE_OF_GROUPS.items() for name, when in names.items()
} | {
    ("consumer", "orderly", name): "false with an expiry (findings/consumer.md)" for name in (
        "reads_its_own", "one_reader", "quiet_group_reads_all", "remembers_claims", "deletes_its_own",
        "offset_never_falls",
    )
}
"""What is known to fail beyond the recorded scopes that have the sizes of the proof: nothing to prove."""
