"""What the properties of a system say of a state and of its steps, each asked again only when it can say another thing.

A function of the little language reaches a field only by naming it and all that it stands in. So what it says of a
state stays as long as nothing is written at a path whose names all occur in the function, or in one that it calls. A
property of steps says the same of each step that writes nothing there. What is asked of each data plane by itself is
remembered of each by itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from types import SimpleNamespace

from kafkaproof.spec.cluster.properties.safety import is_of_each_plane
from kafkaproof.spec.language.model import SAFETY, Model, Property, Transition
from kafkaproof.spec.language.plain import Plain
from kafkaproof.spec.language.subset import functions_reached
from kafkaproof.traces.processes.state.watched import Path

PLANES = "planes"


@dataclass(eq=False)
class _Question:
    """A property, asked of a state or of one of its data planes (`plane`); the answer that it gives, None if unknown.

    `names`: those that occur in it.
    """

    prop: Property
    plane: int | None
    names: frozenset[str]
    answer: bool | None = None

    def ask(self, *states: Plain) -> bool:
        """Ask it, of a state or a step."""
        if self.plane is None:
            return bool(self.prop.predicate(*states))
        return bool(self.prop.predicate(*(SimpleNamespace(planes=[state.planes[self.plane]]) for state in states)))

    def reads(self, names: tuple[str, ...], plane: int | None) -> bool:
        """Whether it may read what these names lead to, in a data plane or outside of all."""
        return self.names.issuperset(names) and (plane is None or self.plane in (None, plane))


class Verdicts:
    """The safety properties of a model, asked of one state that is written to in place, and of its steps."""

    def __init__(self, model: Model, state: Plain):
        self._state = state
        self._asked: dict[str, list[tuple[Property, list[_Question]]]] = {kind: [] for kind in SAFETY}
        self._readers: dict[tuple[tuple[str, ...], int | None], list[_Question]] = {}
        planes = range(len(getattr(state, PLANES, ())))
        for prop in model.properties:
            if prop.kind in SAFETY:
                places, names = planes if is_of_each_plane(prop) else (None,), names_in(prop)
                self._asked[prop.kind].append((prop, [_Question(prop, place, names) for place in places]))

    def forget(self, written: Iterable[Path]) -> set[_Question]:
        """Forget the answers to all questions that may read something of what was written; these questions."""
        found = {question for path in written for question in self._readers_of(path)}
        for question in found:
            question.answer = None
        return found

    def _readers_of(self, path: Path) -> list[_Question]:
        names = tuple(each for each in path if isinstance(each, str))
        plane = int(path[1]) if path[0] == PLANES else None
        if (names, plane) not in self._readers:
            self._readers[names, plane] = [
                question
                for asked in self._asked.values()
                for _, questions in asked
                for question in questions
                if question.reads(names, plane)
            ]
        return self._readers[names, plane]

    def broken(self) -> Iterator[Property]:
        """The properties of states that do not hold now."""
        for prop, questions in self._asked["always"]:
            for question in questions:
                if question.answer is None:
                    question.answer = question.ask(self._state)
            if not all(question.answer for question in questions):
                yield prop

    def broken_by(
        self, transition: Transition, values: list[int], before: Plain, changed: set[_Question]
    ) -> Iterator[Property]:
        """The properties of steps that a step has broken: a transition with its arguments.

        `before` is the state before it; `changed` the questions whose answers it has made to be forgotten.
        """
        for prop, questions in self._asked["step"]:
            if not prop.concerns(transition):
                continue
            if prop.of:
                holds = prop.predicate(before, self._state, *values)
            else:
                holds = all([self._holds(question, before, question in changed) for question in questions])
            if not holds:
                yield prop

    def _holds(self, question, before, is_changed):
        if is_changed:
            return question.ask(before, self._state)
        if question.answer is None:
            question.answer = question.ask(before, self._state)
        return question.answer


def names_in(prop: Property) -> frozenset[str]:
    """All names in the text of a property and of what it calls: those of the fields that it reads are among them."""
    return frozenset(name for function in functions_reached(prop.predicate) for name in function.__code__.co_names)
