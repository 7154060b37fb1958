"""How what control requests do is proved."""

from kafkaproof.spec.language.proof_plan import ProofPlan
from kafkaproof.spec.requests.lemmas.requests import CURRENT

PROOFS = {"current": ProofPlan(CURRENT, sizes={"queue": 2})}
