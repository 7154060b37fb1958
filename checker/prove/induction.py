"""Proof by induction: facts hold in the initial states, and every action preserves their conjunction."""

from __future__ import annotations

from dataclasses import dataclass, field

import z3

from kafkaproof.checker.prove.facts import Family
from kafkaproof.checker.prove.question import Question
from kafkaproof.checker.prove.relation import Action, Relation
from kafkaproof.checker.prove.terms import every
from kafkaproof.checker.prove.work import Work


@dataclass(frozen=True)
class Failure:
    """A family that an action does not keep, with z3's model; `goal` is the fact that fails after the action.

    For the initial states `action` is None, and `goal` is the fact itself.
    """

    family: Family
    action: Action | None
    model: z3.ModelRef | None
    goal: z3.BoolRef

    @property
    def where(self) -> str:
        """The action's name, or the words for an initial state."""
        return self.action.name if self.action else "the initial state"


@dataclass
class Outcome:
    """The families that are proved together, those that fail with their first failure, and the undecided."""

    proved: list[Family]
    failed: dict[str, Failure] = field(default_factory=dict)
    undecided: dict[str, str] = field(default_factory=dict)


def initially(relation: Relation, family: Family, work: Work) -> Outcome:
    """Whether a family holds in all initial states."""
    outcome = Outcome([])
    for condition, store, _ in relation.initial:
        moved = [(fact, relation.moved(fact.formula, store)) for fact in family.facts]
        goals = [
            (fact, z3.Implies(every([i >= 0 for i in fact.over]), goal)) for fact, goal in moved if not z3.is_true(goal)
        ]
        if goals:
            solver = z3.SimpleSolver()
            work.limit(solver)
            solver.add(condition, z3.Not(every([goal for _, goal in goals])))
            answer = solver.check()
            if answer == z3.sat:
                model = solver.model()
                failed = next(f for f, goal in goals if not z3.is_true(model.eval(goal, model_completion=True)))
                outcome.failed.setdefault(family.name, Failure(family, None, model, failed.formula))
            elif answer == z3.unknown:
                outcome.undecided[family.name] = "the initial states"
    if not outcome.failed and not outcome.undecided:
        outcome.proved.append(family)
    return outcome


class Prover:
    """The questions about one relation, kept from one proof to the next; only of `actions`, if these represent all."""

    def __init__(self, relation: Relation, work: Work, actions: list[Action] | None = None):
        self.relation, self.work = relation, work
        self.questions = [Question(relation, action) for action in actions or relation.actions]
        self._initial: dict[str, Outcome] = {}

    def prove_together(self, families: list[Family]) -> Outcome:
        """The largest inductive subset of the families, and why the others are not in it."""
        outcome = self._initially(families)
        alive = {family.name: family for family in outcome.proved}
        for question in self.questions:
            question.add(list(alive.values()))
        unsettled = True
        while unsettled:
            unsettled = False
            for number, question in enumerate(self.questions, start=1):
                self.work.tell(f"action {number} of {len(self.questions)}, {question.action.name}")
                while lost := _lost(question, alive, self.work, outcome):
                    for name in lost:
                        alive.pop(name)
                    unsettled = True
        outcome.proved = list(alive.values())
        return outcome

    def _initially(self, families):
        fresh = [f for f in families if f.name not in self._initial]
        for family in fresh:
            self._initial[family.name] = initially(self.relation, family, self.work)
        outcome = Outcome([])
        for family in families:
            found = self._initial[family.name]
            outcome.proved += found.proved
            outcome.failed |= found.failed
            outcome.undecided |= found.undecided
        return outcome


def _lost(question, alive, work, outcome):
    """The families that an action breaks (at least one, if it breaks any); also noted in the outcome."""
    goals = [name for name in question.goals if name in alive and not question.keeps(alive, name)]
    if not goals:
        return []
    answer, unsettled = _asked(question, alive, goals, work)
    if answer == z3.unsat:
        return []
    if answer == z3.sat:
        broken = {name: goal for name in goals if (goal := question.broken(name)) is not None}
        for name, goal in broken.items():
            outcome.failed[name] = Failure(alive[name], question.action, question.model, goal)
        return list(broken)
    outcome.undecided |= dict.fromkeys(unsettled, question.action.name)
    return unsettled


def _asked(question, alive, goals, work):
    """z3's answer about some goals, and those that it cannot decide; undecided goals are asked again in halves."""
    answer = question.ask(list(alive), goals, work, most=None if len(goals) == 1 else work.patience)
    if answer != z3.unknown or len(goals) == 1 or work.left() <= 0:
        return answer, goals if answer == z3.unknown else []
    unsettled, half = [], len(goals) // 2
    for part in (goals[:half], goals[half:]):
        answer, rest = _asked(question, alive, part, work)
        if answer == z3.sat:
            return answer, []
        unsettled += rest
    return (z3.unknown if unsettled else z3.unsat), unsettled
