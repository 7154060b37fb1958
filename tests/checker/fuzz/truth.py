"""What a program means: every step and every property of the states that plain Python reaches, and what goes wrong."""

from __future__ import annotations

from dataclasses import dataclass, field

from kafkaproof.checker.model.execution import Execution, ExecutionError
from kafkaproof.spec.language.domains import Scope
from kafkaproof.spec.language.layout import Leaf
from kafkaproof.spec.language.model import Model, Transition
from kafkaproof.spec.language.plain import Plain

REFUSED, WRONG, OUTSIDE = "refused", "runs into an error", "leaves its range"
ERRORS = IndexError, ValueError
Key = tuple[int, ...]


@dataclass(frozen=True)
class Left:
    """A step that leads to a state, or that a bound cuts."""

    after: Key
    bound: str | None = None


@dataclass
class Truth:
    """What was found, up to `most` states: `states` by key in the order of their distance, `depths` from 1.

    `beginning` is WRONG, OUTSIDE or a bound where an initial state goes wrong so: then nothing is explored. `steps` has
    REFUSED, WRONG, OUTSIDE or where a step leads, by (state, transition, arguments); `judged` has True, False or WRONG
    by (state, property); `broken` the same by (state, transition, arguments, property of steps).
    """

    model: Model
    scope: Scope
    states: dict[Key, Plain] = field(default_factory=dict)
    depths: dict[Key, int] = field(default_factory=dict)
    steps: dict[tuple, object] = field(default_factory=dict)
    judged: dict[tuple, object] = field(default_factory=dict)
    broken: dict[tuple, object] = field(default_factory=dict)
    complete: bool = True
    beginning: str | None = None

    @property
    def goes_wrong(self) -> bool:
        """Whether anything that was reached is an error."""
        answers = [*self.steps.values(), *self.judged.values(), *self.broken.values()]
        return self.beginning is not None or any(answer in (WRONG, OUTSIDE) for answer in answers)

    def first_error(self) -> int | None:
        """In how many states something first runs into an error or leaves its range, goals aside; None for never."""
        goals = {p.name for p in self.model.properties if p.kind == "sometimes"}
        answers = [*self.steps.items(), *self.broken.items()]
        answers += [(at, answer) for at, answer in self.judged.items() if at[1] not in goals]
        return min((self.depths[at[0]] for at, answer in answers if answer in (WRONG, OUTSIDE)), default=None)

    def violated(self) -> dict[str, int]:
        """The shortest violation of each property, in states."""
        found = {}
        kinds = {p.name: p.kind for p in self.model.properties}
        for (key, name), holds in self.judged.items():
            if kinds[name] == "always" and holds is False:
                found[name] = min(found.get(name, 1 << 30), self.depths[key])
        for (key, *_, name), holds in self.broken.items():
            if holds is False:
                found[name] = min(found.get(name, 1 << 30), self.depths[key] + 1)
        return found

    def reached(self) -> set[str]:
        """The goals that are reached."""
        kinds = {p.name: p.kind for p in self.model.properties}
        return {name for (_, name), holds in self.judged.items() if kinds[name] == "sometimes" and holds is True}


def truth(model: Model, scope: Scope, most: int) -> Truth:
    """Explore a model in plain Python, past all errors, until it ends or `most` states are known."""
    run, found = Execution(model, scope), Truth(model, scope)
    states = _initial(run, found)
    level = {run.key(state): state for state in states}
    depth = 1
    while level:
        found.states |= level
        found.depths |= dict.fromkeys(level, depth)
        if len(found.states) > most:
            found.complete = False
        following = {}
        for key, state in level.items():
            _judge(found, key, state)
            for transition in model.transitions:
                for arguments in transition.choices(scope):
                    after = _step(run, found, key, state, transition, arguments)
                    if after is not None:
                        following[run.key(after)] = after
        level = {key: state for key, state in following.items() if key not in found.states} if found.complete else {}
        depth += 1
    return found


def _initial(run, found):
    states = []
    for arguments in Transition(run.model.initial).choices(run.scope):
        state = run.from_values([0] * len(run.leaves))
        try:
            run.model.initial(state, *arguments)
        except ERRORS:
            found.beginning = WRONG
            return []
        try:
            beyond = run.beyond(state, "initial state")
        except ExecutionError:
            found.beginning = OUTSIDE
            return []
        if beyond:
            found.beginning = beyond
            return []
        states.append(state)
    return states


def _judge(found, key, state):
    for prop in found.model.properties:
        if prop.kind != "step":
            found.judged[key, prop.name] = _asked(prop.predicate, state)


def _asked(predicate, *arguments):
    try:
        return bool(predicate(*arguments))
    except ERRORS:
        return WRONG


def _step(run, found, key, state, transition, arguments):
    """The state that a step leads to, None for none."""
    at, after = (key, transition.name, arguments), state.copy()
    try:
        if not transition.function(after, *arguments):
            found.steps[at] = REFUSED
            return None
    except ERRORS:
        found.steps[at] = WRONG
        return None
    try:
        found.steps[at] = Left(run.key(after), run.beyond(after, transition.name))
    except ExecutionError:
        found.steps[at] = OUTSIDE
        return None
    if found.steps[at].bound:
        return None
    for prop in found.model.properties:
        if prop.kind == "step" and prop.concerns(transition):
            found.broken[*at, prop.name] = _asked(prop.predicate, state, after, *(arguments if prop.of else ()))
    return after


def values_within(leaves: list[Leaf], key: Key) -> bool:
    """Whether every leaf is in its range."""
    return all(leaf.low <= value <= leaf.high for leaf, value in zip(leaves, key))
