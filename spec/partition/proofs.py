"""How the controller's work is proved."""

from kafkaproof.spec.language.proof_plan import ProofPlan
from kafkaproof.spec.partition.lemmas.partition import FENCED

PROOFS = {
    "fenced": ProofPlan(
        FENCED, false_beyond={"failed_is_lost": "with three faults", "led_if_possible": "with three faults"}
    )
}
