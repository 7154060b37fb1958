"""How control requests are proved."""

from kafkaproof.spec.language.proof_plan import ProofPlan
from kafkaproof.spec.requests.lemmas.requests import CURRENT

FENCED_BEFORE = "with three faults and three terms"
FALSE_BEYOND = {name: FENCED_BEFORE for name in ("replicas_converge", "metadata_converges", "term_begins_whole")}
PROOFS = {
    "current": ProofPlan(
        CURRENT, false_beyond=FALSE_BEYOND | {"newcomers_are_sent": "with four faults and three terms"}
    )
}
