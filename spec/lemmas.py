"""Lemmas: what must be known besides a property, so that no step can break it. `kafkaproof prove` proves them.

A lemma is a predicate of a state, for all values of its other arguments.
"""

from kafkaproof.spec.async_isr.lemmas import MAXIMAL_ISR
from kafkaproof.spec.consumer.lemmas import ORDERLY
from kafkaproof.spec.election.lemmas.election import EDITED, FENCED
from kafkaproof.spec.election.lemmas.lagging import LAGGING
from kafkaproof.spec.group.lemmas.limited import LIMITED
from kafkaproof.spec.group.lemmas.member import CURRENT as GROUP_CURRENT
from kafkaproof.spec.group.lemmas.member import MIDDLE as GROUP_MIDDLE
from kafkaproof.spec.group.lemmas.static import STATIC
from kafkaproof.spec.group.lemmas.transaction import TRANSACTIONAL
from kafkaproof.spec.group.lemmas.unlocked import UNLOCKED
from kafkaproof.spec.partition.lemmas.partition import FENCED as PARTITION_FENCED
from kafkaproof.spec.replica.lemmas.replica import CURRENT as REPLICA_CURRENT
from kafkaproof.spec.replication.lemmas import KIP320
from kafkaproof.spec.requests.lemmas.requests import CURRENT as REQUESTS_CURRENT
from kafkaproof.spec.topics.lemmas.topics import KIP455 as TOPICS_KIP455

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
    "unlocked": CLASSIC
    | {
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
FALSE_BEYOND = (
    {
        ("election", "fenced-lagging", "own_epoch"): "false with two faults (findings/election.md)",
        ("partition", "fenced", "failed_is_lost"): "false with three faults (findings/partition.md)",
        ("partition", "fenced", "led_if_possible"): "false with three faults (findings/partition.md)",
        ("topics", "kip455", "deletion_goes_on"): "false with four requests and a fault (findings/topics.md)",
        ("topics", "kip455", "force_elects"): "false with two requests and two faults (findings/topics.md)",
        ("topics", "kip455", "own_logs_deleted"): "false with four requests and a fault (findings/topics.md)",
        ("topics", "kip455", "removed_when_deleted"): "false with two requests and two faults (findings/topics.md)",
        ("consumer", "orderly", "claims_afresh"): "false with an expiry and a crash (findings/consumer.md)",
    }
    | {
        ("group", variant, name): f"false {when} (findings/group.md)"
        for variant, names in FALSE_OF_GROUPS.items()
        for name, when in names.items()
    }
    | {
        ("consumer", "orderly", name): "false with an expiry (findings/consumer.md)"
        for name in (
            "reads_its_own",
            "one_reader",
            "quiet_group_reads_all",
            "remembers_claims",
            "deletes_its_own",
            "offset_never_falls",
        )
    }
)
"""What is known to fail beyond the recorded scopes that have the sizes of the proof: nothing to prove."""
