"""How groups are proved."""

from kafkaproof.spec.group.lemmas.limited import LIMITED
from kafkaproof.spec.group.lemmas.member import CURRENT, FORMER
from kafkaproof.spec.group.lemmas.static import STATIC
from kafkaproof.spec.group.lemmas.transaction import TRANSACTIONAL
from kafkaproof.spec.group.lemmas.unlocked import UNLOCKED
from kafkaproof.spec.language.proof_plan import ProofPlan

ALWAYS = {
    "above_stored": "with a load that fails",
    "stable_is_stored": "when a group dies and is born again",
    "no_stale_commit": "with two moves of the leader",
}
BY_AGE = ALWAYS | {
    "durable": "when the group is deleted meanwhile",
    "running_group_keeps_offset": "since offsets expire by their own age",
    "assignment_is_stored": "with two moves of the leader",
    "disjoint": "with two moves of the leader and two faults",
    "disjoint_by_number": "with a load that fails",
}
BY_GROUP = ALWAYS | {
    "durable": "when the group is deleted meanwhile",
    "assignment_is_stored": "with two moves of the leader",
    "disjoint": "with two moves of the leader and two faults",
    "disjoint_by_number": "with two moves of the leader",
    "young_offset_stays": "of a commit without a generation",
}
ALONE = ALWAYS | {
    "durable": "when the offset is deleted meanwhile",
    "assignment_is_stored": "with two moves of the leader and a fault",
    "young_offset_stays": "of a commit without a generation",
}
IN_ANY_ORDER = BY_AGE | {
    "durable": "with a load up to the high watermark",
    "loaded_is_log": "with a load up to the high watermark",
    "offset_never_regresses": "with three moves of the leader",
    "stable_is_stored": "when records are appended in another order",
    "no_stale_commit": "when records are appended in another order",
}
TWO_BROKERS = {"brokers": 2}
PROOFS = {
    "unlocked": ProofPlan(UNLOCKED, sizes={"brokers": 2, "ids": 3, "log": 3, "prepared": 2}, false_beyond=IN_ANY_ORDER),
    "locked": ProofPlan(FORMER, sizes=TWO_BROKERS, false_beyond=BY_AGE),
    "gated": ProofPlan(FORMER, sizes=TWO_BROKERS, false_beyond=BY_AGE),
    "current": ProofPlan(CURRENT, sizes=TWO_BROKERS, false_beyond=BY_GROUP),
    "static": ProofPlan(STATIC, sizes={"brokers": 2, "clients": 3}, false_beyond=ALONE),
    "limited": ProofPlan(
        LIMITED, sizes=TWO_BROKERS, false_beyond=ALONE | {"disjoint_by_number": "with a load that fails"}
    ),
    "transactional": ProofPlan(TRANSACTIONAL, sizes={"brokers": 2, "clients": 2}, false_beyond=BY_GROUP),
}
