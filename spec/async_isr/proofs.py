"""How the ISR whose changes travel is proved."""

from kafkaproof.spec.async_isr.lemmas import MAXIMAL_ISR
from kafkaproof.spec.language.proof_plan import ProofPlan

PROOFS = {"maximal-isr": ProofPlan(MAXIMAL_ISR)}
