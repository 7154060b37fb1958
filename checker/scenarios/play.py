"""Playing a scenario: each part is executed step by step and checked against what it expects.

A scenario that names something unknown is bad input (ScenarioError). A part whose expectation does not hold has a
`failure`: the first such line, where playing stops.
"""

from __future__ import annotations

import operator
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from kafkaproof.checker.basics.errors import UserError
from kafkaproof.checker.model.execution import Execution
from kafkaproof.checker.model.fields import fields_of
from kafkaproof.checker.model.selection import scope_for
from kafkaproof.checker.runs.counterexample import Trace, TraceError, chosen_step, follow
from kafkaproof.checker.runs.metrics import metrics_over
from kafkaproof.checker.scenarios.parse import STEP, Line, Part, Scenario, expectation
from kafkaproof.spec.catalogue import find
from kafkaproof.spec.language.domains import Scope, coded, named
from kafkaproof.spec.language.model import Model, Property
from kafkaproof.spec.language.plain import Plain, get
from kafkaproof.spec.language.steps import Step, parse_step
from kafkaproof.spec.metrics_catalogue import metrics_of
from kafkaproof.spec.own import beside, is_own

RELATIONS = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
MOST_SHOWN = 6


@dataclass
class Moment:
    """What a scenario says of one state: the story before the step to it, the properties it violates, and notes."""

    story: str = ""
    violates: list[Property] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


@dataclass
class Told:
    """A part that was played: its behaviour, a moment for each state, and its failure if it has one."""

    part: Part
    trace: Trace
    moments: list[Moment]
    failure: str | None = None

    @property
    def metrics(self) -> list[dict[str, int]]:
        """The values of the metrics in each state."""
        return metrics_over(self.trace)


class _Failure(Exception):
    """A line does not hold: the reason, and its number if it is not the line in play."""

    def __init__(self, text: str, number: int | None = None):
        super().__init__(text)
        self.number = number


def play(scenario: Scenario, part: Part) -> Told:
    """Play one part, from the first initial state that allows all its steps; raises ScenarioError."""
    model, scope = _model(scenario, part)
    player = _Player(scenario, part, model, scope)
    tellings = []
    for initial in player.execution.initial_states():
        told = player.tell(initial)
        tellings.append(told)
        if told.failure is None:
            break
    return max(tellings, key=lambda told: (told.failure is None, len(told.trace.steps)))


def _model(scenario, part):
    named = (beside(part.variant, Path(scenario.path)),) if is_own(part.variant) else (scenario.system, part.variant)
    try:
        model = find(*named)[0]
        return model, scope_for(model, part.scope, part.sizes)
    except (LookupError, UserError) as error:
        raise scenario.error(part.number, str(error.args[0])) from error


