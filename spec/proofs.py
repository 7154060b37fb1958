"""How every variant that is proved is proved: `PROOFS` of each system's module `proofs` has them by variant."""

from kafkaproof.spec.catalogue import declared
from kafkaproof.spec.language.model import Model
from kafkaproof.spec.language.proof_plan import ProofPlan

PROOFS = {(system, variant): plan for system, here in declared("proofs") for variant, plan in here.PROOFS.items()}


def plan_of(model: Model) -> ProofPlan:
    """How a model is proved: with its own lemmas, at the sizes of its standard scope, where its system says nothing else."""
    return PROOFS.get((model.system, model.variant), ProofPlan(model.lemmas))


def false_beyond(model: Model, name: str) -> str:
    """When a property fails beyond the recorded scopes that have the sizes of the proof; empty where none is known."""
    when = plan_of(model).false_beyond.get(name)
    return f"false {when} (findings/{model.system}.md)" if when else ""
