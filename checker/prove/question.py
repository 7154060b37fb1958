"""Questions about one action, to a solver of its own.

Facts over indices of unbounded arrays are assumed at the terms that occur as indices in the question, and at
every number of the state; they are proved at an arbitrary index. So proofs are sound, but another instance might
exclude a counterexample to induction.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

import z3

from kafkaproof.checker.prove.facts import Family, instances
from kafkaproof.checker.prove.parts import key
from kafkaproof.checker.prove.relation import Action, Relation
from kafkaproof.checker.prove.terms import every, some
from kafkaproof.checker.prove.work import Work
from kafkaproof.spec.language.domains import Bound, Id, Number

LITTLE = 0.15
"""The work, in millions of steps, to try whether fewer families suffice for one goal."""


class Question:
    """One action: which facts hold before, and which may fail after it."""

    def __init__(self, relation: Relation, action: Action):
        self.relation, self.action = relation, action
        self.solver, self._count = new_solver(), 0
        first = [*action.symbols, *numbers_of(relation), *relation.indices(action.guard)]
        first += [i for term in action.after.values() for i in relation.indices(term)]
        self._terms = {key(term): term for term in first}
        self.solver.add(action.guard)
        self.goals, self.core = {}, []
        self._known, self._kept, self._model = {}, [], None
        self._by_literal: dict[int, str] = {}

    def add(self, families: list[Family]) -> None:
        """Add families, as assumptions and as goals."""
        fresh = [f for f in families if f.name not in self._known]
        self._known |= {f.name: f for f in fresh}
        self._by_literal |= {key(assumed(f.name)): f.name for f in fresh}
        self.goals |= {f.name: goals for f in fresh if (goals := self._goals(f))}
        more = self._more_terms(self._terms_of(fresh))
        self._tell(family for family in families if family in fresh or (more and family.starred_facts))
        for family in fresh:
            if family.name in self.goals:
                broken = some([z3.Not(goal) for goal in self.goals[family.name]])
                self.solver.add(z3.Implies(breaks(family.name), broken))

    def _goals(self, family):
        changed = self.action.after.keys()
        found = []
        for fact in family.facts:
            if changed & self.relation.reads(fact.formula):
                moved = self.relation.moved(fact.formula, self.action.after)
                if not z3.is_true(moved) and not z3.eq(moved, fact.formula):
                    found.append(z3.Implies(every([i >= 0 for i in fact.over]), moved) if fact.over else moved)
        return found

    def _terms_of(self, families):
        """The terms in these families at which facts over indices are assumed."""
        indices, found = self.relation.indices, []
        for family in families:
            asked = family.name in self.goals
            for fact in family.facts:
                at = indices(fact.formula)
                found += at if not fact.over else fact.over if asked else ()
                found += [self.relation.moved(i, self.action.after) for i in at if asked]
        return found

    def _more_terms(self, terms):
        """Assume the facts over indices at more terms from now on; returns whether any term is new."""
        old = len(self._terms)
        self._terms |= {key(term): term for term in terms}
        return len(self._terms) > old

    def _tell(self, families):
        terms = list(self._terms.values())
        for family in families:
            told = every(instances(self.relation, family, terms))
            self.solver.add(z3.Implies(assumed(family.name), told))

    def ask(
        self, names: list[str], goals: list[str], work: Work, free: set[str] | None = None, most: float | None = None
    ) -> z3.CheckSatResult:
        """Whether one of the goals may fail after the action, from a state where the assumed families hold.

        `core` then holds families that suffice: besides the `free` ones only a few, preferably those named first.
        """
        literals = [breaks(goals[0]) if len(goals) == 1 else self._one_of(goals)]
        answer = self._check(names, literals, work, most)
        if answer == z3.unsat:
            if free is not None:
                self._leave_out(names, free, literals, work, len(goals) * LITTLE)
            self._kept.append((set(goals), set(self.core)))
        return answer

    def _one_of(self, goals):
        """The condition under which one of the goals fails."""
        self._count += 1
        either = z3.Bool(f"one of them {self._count}")
        self.solver.add(z3.Implies(either, some(list(map(breaks, goals)))))
        return either

    def _check(self, names, literals, work, most=None):
        """z3's answer under the assumed families and some conditions."""
        self._model, self.core = None, []
        if work.left() <= 0:
            return z3.unknown
        work.limit(self.solver, most)
        answer = self.solver.check(*map(assumed, names), *literals)
        if answer == z3.unsat:
            self.core = self._families_of(self.solver.unsat_core())
        return answer

    def _leave_out(self, names, free, literals, work, most):
        """Drop families that are not free from the core, one after another, as long as it suffices."""
        core = set(self.core)
        for name in [n for n in reversed(names) if n in core and n not in free]:
            if name in core:
                rest = (core | free) - {name}
                if self._check([n for n in names if n in rest], literals, work, most) == z3.unsat:
                    core = set(self.core)
        self.core = sorted(core)

    def _families_of(self, core):
        """The names of the families assumed in a core."""
        return [name for literal in core if (name := self._by_literal.get(key(literal)))]

    @property
    def model(self) -> z3.ModelRef:
        """z3's model, if its last answer was sat."""
        if self._model is None:
            self._model = self.solver.model()
        return self._model

    def keeps(self, names: Iterable[str], goal: str) -> bool:
        """Whether an earlier answer already shows that the action keeps a goal, from these families."""
        return any(goal in kept and core <= set(names) for kept, core in self._kept)

    def enough(self, names: list[str], goals: list[str]) -> set[str]:
        """The families from which, by earlier answers, the action keeps these goals; all if there is no such answer."""
        found = set()
        for goal in goals:
            cores = [core for kept, core in self._kept if goal in kept and core <= set(names)]
            found |= min(cores, key=len, default=set(names))
        return found

    def reach(
        self, wanted: list[z3.BoolRef], names: list[str], work: Work, free: set[str] | None = None
    ) -> z3.CheckSatResult:
        """Whether the action can be taken in a state where the assumed families and all wanted conditions hold.

        `core` as in `ask`; it is empty if the wanted conditions alone exclude it.
        """
        self._model, self.core = None, []
        if work.left() <= 0:
            return z3.unknown
        if wanted and self._excludes(wanted, work):
            return z3.unsat
        if self._more_terms(i for formula in wanted for i in self.relation.indices(formula)):
            self._tell(family for family in self._known.values() if family.starred_facts)
        self.solver.push()
        self.solver.add(*wanted)
        answer = self._check(names, [], work)
        if answer == z3.sat:
            self._model = self.solver.model()
        elif answer == z3.unsat and free is not None:
            self._leave_out(names, free, [], work, LITTLE)
        self.solver.pop()
        return answer

    def _excludes(self, wanted, work):
        """Whether the wanted conditions alone exclude the action."""
        alone = new_solver()
        work.limit(alone)
        alone.add(self.action.guard, *wanted)
        return alone.check() == z3.unsat

    def broken(self, name: str) -> z3.BoolRef | None:
        """The instance of a goal that fails in the last model, or None."""
        for goal in self.goals[name]:
            if z3.is_false(self.model.eval(goal, model_completion=True)):
                return goal
        return None


def new_solver() -> z3.Solver:
    """A solver with the older of z3's arithmetic solvers: it takes three quarters of the time if numbers are only
    compared.
    """
    solver = z3.SimpleSolver()
    solver.set("arith.solver", 2)
    return solver


@cache
def assumed(name: str) -> z3.BoolRef:
    """The condition under which a family is assumed."""
    return z3.Bool(f"assume {name}")


@cache
def breaks(name: str) -> z3.BoolRef:
    """The condition under which a fact of a family fails after the action."""
    return z3.Bool(f"break {name}")


def numbers_of(relation: Relation):
    """The variables that may index unbounded arrays: ids, and numbers up to a bound that sizes one."""
    variables = relation.variables
    for place in variables.places:
        if not place.starred and not place.spare:
            match place.domain:
                case Number(_, Bound(name)) if name in variables.array_bounds:
                    yield variables.terms[place.path]
                case Id(sort) if sort in variables.array_bounds:
                    yield variables.terms[place.path]
