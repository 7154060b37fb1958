"""How the old consumer is proved."""

from kafkaproof.spec.consumer.lemmas import ORDERLY
from kafkaproof.spec.language.proof_plan import ProofPlan

PROOFS = {
    "orderly": ProofPlan(
        ORDERLY,
        sizes={"consumers": 2},
        undisturbed={"expiries": 0, "splits": 0, "losses": 0},
        false_beyond={
            "claims_afresh": "with an expiry and a crash",
            "reads_its_own": "with an expiry",
            "one_reader": "with an expiry",
            "quiet_group_reads_all": "with an expiry",
            "remembers_claims": "with an expiry",
            "deletes_its_own": "with an expiry",
            "offset_never_falls": "with an expiry",
        },
    )
}
