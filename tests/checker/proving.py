"""Asks for proofs, and makes toys to prove things of, for the tests of proofs."""

from kafkaproof.checker.prove.proof import prove
from kafkaproof.spec.language.model import Model, Transition


def verdicts(model, scope=None, lemmas=(), most=400.0, only=None, searching=0.0, any_size=False):
    """The verdict on each property of a model, and the proof."""
    asked = tuple(p for p in model.properties if only in (None, p.name))
    proof = prove(model, model.scope if scope is None else scope, asked, lemmas, most, searching, any_size)
    return {v.name: v.verdict for v in proof.verdicts}, proof


def model_of(state, functions, properties, initial=None, system="toy"):
    return Model(
        system=system,
        variant="only",
        story="",
        state=state,
        initial=initial or nothing,
        transitions=tuple(map(Transition, functions)),
        properties=properties,
        scope={"brokers": 2, "steps": 2},
        largest={"brokers": 3, "steps": 9},
        lanes=lambda scope: ["cluster"],
    )


def nothing(s):
    """Zeros."""
    s.done = 0
