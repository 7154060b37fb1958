"""What a proof leaves open, as histories for pictures: a counterexample to induction has one step."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from operator import itemgetter

from kafkaproof.checker.pictures.histories import history_of
from kafkaproof.checker.pictures.show import show
from kafkaproof.checker.prove.cti import Cti, arguments_of
from kafkaproof.checker.prove.proof import Proof
from kafkaproof.checker.prove.relation import Relation
from kafkaproof.checker.runs.counterexample import executed
from kafkaproof.spec.language.domains import Scope
from kafkaproof.spec.language.drawn import step_drawn
from kafkaproof.spec.language.model import SAFETY, Model
from kafkaproof.spec.language.steps import Step

STORY = """A counterexample to induction. All that is proved holds before the step, and {name} fails after it. The \
state before need not be reachable. Shown is only what matters, with values as near to those of the initial state as \
there are."""
AT_FIRST = "{name} fails in an initial state already, where {leaves}."


def histories_of_proof(proof: Proof) -> Iterator[dict]:
    """The counterexamples to induction: first of properties, then of declared ranges and lemmas."""
    failed = [(v.kind not in SAFETY, v.cti) for v in [*proof.verdicts, *proof.lemmas] if v.cti]
    return (history_of_cti(proof.relation, cti) for _, cti in sorted(failed, key=itemgetter(0)))


def histories_of_violations(model: Model, scope: Scope, entries: Iterable[dict]) -> Iterator[dict]:
    """The violations among the entries of bounded model checking (see ``prove --json``)."""
    properties = {p.name: p for p in model.properties}
    return (
        history_of(executed(model, scope, entry["trace"]), properties[entry["property"]])
        for entry in entries
        if entry["trace"] is not None
    )


def history_of_cti(relation: Relation, cti: Cti) -> dict:
    """The history of a counterexample to induction (see `pictures.history`), with only the leaves that matter."""
    model, name = relation.model, cti.family
    text = next((p.text for p in model.properties if p.name == name), "It holds in every state.")
    history = {
        "format": 1,
        "title": f"{model.system}, variant {model.variant}: {name} is not inductive",
        "system": model.system,
        "variant": model.variant,
        "scope": {each: size for each, size in relation.scope.items() if each not in relation.variables.endless},
        "lanes": model.lanes(_scope(relation, cti)),
        "initial": _state(cti, "before"),
    }
    if cti.action is None:
        story = AT_FIRST.format(name=name, leaves=", ".join(map(_told, cti.leaves)))
        return history | {"property": None, "story": story, "steps": []}
    step = step_drawn(
        Step(cti.action.transition.name, arguments_of(cti.action, cti.model)), cti.action.transition, history["lanes"]
    )
    step |= {"text": cti.step, "state": _state(cti, "after"), "violates": [name]}
    step["notes"] = [_told(leaf) for leaf in cti.leaves if leaf.before == leaf.after]
    return history | {"property": {"name": name, "text": text}, "story": STORY.format(name=name), "steps": [step]}


def _told(leaf):
    return f"{leaf.text} is {show(leaf.before)}"


def _scope(relation, cti):
    """The sizes of the proof; for unbounded ones, as many as occur in the counterexample."""
    arguments = arguments_of(cti.action, cti.model).values() if cti.action else ()
    largest = max([*arguments, *(int(i) for leaf in cti.leaves for i in re.findall(r"\d+", leaf.text))], default=0)
    return {**relation.scope, **dict.fromkeys(relation.variables.endless, largest + 1)}


def _state(cti, when):
    """The leaves that matter, as a nested state. Indices are text, since only some places of a list matter."""
    state: dict = {}
    for leaf in cti.leaves:
        *path, last = re.findall(r"\w+", leaf.text)
        inner = state
        for name in path:
            inner = inner.setdefault(name, {})
        inner[last] = getattr(leaf, when)
    return state
