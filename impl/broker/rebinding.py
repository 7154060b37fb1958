"""Binds the transitions of a model to live seams.

Each seam (see `kafkaproof.spec.running.seams`) becomes a call of the method of its name on the first argument that
it is given, which does the input and output; the transitions themselves do not change.
"""

from __future__ import annotations

from collections.abc import Callable

from kafkaproof.spec.cluster.control import is_refused
from kafkaproof.spec.language.model import Model
from kafkaproof.spec.language.rebind import callees, rebind
from kafkaproof.spec.running.seams import answers_of, is_seam, seams_of


class Calls:
    """The seams that a step has called, except those of logs, with what they answered; and the answers of the step."""

    def __init__(self):
        self.clear()

    def clear(self) -> None:
        """A step begins."""
        self.all: list[list] = []
        self.answers: list[int] = []

    @property
    def answer(self) -> int | None:
        """The answer of the step."""
        return self.answers[-1] if self.answers else None


def bound(model: Model, calls: Calls) -> dict[str, Callable]:
    """The transitions of a model by their names, with live seams that note in `calls` what is asked."""
    functions = {}
    for transition in model.transitions:
        answering = answers_of(transition.function)
        live = {each: _live(each, each in answering, calls) for each in seams_of(transition.function) | answering}
        replaced = live | ({is_refused: _heard} if is_refused in callees(transition.function) else {})
        functions[transition.function.__name__] = rebind(transition.function, replaced)
    return functions


def _heard(s, b, p, sender, isr):
    """What a leader's step asks after a refusal: the controller has decided, and its message says so."""
    return s.network.refusal(b, p, isr)


def _live(function, answers, calls):
    name = function.__name__
    method = is_seam(function)
    is_log = function.__code__.co_varnames[0] == "log"

    def call(target, *arguments):
        answer = getattr(target, name)(*arguments) if method else function(target, *arguments)
        if not is_log:
            calls.all.append([name, [each for each in arguments if isinstance(each, int)], answer])
        if answers:
            calls.answers.append(answer)
        return answer

    return call
