"""Questions about one step from states where facts hold: step properties, and indices in range."""

from __future__ import annotations

from dataclasses import dataclass

import z3

from kafkaproof.checker.prove.facts import Fact, Family
from kafkaproof.checker.prove.formulas import universals
from kafkaproof.checker.prove.induction import Failure, Prover
from kafkaproof.checker.prove.question import Question, new_solver
from kafkaproof.checker.prove.relation import Action, Relation
from kafkaproof.checker.prove.work import Work
from kafkaproof.spec.language.model import Property, Transition


@dataclass(frozen=True)
class Step:
    """The verdict on a step property: the action that breaks it or is undecided, and the questions that needed facts."""

    failed: Failure | None = None
    undecided: str | None = None
    instances: int = 0
    asked: tuple[tuple[Question, z3.BoolRef], ...] = ()


def prove_step(prover: Prover, prop: Property, families: list[Family]) -> Step:
    """Whether every step from a state where the families hold has a property."""
    asked, names = [], [family.name for family in families]
    for question in prover.questions:
        action = question.action
        if not prop.concerns(action.transition):
            continue
        holds = prover.relation.step_predicate(prop, action)
        if z3.is_true(holds):
            continue
        holds = z3.And(*(part for _, part in universals(holds)))
        question.add(families)
        answer = question.reach([z3.Not(holds)], names, prover.work)
        if question.core:
            asked.append((question, z3.Not(holds)))
        if answer == z3.sat:
            family = Family(prop.name, "step", (Fact(holds),))
            return Step(failed=Failure(family, action, question.model, holds))
        if answer == z3.unknown:
            return Step(undecided=action.name)
    count = sum(prop.concerns(action.transition) for action in prover.relation.actions)
    return Step(instances=count, asked=tuple(asked))


def fails(condition: z3.BoolRef, work: Work) -> z3.CheckSatResult:
    """Whether a condition on constants alone, as in initial states, may fail."""
    solver = new_solver()
    work.limit(solver)
    solver.add(z3.Not(condition))
    return solver.check()


def stay(s):
    """The step that changes nothing."""
    return True


class States(Question):
    """Questions about any state where families hold, as questions about a step that changes nothing.

    `used` are families that suffice for all conditions found to hold, with few lemmas among them.
    """

    def __init__(self, relation: Relation, families: list[Family], work: Work):
        super().__init__(relation, Action(Transition(stay), (), z3.BoolVal(True), {}, (), z3.BoolVal(True)))
        self.add(families)
        self._names, self._work, self._found = [family.name for family in families], work, {}
        self.used = {family.name for family in families if family.is_declared}

    def always(self, condition: z3.BoolRef, symbols: list[z3.ExprRef]) -> z3.CheckSatResult:
        """Whether a condition holds (unsat) in all these states, for all values of symbols from 0."""
        key = condition.get_id()
        if key not in self._found:
            wanted = [*(symbol >= 0 for symbol in symbols), z3.Not(condition)]
            self._found[key] = condition, self.reach(wanted, self._names, self._work, self.used)
            self.used |= {*self.core}
        return self._found[key][1]
