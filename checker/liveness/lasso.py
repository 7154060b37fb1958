"""A lasso checked in plain Python: the goal is never reached, and every assumption is kept on the loop.

The search works on compiled code and bits. Here its result is checked again by the definitions, on plain states, so
that a lasso that is shown does not depend on the search.
"""

from __future__ import annotations

from kafkaproof.checker.liveness.labels import Action, Labels, belongs, condition_of
from kafkaproof.checker.model.execution import Execution
from kafkaproof.checker.runs.counterexample import Trace, TraceError
from kafkaproof.spec.language.fairness import AT_LAST, FINITELY, STRONG, WORDS
from kafkaproof.spec.language.model import LIVENESS, Property
from kafkaproof.spec.language.plain import Plain


def reasons(trace: Trace, prop: Property) -> list[str]:
    """Why a lasso violates a property of liveness: a line for the goal, and one for each way to keep an assumption.

    Raises TraceError when it does not.
    """
    return _Lasso(trace).reasons(prop)


TAKEN, DISABLED, NOWHERE, NOT_TAKEN = _WAYS = (
    "fair: taken on the loop",
    "weakly fair: not possible in some state of the loop",
    "strongly fair: not possible in any state of the loop",
    "taken finitely often: not taken on the loop",
)


def _told(kept, how):
    """The actions that are kept in this way, in words, grouped by assumption."""
    texts = []
    for assumption in dict.fromkeys(action.assumption for action in kept):
        every = [action for action in kept if action.assumption == assumption]
        meant = [action for action in every if kept[action] == how]
        if meant and len(meant) == len(every):
            texts.append(assumption.action)
        elif meant:
            texts.append("; ".join(action.text for action in meant))
    return "; ".join(texts)


class _Lasso:
    """A trace whose states from `trace.loop` on repeat for ever."""

    def __init__(self, trace):
        self.trace, self.execution = trace, Execution(trace.model, trace.scope)
        self.states = [trace.initial, *(after for _, _, after in trace.steps)]
        self.steps = range(trace.loop, len(trace.steps))
        self.loop = self.steps or [trace.loop]
        if self.states[-1] != self.states[trace.loop]:
            raise TraceError(f"the last step does not lead back to the state after step {trace.loop}")

    def reasons(self, prop):
        if prop.kind not in LIVENESS:
            raise TraceError(f"{prop.name} is violated by a state or a step, not by a loop")
        labels = Labels(self.trace.model, self.trace.scope, (prop,))
        kept = {action: self._kept(action) for action in labels.actions}
        found = [told for instance in labels.instances if (told := self._violated(instance))]
        if not found:
            raise TraceError(f"{prop.name} is reached, or nothing on the way asks for it")
        return [found[0], *(f"{how}: {_told(kept, how)}" for how in sorted({*kept.values()}, key=_WAYS.index))]

    def _violated(self, instance):
        """How an instance of the property is violated, in words; None when it is not."""
        prop = instance.prop
        goal = condition_of(prop.predicate, instance.fixed)
        missed = [not goal.holds(state) for state in self.states]
        lasting = [condition_of(a.when, instance.fixed) for a in prop.given if a.kind == AT_LAST]
        if not all(condition.holds(self.states[i]) for condition in lasting for i in self.loop):
            return None
        if instance.question.settles:
            failing = [i for i in self.loop if missed[i]]
            return f"{instance.text} fails in state {failing[0]}, again and again" if failing else None
        for i, state in enumerate(self.states):
            if all(missed[i:]) and (prop.after is None or condition_of(prop.after, instance.fixed).holds(state)):
                return f"{instance.text} is waited for from state {i} on, and never comes"
        return None

    def _kept(self, action: Action) -> str:
        kind = action.assumption.kind
        taken = [i + 1 for i in self.steps if self._takes(action, i)]
        disabled = [i for i in self.loop if not self._is_enabled(action, self.states[i])]
        if kind == FINITELY and not taken:
            return NOT_TAKEN
        if kind != FINITELY and taken:
            return TAKEN
        if kind == STRONG and len(disabled) == len(self.loop):
            return NOWHERE
        if kind not in (FINITELY, STRONG) and disabled:
            return DISABLED
        raise TraceError(f"it is assumed {WORDS[kind].format(action.text)}, and the loop does not keep that")

    def _takes(self, action, i):
        step, transition, after = self.trace.steps[i]
        return belongs(
            action, self.states[i], transition, tuple(step.arguments.values())
        ) and not self.execution.spends(self.states[i], after)

    def _is_enabled(self, action: Action, state: Plain) -> bool:
        """Whether some step of the action changes the state, perhaps beyond a bound, and spends no budget."""
        for transition in filter(action.of_transition, self.trace.model.transitions):
            for arguments in transition.choices(self.trace.scope):
                if belongs(action, state, transition, arguments):
                    after = self.execution.after(state, transition, arguments)
                    if after is not None and after != state and not self.execution.spends(state, after):
                        return True
        return False
