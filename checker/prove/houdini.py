"""Houdini over many clauses at once: the largest part of them that every action keeps, from where more facts hold.

All actions are in one solver, a number says which is taken. A literal at some ids and indices is one truth of z3 before
the step and one after it, and a clause is over these truths; so thousands of clauses cost little.
"""

from __future__ import annotations

from itertools import product
from typing import Iterable

import z3

from checker.prove.candidates import Clause
from checker.prove.facts import Family, any_index, instances
from checker.prove.question import assumed, breaks, numbers_of
from checker.prove.relation import Relation, universals
from checker.prove.vocabulary import Vocabulary, compiled
from checker.prove.work import Work
from spec.language.domains import Number, values
from spec.language.model import Property


class OutOfWork(Exception):
    """z3 may do no more."""


class Houdini:
    """Clauses about one relation, of which those `alive` may still be kept by all actions.

    The ids of one sort are alike, so of a step's first argument one id is asked; the proof that follows asks all.
    """

    def __init__(self, relation: Relation, vocabulary: Vocabulary, work: Work):
        self.relation, self.vocabulary, self.work, self.solver = relation, vocabulary, work, z3.Solver()
        self.alive: dict[Clause, z3.BoolRef] = {}
        self._goals: dict[Clause, list[list[z3.BoolRef]]] = {}
        self._truths: dict[tuple, tuple[z3.BoolRef, z3.BoolRef]] = {}
        self._functions: dict[str, object] = {}
        self._names: list[z3.BoolRef] = []
        self._taken, self._any = z3.Int("action taken"), any_index(False, 1)
        self.actions = [a for a in relation.actions if self._is_asked(a)]
        self._indices = list(self._add_actions())
        self._count = 0

    def _is_asked(self, action):
        sorts = self.relation.model.interchangeable
        first = next(iter(action.transition.declared.values()), None)
        return getattr(first, "sort", None) not in sorts or action.arguments[0] == 0

    def _add_actions(self):
        variables, found = self.relation.variables, {self._any.get_id(): self._any}
        self.solver.add(self._any >= 0)
        for i, action in enumerate(self.actions):
            changes = [later == action.after.get(path, variables.terms[path])
                       for path, later in variables.later.items()]
            self.solver.add(z3.Implies(self._taken == i, z3.And(action.guard, *changes)))
            indices = [*action.symbols]
            for term in [action.guard, *action.after.values()]:
                indices += self.relation.indices(term)
            found |= {t.get_id(): t for t in indices if not self.relation.is_id(t)}
        return found.values()

    def know(self, families: Iterable[Family]) -> None:
        """Facts that hold before every step."""
        at = list({t.get_id(): t for t in [*self._indices, *numbers_of(self.relation)]}.values())
        for family in families:
            self._names.append(assumed(family.name))
            for fact in instances(self.relation, family, at):
                self.solver.add(z3.Implies(assumed(family.name), fact))

    def want(self, families: Iterable[Family], steps: Iterable[Property]) -> dict[str, z3.BoolRef]:
        """For properties of states and of steps, by name, the truth that a step breaks it."""
        found = {}
        for family in families:
            found[family.name] = broken = breaks(family.name)
            self.solver.add(broken == z3.Or(*(z3.Not(self._moved(fact.formula)) for fact in family.facts)))
        for prop in steps:
            found[prop.name] = broken = breaks(prop.name)
            for i, action in enumerate(self.actions):
                holds = self.relation.step_predicate(prop, action) if prop.concerns(action.transition) else None
                parts = [z3.BoolVal(True)] if holds is None else [part for _, part in universals(holds)]
                self.solver.add(z3.Implies(self._taken == i, broken == z3.Not(z3.And(*parts))))
        return found

    def add(self, clauses: Iterable[Clause]) -> None:
        """More clauses, or dropped ones again, all alive."""
        for clause in clauses:
            self.alive[clause] = alive = _holds(clause)
            if clause in self._goals:
                continue
            for binding in self._bindings(clause, self._indices):
                before = [z3.Not(self._truth(text, binding, False)) for text in clause.literals]
                self.solver.add(z3.Or(z3.Not(alive), *before))
            self._goals[clause] = [[self._truth(text, binding, True) for text in clause.literals]
                                   for binding in self._bindings(clause, [self._any])]
            broken = z3.Or(*(z3.And(*goal) for goal in self._goals[clause]))
            self.solver.add(_broken(clause) == broken)

    def settle(self) -> None:
        """Drop clauses until every action keeps those alive; raises OutOfWork."""
        kept, i, now = 0, 0, self._one_broken()
        while kept < len(self.actions):
            model = self._ask(i, [now])
            if model is None:
                kept, i = kept + 1, (i + 1) % len(self.actions)
            else:
                for clause in self._broken_in(model):
                    del self.alive[clause]
                kept, now = 0, self._one_broken()

    def keep_only(self, clauses: Iterable[Clause]) -> None:
        """Let these clauses alone be alive."""
        self.alive = {clause: self.alive[clause] for clause in clauses}

    def dropped(self, true: list[str]) -> list[Clause]:
        """The clauses not alive that a state with these literals breaks, the shortest first."""
        here, swapped = set(true), set(map(self.vocabulary.swapped, true))
        found = (c for c in self._goals if c not in self.alive)
        broken = [c for c in found if here.issuperset(c.literals) or swapped.issuperset(c.literals)]
        return sorted(broken, key=lambda c: len(c.literals))

    def failing(self, broken: z3.BoolRef, *clauses: Clause) -> tuple[int, z3.ModelRef] | None:
        """A step from where all clauses alive hold, and those given, that breaks what is wanted; raises OutOfWork."""
        now = self._now(broken, *map(_holds, clauses))
        for i in range(len(self.actions)):
            if (model := self._ask(i, [now])) is not None:
                return i, model
        return None

    def core(self, broken: list[z3.BoolRef], given: Iterable[Clause]) -> set[Clause]:
        """Few of the clauses alive from which, with those given, no step breaks what is wanted; raises OutOfWork."""
        found, either = set(given), self._either(broken)
        for i in range(len(self.actions)):
            known = [*self._names, *map(_holds, found)]
            if self._ask(i, [*known, either]) is not None:
                by_name = {str(truth): clause for clause, truth in self.alive.items() if clause not in found}
                hard = self._either([either])
                self.solver.add(z3.Implies(hard, z3.And(*known)))
                self.solver.set("core.minimize", True)
                self._ask(i, [hard, *map(z3.Bool, by_name)])
                self.solver.set("core.minimize", False)
                found |= {by_name[str(name)] for name in self.solver.unsat_core() if str(name) in by_name}
        return found.difference(given)

    def goal(self, clause: Clause) -> z3.BoolRef:
        """The truth that a step breaks a clause."""
        return _broken(clause)

    def true_literals(self, model: z3.ModelRef, literals: Iterable[str]) -> list[str]:
        """Those of the literals that hold before the step, for the first choice of ids and indices."""
        return [text for text in literals if z3.is_true(model.eval(self._first(text), model_completion=True))]

    def causes(self, i: int, broken: z3.BoolRef, true: list[str]) -> set[str]:
        """Of the literals that hold before a failing step, those for which it is taken or fails; raises OutOfWork."""
        by_name = {str(self._first(text)): text for text in true}
        core = self._ask(i, [z3.Not(broken), *map(self._first, true)]) is None and self.solver.unsat_core()
        guard = self.relation.reads(self.actions[i].guard)
        return {by_name[str(name)] for name in core or () if str(name) in by_name} | {
            text for text in true if self.vocabulary.texts[text][1] and self._leaves(text) <= guard}

    def _first(self, text):
        return self._truth(text, next(self._choices(list(self.vocabulary.names), [self._any])), False)

    def _leaves(self, text):
        literal, _ = self.vocabulary.texts[text]
        binding = next(self._choices(list(self.vocabulary.names), [self._any]))
        return self.relation.reads(self._formula(literal, binding))

    def _ask(self, i, assumptions):
        self.work.limit(self.solver)
        if self.work.left() <= 0:
            raise OutOfWork
        answer = self.solver.check(self._taken == i, *assumptions)
        if answer == z3.unknown:
            raise OutOfWork
        return self.solver.model() if answer == z3.sat else None

    def _one_broken(self):
        return self._now(z3.Or(*map(_broken, self.alive)))

    def _now(self, broken, *more):
        """The truth that all clauses alive hold, and more, and that the step breaks something."""
        now = self._either([broken])
        self.solver.add(z3.Implies(now, z3.And(*self._names, *self.alive.values(), *more)))
        return now

    def _either(self, broken):
        self._count += 1
        either = z3.Bool(f"one of them {self._count}")
        self.solver.add(z3.Implies(either, z3.Or(*broken)))
        return either

    def _broken_in(self, model):
        known = {}

        def holds(truth):
            if truth.get_id() not in known:
                known[truth.get_id()] = z3.is_true(model.eval(truth, model_completion=True))
            return known[truth.get_id()]

        return [c for c in self.alive if any(all(map(holds, goal)) for goal in self._goals[c])]

    def _bindings(self, clause, indices):
        return self._choices(clause.names(self.vocabulary), indices)

    def _choices(self, names, indices):
        """What names may stand for: ids, of which a and b differ, and numbers, without end among the indices."""
        choices = [indices if self._is_endless(self.vocabulary.names[name])
                   else values(self.vocabulary.names[name], self.relation.scope) for name in names]
        for chosen in product(*choices):
            found = dict(zip(names, chosen))
            if "a" not in found or "b" not in found or found["a"] != found["b"]:
                yield found

    def _is_endless(self, domain):
        return isinstance(domain, Number) and domain.high.name in self.relation.variables.endless

    def _truth(self, text, binding, after):
        """The truth of a literal where its names stand for these ids and indices."""
        literal, holds = self.vocabulary.texts[text]
        at = [binding[name] for name in self.vocabulary.names if name in literal.names]
        key = literal.text, after, *(i if isinstance(i, int) else i.get_id() for i in at)
        if key not in self._truths:
            formula = self._formula(literal, binding)
            truth = z3.Bool(f"{literal.text} at {key[1:]}")
            self.solver.add(truth == (self._moved(formula) if after else formula))
            self._truths[key] = truth, z3.Not(truth)
        return self._truths[key][0 if holds else 1]

    def _formula(self, literal, binding):
        names = [name for name in self.vocabulary.names if name in literal.names]
        if literal.text not in self._functions:
            name = f"literal_{len(self._functions)}"
            text = f"def {name}({', '.join(['s', *names])}):\n    return {literal.text}\n"
            self._functions[literal.text] = compiled(name, text, self.vocabulary.namespace)
        return self.relation.predicate(self._functions[literal.text], *(binding[name] for name in names))

    def _moved(self, formula):
        """A formula about the state before as one about the state after."""
        variables = self.relation.variables
        return z3.substitute(formula, *((term, variables.later[path]) for path, term in variables.terms.items()))


def _broken(clause):
    return breaks("; ".join(clause.literals))


def _holds(clause):
    return z3.Bool(f"clause {'; '.join(clause.literals)}")
