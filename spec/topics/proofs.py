"""How creation, deletion and reassignment of a topic are proved."""

from kafkaproof.spec.language.proof_plan import ProofPlan
from kafkaproof.spec.topics.lemmas.topics import KIP455

PROOFS = {
    "kip455": ProofPlan(
        KIP455,
        false_beyond={
            "deletion_goes_on": "with four requests and a fault",
            "force_elects": "with two requests and two faults",
            "own_logs_deleted": "with four requests and a fault",
            "removed_when_deleted": "with two requests and two faults",
        },
    )
}
