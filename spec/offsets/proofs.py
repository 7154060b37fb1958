"""How offsets are proved."""

from kafkaproof.spec.language.proof_plan import ProofPlan
from kafkaproof.spec.offsets.lemmas import REPAIRED

PROOFS = {
    "repaired": ProofPlan(
        REPAIRED,
        sizes={"members": 3},
        undisturbed={"expirations": 0},
        false_beyond={"begins_at_acknowledged": "when an offset expires"},
    )
}
