"""Inductive proof: facts hold at first, and every action that begins where all hold ends where all hold.

Facts over indices of arrays without end are used at the terms that occur as indices in the question, and
at every number of the state; they are proved at an index that may be any. So a proof is a proof, while a
counterexample to induction may be one that another instance would exclude.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from typing import Iterable

import z3

from checker.prove.facts import Family, instances
from checker.prove.relation import Action, Relation
from checker.prove.terms import conjunction
from checker.prove.work import Work
from spec.language.domains import Bound, Id, Number


@dataclass(frozen=True)
class Failure:
    """A family that an action does not keep (`action` is None for the initial states), with z3's model."""

    family: Family
    action: Action | None
    model: z3.ModelRef | None
    goal: z3.BoolRef


@dataclass
class Outcome:
    """The families that are proved together, those that fail with the first failure, the undecided."""

    proved: list[Family]
    failed: dict[str, Failure] = field(default_factory=dict)
    undecided: dict[str, str] = field(default_factory=dict)


class Question:
    """One action: which facts hold before, and which may fail after it."""

    def __init__(self, relation: Relation, action: Action):
        self.relation, self.action = relation, action
        self.solver, self._count = z3.SimpleSolver(), 0
        first = [*action.symbols, *numbers_of(relation), *relation.indices(action.guard)]
        first += [i for term in action.after.values() for i in relation.indices(term)]
        self._terms = {term.get_id(): term for term in first}
        self.solver.add(action.guard)
        self.goals, self._known, self.model, self.core = {}, {}, None, []
        self._kept = []

    def add(self, families: list[Family]) -> None:
        """Make more families known, as assumptions and as goals."""
        fresh = [f for f in families if f.name not in self._known]
        names = {f.name for f in fresh}
        self._known |= {f.name: f for f in fresh}
        self.goals |= {f.name: goals for f in fresh if (goals := self._goals(f))}
        old = len(self._terms)
        self._terms |= {term.get_id(): term for term in self._terms_of(fresh)}
        terms = list(self._terms.values())
        for family in families if len(terms) > old else fresh:
            if family.starred_facts or family.name in names:
                self.solver.add(z3.Implies(assumed(family.name), conjunction(instances(self.relation, family, terms))))
        for family in fresh:
            if family.name in self.goals:
                broken = z3.Or(*(z3.Not(g) for g in self.goals[family.name]))
                self.solver.add(z3.Implies(breaks(family.name), broken))

    def _goals(self, family):
        changed = self.action.after.keys()
        found = []
        for fact in family.facts:
            if changed & self.relation.reads(fact.formula):
                moved = self.relation.moved(fact.formula, self.action.after)
                found.append(z3.Implies(z3.And(*(i >= 0 for i in fact.over)), moved) if fact.over else moved)
        return found

    def _terms_of(self, families):
        """The terms at which facts over indices are used, as far as these families bring them up."""
        indices, found = self.relation.indices, []
        for family in families:
            asked = family.name in self.goals
            for fact in family.facts:
                at = indices(fact.formula)
                found += at if not fact.over else fact.over if asked else ()
                found += [self.relation.moved(i, self.action.after) for i in at if asked]
        return found

    def ask(self, names: list[str], goals: list[str], work: Work) -> z3.CheckSatResult:
        """Whether one of the goals may fail after the action, from where the assumed families hold.

        `core` then holds families that suffice.
        """
        self.model, self.core = None, []
        if work.left() <= 0:
            return z3.unknown
        self.solver.set("core.minimize", False)
        self._count += 1
        either = z3.Bool(f"one of them {self._count}")
        self.solver.add(z3.Implies(either, z3.Or(*map(breaks, goals))))
        work.limit(self.solver, None if len(goals) == 1 else work.patience)
        answer = self.solver.check(*map(assumed, names), either)
        self.model = self.solver.model() if answer == z3.sat else None
        if answer == z3.unsat:
            self.core = self._families_of(self.solver.unsat_core())
            self._kept.append((set(goals), set(self.core)))
        return answer

    def keeps(self, names: Iterable[str], goals: list[str]) -> bool:
        """Whether an answer given before says already that the action keeps all these goals, from these families."""
        return any(kept.issuperset(goals) and core <= set(names) for kept, core in self._kept)

    def enough(self, names: list[str], goals: list[str]) -> set[str]:
        """The families from which the action keeps these goals, as answers given before say; all where none does."""
        found = set()
        for goal in goals:
            cores = [core for kept, core in self._kept if goal in kept and core <= set(names)]
            found |= min(cores, key=len, default=set(names))
        return found

    def reach(self, wanted: list[z3.BoolRef], names: list[str], work: Work) -> z3.CheckSatResult:
        """Whether the action can be taken in a state where the assumed families hold, and all that is wanted.

        `core` then holds families that suffice to say no: none where no state at all does.
        """
        self.model, self.core = None, []
        if work.left() <= 0:
            return z3.unknown
        alone = z3.SimpleSolver()
        work.limit(alone)
        alone.add(self.action.guard, *wanted)
        if alone.check() == z3.unsat:
            return z3.unsat
        self._use_at([i for formula in wanted for i in self.relation.indices(formula)])
        self.solver.push()
        self.solver.add(*wanted)
        answer = self._smallest_core([assumed(name) for name in names], work)
        self.model = self.solver.model() if answer == z3.sat else None
        self.solver.pop()
        return answer

    def _use_at(self, terms):
        """Use the facts over indices at more terms."""
        old = len(self._terms)
        self._terms |= {term.get_id(): term for term in terms}
        if len(self._terms) > old:
            for family in self._known.values():
                if family.starred_facts:
                    found = instances(self.relation, family, list(self._terms.values()))
                    self.solver.add(z3.Implies(assumed(family.name), conjunction(found)))

    def _smallest_core(self, assumptions, work):
        """z3's answer; where it is no, the core is then made as small as may be."""
        for small in (False, True):
            self.solver.set("core.minimize", small)
            work.limit(self.solver)
            answer = self.solver.check(*assumptions)
            if answer != z3.unsat:
                return z3.unsat if small else answer
            assumptions = self.solver.unsat_core()
            self.core = self._families_of(assumptions)
        return answer

    def _families_of(self, core):
        """The names of the families assumed in a core."""
        names = (literal.decl().name().removeprefix("assume ") for literal in core)
        return [name for name in names if name in self._known]

    def broken(self, name: str) -> z3.BoolRef | None:
        """The instance of a goal that fails in the last model, or None."""
        for goal in self.goals[name]:
            if z3.is_false(self.model.eval(goal, model_completion=True)):
                return goal
        return None


