"""How partition replication is proved."""

from kafkaproof.spec.language.proof_plan import ProofPlan
from kafkaproof.spec.replication.lemmas import KIP320

PROOFS = {"kip320": ProofPlan(KIP320, sizes={"brokers": 4})}
