"""An implementation beside a model: both take the same steps, and what can be seen of them is compared."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from kafkaproof.checker.model.execution import Execution
from kafkaproof.spec.errors import UserError, meant
from kafkaproof.spec.language.domains import Scope
from kafkaproof.spec.language.model import Model, Transition
from kafkaproof.spec.language.plain import Plain, to_json
from kafkaproof.spec.language.steps import Step


class Refused(Exception):
    """What a method of an adapter raises when the implementation refuses the step."""


class Beside:
    """A model and an implementation that take the same steps.

    The `adapter` has a method for each transition, with its arguments by name, and a method `observe` that returns what
    can be seen of the implementation. What is compared is what `observe` says of the model's state: by default the
    state as JSON, as far as the adapter's answer has it.
    """

    def __init__(self, model: Model, scope: Scope, adapter: Callable[[], Any], observe: Callable[[Plain], Any] | None):
        self.model, self.scope = model, scope
        self.execution = Execution(model, scope)
        self.initial_states = self.execution.initial_states()
        self.adapter, self._observe = adapter(), observe
        self.taken: list[str] = []
        require_methods(model, self.adapter)

    def begin(self, number: int) -> None:
        """Begin in an initial state; where there are several, the adapter's `begin` is called with it as JSON."""
        self.state = self.initial_states[number]
        if len(self.initial_states) > 1:
            self.adapter.begin(to_json(self.model.state, self.state, self.scope))
        self._enter(self.state)

    def choices(self, transition: Transition, possible: bool) -> list[tuple[int, ...]]:
        """The arguments with which the model takes a transition now, or with which it refuses it."""
        if possible:
            return [arguments for each, arguments in self._possible if each is transition]
        taken = {arguments for each, arguments in self._taken if each is transition}
        return [arguments for arguments in transition.choices(self.scope) if arguments not in taken]

    @property
    def stuck(self) -> bool:
        """Whether the model has no step within its bounds."""
        return not self._possible

    def take(self, transition: Transition, arguments: tuple[int, ...]) -> None:
        """Take a step in both; raises AssertionError where they differ."""
        after = self.execution.after(self.state, transition, arguments)
        assert after is not None
        step = self.execution.step(transition, arguments)
        self.taken.append(str(step.bare))
        try:
            answer = getattr(self.adapter, step.name)(**step.arguments)
        except Refused as refused:
            raise AssertionError(self._told([f"the implementation refuses the last step: {refused}"])) from refused
        if answer is not None and step.answer is not None and answer != step.answer:
            raise AssertionError(self._told([f"the model is answered {step.answer}, the implementation {answer}"]))
        self._enter(after)

    def refuse(self, transition: Transition, arguments: tuple[int, ...]) -> None:
        """Ask the implementation for a step that the model refuses; raises AssertionError unless it refuses, too."""
        step = Step(transition.name, dict(zip(transition.arguments, arguments)))
        try:
            getattr(self.adapter, step.name)(**step.arguments)
        except Refused:
            self._compare()
            return
        why = self.execution.refusal(self.state, transition, arguments)
        raise AssertionError(self._told([f"the implementation takes {step.bare}, which the model refuses: {why}"]))

    def _enter(self, state):
        self.state = state
        steps = list(self.execution.steps(state))
        self._taken = [(transition, arguments) for transition, arguments, _, _ in steps]
        self._possible = [(transition, arguments) for transition, arguments, _, bound in steps if not bound]
        self._compare()

    def _compare(self):
        seen = self.adapter.observe()
        expected = self._observe(self.state) if self._observe else to_json(self.model.state, self.state, self.scope)
        found = [
            f"{place}: the model has {ours!r}, the implementation {other!r}"
            for place, ours, other in differences(expected, seen)
        ]
        if found:
            raise AssertionError(self._told(found))

    def _told(self, lines):
        steps = [f"  {number}  {step}" for number, step in enumerate(self.taken, start=1)]
        when = f"after step {len(steps)}:" if steps else "at the beginning:"
        return "\n".join([f"{self.model.name} and {type(self.adapter).__name__} differ {when}", *steps, *lines])


def require_methods(model: Model, adapter: object) -> None:
    """Raise UserError unless an adapter, or its class, has a method for each transition, and `observe`."""
    name = adapter.__name__ if isinstance(adapter, type) else type(adapter).__name__
    for wanted in (*(t.function.__name__ for t in model.transitions), "observe"):
        if not callable(getattr(adapter, wanted, None)):
            there = [known for known in dir(adapter) if not known.startswith("_")]
            raise UserError(f"{name} has no method {wanted}, which {model.name} needs{meant(wanted, there)}")


def differences(ours: Any, seen: Any, place: str = "") -> Iterator[tuple[str, Any, Any]]:
    """Where what is seen is not as the model has it: the place and both values. Fields that are not seen do not count."""
    if isinstance(seen, dict) and isinstance(ours, dict):
        for name, value in seen.items():
            where = f"{place}.{name}".removeprefix(".")
            yield from differences(ours[name], value, where) if name in ours else [(where, "no such field", value)]
    elif isinstance(seen, (list, tuple)) and isinstance(ours, list) and len(seen) == len(ours):
        for number, pair in enumerate(zip(ours, seen)):
            yield from differences(*pair, f"{place}[{number}]")
    elif (sorted(seen) if isinstance(seen, (set, frozenset)) else seen) != ours:
        yield place or "what is seen", ours, seen