@cache
def assumed(name: str) -> z3.BoolRef:
    """The condition under which a family is assumed."""
    return z3.Bool(f"assume {name}")


@cache
def breaks(name: str) -> z3.BoolRef:
    """The condition under which a fact of a family fails after the action."""
    return z3.Bool(f"break {name}")


def numbers_of(relation: Relation):
    """The variables that may be indices of arrays without end: ids, and numbers up to a bound that sizes one."""
    variables = relation.variables
    for place in variables.places:
        if not place.starred and not place.spare:
            match place.domain:
                case Number(_, Bound(name)) if name in variables.array_bounds:
                    yield variables.terms[place.path]
                case Id(sort) if sort in variables.array_bounds:
                    yield variables.terms[place.path]


def initially(relation: Relation, families: list[Family], work: Work) -> Outcome:
    """Which families hold in all initial states."""
    outcome = Outcome([])
    states = relation.initial()
    for family in families:
        for condition, store in states:
            for fact in family.facts:
                solver, goal = z3.SimpleSolver(), relation.moved(fact.formula, store)
                work.limit(solver)
                solver.add(condition, *(i >= 0 for i in fact.over), z3.Not(goal))
                answer = solver.check()
                if answer == z3.sat:
                    outcome.failed.setdefault(family.name, Failure(family, None, solver.model(), goal))
                elif answer == z3.unknown:
                    outcome.undecided[family.name] = "the initial states"
        if family.name not in outcome.failed and family.name not in outcome.undecided:
            outcome.proved.append(family)
    return outcome


class Prover:
    """Questions about one relation, kept from one proof to the next; of some `actions`, where these stand for all."""

    def __init__(self, relation: Relation, work: Work, actions: list[Action] | None = None):
        self.relation, self.work = relation, work
        self.questions = [Question(relation, action) for action in actions or relation.actions]
        self._initial: dict[str, Outcome] = {}

    def prove_together(self, families: list[Family]) -> Outcome:
        """The largest part of the families that is inductive; the others with why they are not."""
        outcome = self._initially(families)
        alive = {family.name: family for family in outcome.proved}
        for question in self.questions:
            question.add(list(alive.values()))
        unsettled = True
        while unsettled:
            unsettled = False
            for question in self.questions:
                while lost := _lost(question, alive, self.work, outcome):
                    for name in lost:
                        alive.pop(name)
                    unsettled = True
        outcome.proved = list(alive.values())
        return outcome

    def _initially(self, families):
        fresh = [f for f in families if f.name not in self._initial]
        for family in fresh:
            self._initial[family.name] = initially(self.relation, [family], self.work)
        outcome = Outcome([])
        for family in families:
            found = self._initial[family.name]
            outcome.proved += found.proved
            outcome.failed |= found.failed
            outcome.undecided |= found.undecided
        return outcome


def _lost(question, alive, work, outcome):
    """The families that an action breaks, one at least if there is one; noted in the outcome."""
    goals = [name for name in question.goals if name in alive]
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
    """z3's answer about some goals, and those that it cannot decide: of many, each half is asked by itself."""
    if question.keeps(alive, goals):
        return z3.unsat, []
    answer = question.ask(list(alive), goals, work)
    if answer != z3.unknown or len(goals) == 1 or work.left() <= 0:
        return answer, goals if answer == z3.unknown else []
    unsettled, half = [], len(goals) // 2
    for part in (goals[:half], goals[half:]):
        answer, rest = _asked(question, alive, part, work)
        if answer == z3.sat:
            return answer, []
        unsettled += rest
    return (z3.unknown if unsettled else z3.unsat), unsettled
