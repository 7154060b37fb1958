"""What there is to see at one place of a behaviour: the state, the steps that are possible, and why others are not.

A place is the number of an initial state and the steps from there, as text. A session remembers no place: each question
names its own, so that one can step back, take another branch, and open an address again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby

from kafkaproof.checker.basics.errors import UserError
from kafkaproof.checker.interactive.opened import Opened
from kafkaproof.checker.interactive.status import statuses
from kafkaproof.checker.model.execution import Execution
from kafkaproof.checker.model.refusals import guards_by_choice
from kafkaproof.checker.pictures.changes import differences, path_text
from kafkaproof.checker.pictures.show import show, show_change
from kafkaproof.checker.runs.counterexample import Trace, TraceError, follow
from kafkaproof.checker.runs.metrics import metrics_over, shown
from kafkaproof.spec.language.domains import Scope
from kafkaproof.spec.language.drawn import step_drawn
from kafkaproof.spec.language.model import FAULT, Model
from kafkaproof.spec.language.plain import Plain, to_json


class Session:
    """A model at a scope, as it is explored by hand: from its initial states, or from one that was opened."""

    def __init__(self, model: Model, scope: Scope, opened: Opened | None = None):
        self.model, self.scope, self.opened = model, scope, opened
        self._execution = Execution(model, scope)
        self.initial_states = list(opened.states) if opened else self._execution.initial_states()
        self._lanes = model.lanes(scope)

    def initial_of(self, trace: Trace) -> int:
        """The number of the initial state from which a trace begins."""
        keys = [self._execution.key(state) for state in self.initial_states]
        return keys.index(self._execution.key(trace.initial))

    def trace(self, initial: int, steps: Iterable[str]) -> Trace:
        """The behaviour to a place. Raises UserError where there is no such initial state, or a step is not possible."""
        if initial not in range(len(self.initial_states)):
            last = len(self.initial_states) - 1
            raise UserError(f"no initial state {initial}; {f'they are 0 to {last}' if last else 'there is only 0'}")
        trace = Trace(self.model, self.scope, self.initial_states[initial], [])
        for text in steps:
            follow(trace, self._execution, text)
            if bound := self._execution.beyond(trace.last, text):
                raise TraceError(f"step {len(trace.steps)}, {text}, goes beyond the bound {bound}")
        return trace

    def look(self, trace: Trace) -> dict:
        """Everything about the last state of a behaviour, as JSON. Where only faults are possible comes last."""
        steps = sorted(self._steps(trace), key=lambda step: (step["lane"], step["kind"] == FAULT))
        within = [step for step in steps if not step["beyond"]]
        acting = {step["lane"] for step in within if step["kind"] != FAULT}
        within.sort(key=lambda step: step["lane"] not in acting)
        enabled = {step["transition"] for step in steps}
        return {
            "path": list(self._path(trace)),
            "state": self._state(trace),
            "possible": [
                {"lane": self._lanes[lane], "steps": list(of_lane)}
                for lane, of_lane in groupby(within, key=lambda step: step["lane"])
            ],
            "beyond": [step for step in steps if step["beyond"]],
            "impossible": [
                {"transition": t.name, "words": t.words.replace("`", "")}
                for t in self.model.transitions
                if t.name not in enabled
            ],
            "properties": statuses(trace, self._execution),
            "metrics": self._metrics(trace),
        }

    def _path(self, trace: Trace) -> Iterator[dict]:
        before = trace.initial
        for step, transition, after in trace.steps:
            arguments = tuple(step.arguments.values())
            broken = self._execution.newly_broken(before, transition, arguments, after)
            yield {**step_drawn(step, transition, self._lanes), "breaks": broken}
            before = after

    def _steps(self, trace: Trace) -> Iterator[dict]:
        before = self._json(trace.last)
        for transition, arguments, after, bound in self._execution.steps(trace.last):
            step = self._execution.step(transition, arguments)
            yield {
                **step_drawn(step, transition, self._lanes),
                "transition": transition.name,
                "kind": transition.kind,
                "beyond": bound,
                "breaks": [] if bound else self._execution.newly_broken(trace.last, transition, arguments, after),
                "changes": [] if bound else [_change(*each) for each in differences(before, self._json(after))],
            }

    def why(self, state: Plain, name: str) -> list[str]:
        """The guards by which steps of a transition are refused in a state, with the choices of arguments that each refuses;
        none where all are possible. Raises UserError.
        """
        try:
            transition = self.model.transition(name)
        except KeyError as error:
            raise UserError(error.args[0]) from error
        choices = [(dict(zip(transition.arguments, each)), each) for each in transition.choices(self.scope)]
        return guards_by_choice((names, self._execution.refusal(state, transition, each)) for names, each in choices)

    def _json(self, state: Plain) -> object:
        return to_json(self.model.state, state, self.scope)

    def _state(self, trace: Trace) -> list[dict]:
        """The fields of the last state, by who has them, with those marked that the last step has changed."""
        now = self._json(trace.last)
        states = [trace.initial, *(after for _, _, after in trace.steps)]
        before = self._json(states[-2]) if trace.steps else now
        changed = {path_text(keys): show(old) for keys, old, _ in differences(before, now)}
        found = [
            {"of": _owner(keys), "field": path_text(keys), "value": show(value), "was": changed.get(path_text(keys))}
            for keys, value in _leaves(now)
        ]
        return [{"of": of, "fields": list(fields)} for of, fields in groupby(found, key=lambda each: each.pop("of"))]

    def _metrics(self, trace: Trace) -> list[dict]:
        values = metrics_over(trace)[-1]
        return [{"name": m.name, "text": m.text, "value": values[m.name]} for m in shown(trace)]


def _change(keys, old, new):
    return "{}: {} → {}".format(path_text(keys), *show_change(old, new))


def _owner(keys):
    """Who has a field: its first part, with the index where that is one of several."""
    return path_text(keys[:2] if len(keys) > 1 and isinstance(keys[1], int) else keys[:1])


def _leaves(value, keys=()) -> Iterator[tuple[tuple, object]]:
    """The fields of a state as JSON that people read as one value each: lists of plain values stay whole."""
    parts: Iterable[tuple[str | int, object]] = ()
    if isinstance(value, dict):
        parts = value.items()
    elif isinstance(value, list) and any(isinstance(item, dict | list) for item in value):
        parts = enumerate(value)
    if not parts:
        yield keys, value
    for key, item in parts:
        yield from _leaves(item, (*keys, key))