class _Player:
    """Checks the lines of a part against its model; all names are looked up before anything is played."""

    def __init__(self, scenario: Scenario, part: Part, model: Model, scope: Scope):
        self.scenario, self.part, self.model, self.scope = scenario, part, model, scope
        self.execution = Execution(model, scope)
        self.metrics = {measure.metric.name for measure in metrics_of(model)}
        self.properties = model.properties_at(scope)
        self._checks = {"refused": self._refused, "expect": self._expect, "reaches": self._reaches}
        for line in part.lines:
            try:
                self._resolve(line)
            except (TraceError, UserError, ValueError) as error:
                raise scenario.error(line.number, str(error)) from error

    def _resolve(self, line):
        if line.kind in (STEP, "refused"):
            chosen_step(self.model, self.scope, line.text)
        elif line.kind in ("violates", "reaches"):
            self._property(line)
        elif expectation(line.text)[0] in self.metrics:
            self._number(line)
        else:
            self._field(line)

    def _property(self, line) -> Property:
        goal = line.kind == "reaches"
        asked = [p for p in self.model.properties if (p.kind == "sometimes") == goal]
        found = [p for p in asked if p.name == line.text or f"({line.text})" in p.text]
        if len(found) != 1:
            what, names = ("goal" if goal else "property"), ", ".join(p.name for p in found or asked)
            raise UserError(f"{'several are called' if found else f'no {what}'} {line.text!r}; there are {names}")
        return found[0]

    def _number(self, line):
        name, _, value = expectation(line.text)
        if not value.isdigit():
            raise UserError(f"{name} is a number, not {value}")
        return int(value)

    def _field(self, line):
        name, _, value = expectation(line.text)
        try:
            fields = fields_of(self.model.state, self.scope, [name])
        except UserError as error:
            raise UserError(f"{error}; metrics are {', '.join(sorted(self.metrics))}") from error
        return fields.domains[0], [paths[0] for paths in fields.places], _coded(fields.domains[0], value)

    def tell(self, initial: Plain) -> Told:
        """Play all lines from an initial state, up to the first that does not hold."""
        told = Told(self.part, Trace(self.model, self.scope, initial, []), [Moment()])
        announced: list[Line] = []
        line = Line(self.part.number, STEP, "", "")
        try:
            for line in self.part.lines:
                if line.kind == STEP:
                    self._settle(told, announced, line)
                    announced = []
                elif line.story:
                    told.moments[-1].notes.append(line.story)
                if line.kind == "violates":
                    announced.append(line)
                else:
                    self._play(told, line)
            self._settle(told, announced, line)
        except _Failure as failure:
            told.failure = f"{self.scenario.path}:{failure.number or line.number}: {failure}"
        return told

    def _play(self, told, line):
        if line.kind != STEP:
            self._checks[line.kind](told, line)
            return
        taken = len(told.trace.steps)
        try:
            follow(told.trace, self.execution, line.text)
        except TraceError as error:
            if len(told.trace.steps) > taken:
                told.moments.append(Moment(line.story))
                raise _Failure(f"{line.text}: the answer is {told.trace.steps[-1][0].answer or 'none'}") from error
            transition, arguments = chosen_step(self.model, self.scope, line.text)
            why = self.execution.refusal(_state(told), transition, arguments)
            raise _Failure(
                f"{line.text} is not possible here: {why}; possible are {self._possible(told, line)}"
            ) from error
        told.moments.append(Moment(line.story))
        bound = self.execution.beyond(_state(told), line.text)
        if bound:
            raise _Failure(f"{line.text} goes beyond the scope: give it a larger {bound}")

    def _possible(self, told, line):
        """The possible steps, those most like the line first."""
        name = parse_step(line.text).transition.rpartition(".")[2]
        steps = [
            Step(transition.name, dict(zip(transition.arguments, arguments)))
            for transition, arguments, _ in self.execution.successors(_state(told), Counter())
        ]
        steps.sort(key=lambda step: step.transition.rpartition(".")[2] != name)
        more = f" and {len(steps) - MOST_SHOWN} more" if len(steps) > MOST_SHOWN else ""
        return ", ".join(map(str, steps[:MOST_SHOWN])) + more

    def _refused(self, told, line):
        transition, arguments = chosen_step(self.model, self.scope, line.text)
        if self.execution.after(_state(told), transition, arguments) is not None:
            raise _Failure(f"{self.execution.step(transition, arguments)} is possible here")
        told.moments[-1].notes.append(f"not possible here: {line.text}")

    def _expect(self, told, line):
        name, relation, _ = expectation(line.text)
        if name in self.metrics:
            found = [told.metrics[-1][name]]
            wanted, shown = self._number(line), found[0]
        else:
            domain, paths, wanted = self._field(line)
            found = [get(_state(told), path) for path in paths]
            shown = ", ".join(str(named(domain, value)) for value in found)
        if not all(RELATIONS[relation](value, wanted) for value in found):
            raise _Failure(f"expected {line.text}, but it is {shown}")
        told.moments[-1].notes.append(f"as expected: {line.text}")

    def _reaches(self, told, line):
        goal = self._property(line)
        if not goal.predicate(_state(told)):
            raise _Failure(f"{goal.name} is not reached here: {goal.text}")
        told.moments[-1].notes.append(f"reaches {goal.name}: {goal.text}")

    def _settle(self, told, announced, following):
        """Check the last state and the step to it against the violations that its lines name, up to `following`."""
        broken = self._broken(told)
        for line in announced:
            if self._property(line) not in broken:
                raise _Failure(f"{line.text} is not violated here", line.number)
        named_ones = [self._property(line) for line in announced]
        missing = [p.name for p in broken if p not in named_ones]
        if missing:
            told_not = f"the step before violates {', '.join(missing)}: say violates {missing[0]}"
            raise _Failure(told_not, following.number)
        told.moments[-1].violates = named_ones

    def _broken(self, told):
        """The properties that are newly violated in the last state, or violated by the step to it."""
        if not told.trace.steps:
            return [
                p for p, holds in self.execution.state_verdicts(told.trace.initial) if p.kind == "always" and not holds
            ]
        before = told.trace.steps[-2][2] if len(told.trace.steps) > 1 else told.trace.initial
        step, transition, after = told.trace.steps[-1]
        names = self.execution.newly_broken(before, transition, tuple(step.arguments.values()), after)
        return [p for p in self.properties if p.name in names]


def _state(told):
    return told.trace.steps[-1][2] if told.trace.steps else told.trace.initial


def _coded(domain, text):
    """The value that a person has written for a field."""
    if text == "nobody":
        return coded(domain, None)
    if text.startswith("["):
        return coded(domain, [int(word) for word in text.strip("[]").replace(",", " ").split()])
    return coded(domain, {"true": 1, "false": 0}.get(text, text))
