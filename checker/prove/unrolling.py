"""The behaviours of a model, one state after another, in one SAT solver that keeps its learnt clauses."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from pysat.solvers import Cadical195

from kafkaproof.checker.basics.words import counted
from kafkaproof.checker.explore.progress import silent
from kafkaproof.checker.prove.encoding import Encoding
from kafkaproof.spec.language.model import Property, Transition
from kafkaproof.spec.language.plain import Plain

MILLION = 1_000_000
AT_ONCE = 5000
REFUTE = {"stabilize": 0, "walk": 0}
"""Options of CaDiCaL that make it faster on unsatisfiable questions, as all but the last are."""


class Unrolling:
    """A solver for behaviours of `states` states; it may make `millions` million propagations.

    Propagations are the solver's own count of its work, the same on every machine. The count is checked every `AT_ONCE`
    conflicts, so a little more may be done; `note` is called with the progress then.
    """

    def __init__(self, encoding: Encoding, millions: float, note: Callable[[str], object] = silent):
        self.note, self.encoding, self.states, self._most, self._last = note, encoding, 1, millions, 0
        self._solver = Cadical195()
        self._solver.configure(REFUTE)
        self._bits, self._steps = [self._new(encoding.state)], []
        self._follow()
        self._add(encoding.initial, 0)

    def _new(self, count):
        self._last += count
        return np.arange(self._last - count + 1, self._last + 1)

    def _follow(self):
        self._bits.append(self._new(self.encoding.state))
        self._steps.append(self._new(self.encoding.step_size))

    def _add(self, clauses, number, asked=0):
        """Add clauses about a state and the step from it."""
        shared = np.concatenate([[0], self._bits[number], self._bits[number + 1], self._steps[number], [asked]])
        found, self._last = clauses.at(shared, self._last)
        self._solver.append_formula(found)

    def extend(self) -> None:
        """Add one more state, and the step that leads to it."""
        self._add(self.encoding.step, self.states - 1)
        self.states += 1
        self._follow()

    def done(self) -> float:
        """Millions of propagations made."""
        return self._solver.accum_stats()["propagations"] / MILLION

    def breaking(self, prop: Property) -> np.ndarray | bool | None:
        """The truths of a behaviour whose last state or step breaks a property; False for none, None if not decided."""
        number = self.states - (1 if prop.kind == "always" else 2)
        return number >= 0 and self._found(self.encoding.broken[prop.name], number, prop.name)

    def going_wrong(self) -> np.ndarray | bool | None:
        """The truths of a behaviour with something out of range in its last state; False for none, None if not decided."""
        wrong = self.encoding.wrong
        return wrong is not None and self._found(wrong, self.states - 1, "values in range")

    def _found(self, clauses, number, name):
        """The truths of a behaviour in which the wanted clauses hold for its last state; False for none, None if not
        decided.
        """
        (asked,) = self._new(1).tolist()
        self._add(clauses, number, asked)
        answer = None
        while answer is None and self.done() < self._most:
            self.note(f"{counted(self.states, 'state')}, {name}  {self.done():,.0f} million propagations")
            self._solver.conf_budget(AT_ONCE)
            answer = self._solver.solve_limited([asked])
        truths = np.array([0, *self._solver.get_model()]) > 0 if answer else answer
        self._solver.add_clause([-asked])
        return truths

    def begins_in(self, truths: np.ndarray, state: Plain) -> bool:
        """Whether a behaviour begins in a state."""
        here = np.concatenate([[False], truths[self._bits[0]]])
        return all(here[abs(literal)] == (literal > 0) for literal in self.encoding.literals(state))

    def step(self, truths: np.ndarray, number: int) -> tuple[Transition, tuple[int, ...]]:
        """The transition that a behaviour takes in a state, and its arguments."""
        here = np.concatenate(
            [[False], truths[self._bits[number]], truths[self._bits[number + 1]], truths[self._steps[number]]]
        )
        (action,) = (a for a, taken in zip(self.encoding.relation.actions, self.encoding.taken) if here[taken])
        return action.transition, tuple(
            a if isinstance(a, int) else self.encoding.arguments[str(a)].value(here) for a in action.arguments
        )
