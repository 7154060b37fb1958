"""A state machine of Hypothesis, made from a model: it walks at random, and an implementation walks beside."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kafkaproof.checker.testing.beside import Beside, require_methods
from kafkaproof.spec.errors import UserError, meant
from kafkaproof.spec.language.accepted import require_accepted
from kafkaproof.spec.language.domains import Scope
from kafkaproof.spec.language.model import Model
from kafkaproof.spec.language.plain import Plain


def machine_of(
    model: Model,
    adapter: Callable[[], Any],
    scope: Scope | None = None,
    *,
    observe: Callable[[Plain], Any] | None = None,
    refused: tuple[str, ...] = (),
) -> type:
    """A `RuleBasedStateMachine` that tests an implementation against a model, at a scope (by default the model's own).

    `adapter` makes a fresh implementation: an object with a method for each transition, called with its arguments by
    name, and a method `observe` that returns what can be seen of it, in the form of the state as JSON; fields that it
    leaves out are not compared. With `observe`, a function of the model's state says what must be seen instead. A method
    raises `Refused` when the implementation refuses; transitions named in `refused` are also tried where the model
    refuses them. A method that returns something is held to the answer that the model's step has, if it has one. A
    method `close` of the adapter is called at the end.

    ``TestLock = machine_of(MODEL, Lock).TestCase`` is a test that pytest finds.
    """
    try:
        from hypothesis import note
        from hypothesis import strategies as st
        from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule
    except ImportError as error:
        raise UserError("machine_of needs Hypothesis: pip install hypothesis") from error

    sizes: Scope = model.scope if scope is None else scope
    require_accepted(model, sizes)
    if isinstance(adapter, type):
        require_methods(model, adapter)
    known = [t.function.__name__ for t in model.transitions]
    for name in refused:
        if name not in known:
            raise UserError(f"{model.name} has no transition {name}{meant(name, known)}")

    class Machine(RuleBasedStateMachine):
        def __init__(self):
            super().__init__()
            self.both = Beside(model, sizes, adapter, observe)

        @initialize(data=st.data())
        def begin(self, data):
            """Begin in some initial state."""
            self.both.begin(data.draw(st.integers(0, len(self.both.initial_states) - 1), "initial state"))

        @precondition(lambda self: self.both.stuck)
        @rule()
        def nothing_more(self):
            """Stay where the model has no step."""

        def teardown(self):
            close = getattr(self.both.adapter, "close", None)
            if close:
                close()

    def walking(transition, possible):
        def step(self, data):
            arguments = data.draw(st.sampled_from(self.both.choices(transition, possible)), "arguments")
            note(f"{transition.name}{arguments}")
            (self.both.take if possible else self.both.refuse)(transition, arguments)

        step.__name__ = transition.function.__name__ if possible else f"refused_{transition.function.__name__}"
        step.__doc__ = transition.words
        there = precondition(lambda self: self.both.choices(transition, possible))
        return step.__name__, there(rule(data=st.data())(step))

    rules = [walking(transition, True) for transition in model.transitions]
    rules += [walking(t, False) for t in model.transitions if t.function.__name__ in refused]
    return type(f"{model.system.title()}Machine", (Machine,), dict(rules))
