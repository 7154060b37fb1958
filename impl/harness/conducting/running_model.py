"""The model that brokers run, followed beside one that knows less of a cluster, such as one that deletes no topics."""

from __future__ import annotations

from kafkaproof.spec.cluster.control import leader_and_isr
from kafkaproof.spec.language.domains import Scope
from kafkaproof.spec.language.model import Transition
from kafkaproof.spec.language.plain import new_state
from kafkaproof.spec.language.steps import Step
from kafkaproof.spec.partition.metadata.cache import is_early, update_metadata
from kafkaproof.spec.partition.network import leader_in
from kafkaproof.spec.running.processes import cluster


class RunningModel:
    """The model of *cluster* that the brokers of a variant run, with creations, deletions and reassignments."""

    def __init__(self, variant: str, scope: Scope):
        model = cluster(variant).partition
        self._transitions = {t.function.__name__: t for t in model.transitions}
        self._state = new_state(model.state, scope)
        model.initial(self._state)

    def told_first(self, step: Step) -> list[Step]:
        """What a broker is to be told before a step of the other model, in which it knows every leader as alive: who is."""
        if step.name != leader_and_isr.__name__:
            return []
        b, epoch, p = (step.arguments[name] for name in ("b", "epoch", "p"))
        if not is_early(self._state, b, epoch, leader_in(self._state.network, epoch, p)):
            return []
        return [Step(Transition(update_metadata).name, {"b": b, "epoch": epoch})]

    def take(self, step: Step) -> str | None:
        """Take a step of the other model; returns why it cannot be taken, None where it was."""
        transition = self._transitions.get(step.name)
        if transition is None or transition.arguments.keys() != step.arguments.keys():
            return "brokers that create and delete topics, and reassign partitions, have no such step"
        if not transition.function(self._state, *(step.arguments[name] for name in transition.arguments)):
            return "brokers that create and delete topics, and reassign partitions, do something else first"
        return None
