"""How the data plane is proved."""

from kafkaproof.spec.language.proof_plan import ProofPlan
from kafkaproof.spec.replica.lemmas.replica import CURRENT

PROOFS = {"current": ProofPlan(CURRENT, sizes={"log": 2, "records": 2})}
