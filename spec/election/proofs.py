"""How controller election is proved."""

from kafkaproof.spec.election.lemmas.election import EDITED, FENCED
from kafkaproof.spec.election.lemmas.lagging import LAGGING
from kafkaproof.spec.language.proof_plan import ProofPlan

PROOFS = {
    "fenced": ProofPlan(FENCED, any_number=True),
    "fenced-edited": ProofPlan(EDITED, any_number=True),
    "fenced-lagging": ProofPlan(LAGGING, any_number=True, false_beyond={"own_epoch": "with two faults"}),
}
