"""Clauses over one relation: those that every action keeps (Houdini), and the causes of steps that break one.

All actions are in one solver; a number says which one is taken. A literal at some ids and indices is one truth of z3
before the step and one after it. Clauses are over these truths, so that many clauses cost little.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain

import z3

from kafkaproof.checker.prove.candidates import Clause
from kafkaproof.checker.prove.facts import Family, any_index, instances
from kafkaproof.checker.prove.formulas import universals
from kafkaproof.checker.prove.parts import distinct, key, parts
from kafkaproof.checker.prove.question import assumed, breaks, numbers_of
from kafkaproof.checker.prove.relation import Relation
from kafkaproof.checker.prove.vocabulary import Vocabulary
from kafkaproof.checker.prove.work import Work
from kafkaproof.spec.language.domains import Bound, Number, values
from kafkaproof.spec.language.model import Property
from kafkaproof.spec.language.text import function_from


class OutOfWork(Exception):
    """The work that z3 may do is used up."""


class Houdini:
    """Clauses over one relation; those `alive` may still be kept by all actions.

    The ids of one sort are alike, so only one value of a step's first argument is tried; the proof that follows tries
    all.
    """

    def __init__(self, relation: Relation, vocabulary: Vocabulary, work: Work):
        self.relation, self.vocabulary, self.work, self.solver = relation, vocabulary, work, z3.Solver()
        self.alive: dict[Clause, z3.BoolRef] = {}
        self._goals: dict[Clause, list[list[z3.BoolRef]]] = {}
        self._truths: dict[tuple, tuple[z3.BoolRef, z3.BoolRef]] = {}
        self._formulas: dict[tuple, z3.BoolRef] = {}
        self._functions: dict[str, object] = {}
        self._names: list[z3.BoolRef] = []
        self._taken, self._enabled, self._any = z3.Int("action taken"), z3.Bool("action enabled"), any_index(False, 1)
        self.actions = [a for a in relation.actions if self._is_asked(a)]
        self._of_action = [self._add_action(i, action) for i, action in enumerate(self.actions)]
        self._indices = distinct([self._any, *chain(*self._of_action)])
        self.solver.add(self._any >= 0, 0 <= self._taken, self._taken < len(self.actions))
        self._present = [name for name in vocabulary.names if any(True for _ in self._choices([name], [self._any]))]
        self._count = 0
        self._values: dict[str, z3.BoolRef] = {}
        self._spoken: dict[int, set[tuple]] = {}

    def _is_asked(self, action):
        sorts = self.relation.model.interchangeable
        first = next(iter(action.transition.declared.values()), None)
        return getattr(first, "sort", None) not in sorts or action.arguments[0] == 0

    def _add_action(self, i, action):
        """Add an action; returns the indices that occur in it. What it changes is asserted whether it is enabled or
        not.
        """
        variables, is_taken = self.relation.variables, self._taken == i
        changes = [later == action.after.get(path, variables.terms[path]) for path, later in variables.later.items()]
        self.solver.add(z3.Implies(is_taken, z3.And(self._enabled == action.guard, *changes)))
        indices = [*action.symbols]
        for term in [action.guard, *action.after.values()]:
            indices += self.relation.indices(term)
        return [t for t in indices if not self.relation.is_id(t)]

    def know(self, families: Iterable[Family]) -> None:
        """Assume facts before every step."""
        at = distinct([*self._indices, *numbers_of(self.relation)])
        for family in families:
            self._names.append(assumed(family.name))
            for fact in instances(self.relation, family, at):
                self.solver.add(z3.Implies(assumed(family.name), fact))

    def want(self, families: Iterable[Family], steps: Iterable[Property]) -> dict[str, z3.BoolRef]:
        """The truth that a step breaks it, for each of these properties of states and steps, by name."""
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
        """Add clauses, or dropped ones again; they are alive."""
        for clause in clauses:
            self.alive[clause] = alive = _holds(clause)
            if clause in self._goals:
                continue
            for binding in self._bindings(clause, self._indices):
                before = [z3.Not(self._truth(text, binding, False)) for text in clause.literals]
                self.solver.add(z3.Or(z3.Not(alive), *before))
            self._goals[clause] = [
                [self._truth(text, binding, True) for text in clause.literals]
                for binding in self._bindings(clause, [self._any])
            ]
            broken = z3.Or(*(z3.And(*goal) for goal in self._goals[clause]))
            self.solver.add(_broken(clause) == broken)

    def settle(self) -> None:
        """Drop clauses until every action keeps those alive; raises OutOfWork."""
        while self.alive and (model := self._ask(self._now(z3.Or(*map(_broken, self.alive))))) is not None:
            for clause in self._broken_in(model):
                self.drop(clause)

    def drop(self, clause: Clause) -> None:
        """Make a clause no longer alive."""
        self.alive.pop(clause, None)

    def failing(self, broken: z3.BoolRef, *clauses: Clause) -> tuple[int, z3.ModelRef] | None:
        """A step that breaks what is wanted, from a state where all alive and all given clauses hold; raises OutOfWork."""
        model = self._ask(self._now(broken, *map(_holds, clauses)))
        return None if model is None else (model.eval(self._taken).as_long(), model)

    def core(self, broken: list[z3.BoolRef], given: Iterable[Clause]) -> list[Clause]:
        """A few of the clauses alive that, with those given, keep every step from breaking what is wanted; raises
        OutOfWork.
        """
        found = dict.fromkeys(given)
        for i in range(len(self.actions)):
            known = [self._enabled, *self._names, *map(_holds, found), z3.Or(*broken)]
            if self._ask(self._taken == i, *known) is not None:
                by_name = {str(truth): clause for clause, truth in self.alive.items() if clause not in found}
                self._ask_few(z3.And(self._taken == i, *known), map(z3.Bool, by_name))
                core = {str(name) for name in self.solver.unsat_core()}
                found |= {clause: None for name, clause in by_name.items() if name in core}
        return [clause for clause in found if clause not in given]

    def goal(self, clause: Clause) -> z3.BoolRef:
        """The truth that a step breaks a clause."""
        return _broken(clause)

    def spoken_of(self, texts: Iterable[str]) -> set[tuple]:
        """The leaves in some literals, by path."""
        bindings = list(self._choices(self._present, [self._any]))
        literals = dict.fromkeys(self.vocabulary.texts[text][0] for text in texts)
        return set().union(*(self._leaves(self._formula(literal, at)[1]) for literal in literals for at in bindings))

    def mattering(self, i: int, broken: z3.BoolRef, model: z3.ModelRef, leaves: set[tuple]) -> set[tuple]:
        """The leaves whose values before a failing step make it fail, and all arrays; all leaves if these values alone
        do not. Raises OutOfWork.
        """
        terms = {path: term for path, term in self.relation.variables.terms.items() if path in leaves}
        arrays = {path for path, term in terms.items() if z3.is_array_sort(term)}
        held = {str(self._has_value(path, model)): path for path in terms if path not in arrays}
        if self._ask_few(self._always(i, broken), map(z3.Bool, held)) is not None:
            return leaves
        return arrays | {held[str(name)] for name in self.solver.unsat_core() if str(name) in held}

    def _has_value(self, path, model):
        """The truth that a leaf has its value before a step."""
        term = self.relation.variables.terms[path]
        value = model.eval(term, model_completion=True)
        name = f"{path} is {value}"
        if name not in self._values:
            self._values[name] = z3.Bool(name)
            self.solver.add(z3.Implies(self._values[name], term == value))
        return self._values[name]

    def true_literals(
        self, i: int, model: z3.ModelRef, texts: Iterable[str], leaves: set[tuple]
    ) -> Iterator[dict[z3.BoolRef, str]]:
        """The literals about some leaves that hold before a step, by their truths, for each choice of ids and of the
        indices that occur in the action.
        """
        for binding in (b for index in [self._any, *self._of_action[i]] for b in self._choices(self._present, [index])):
            if binding["a"] > binding["b"]:
                continue
            found = {}
            for text in texts:
                literal, holds = self.vocabulary.texts[text]
                _, formula = self._formula(literal, binding)
                if self._leaves(formula) <= leaves and z3.is_true(model.eval(formula, model_completion=True)) == holds:
                    found[self._truth(text, binding, False)] = text
            yield found

    def _leaves(self, formula):
        """The leaves in a formula, by path."""
        if (known := key(formula)) not in self._spoken:
            paths = self.relation.variables.paths
            self._spoken[known] = {paths[part] for part in parts(formula) if part in paths}
        return self._spoken[known]

    def _always(self, i, broken):
        """The formula that an action does not break what is wanted."""
        return z3.And(self._taken == i, z3.Not(z3.And(self._enabled, broken)), *self._names, *self.alive.values())

    def cause(self, i: int, broken: z3.BoolRef, true: dict[z3.BoolRef, str]) -> list[str] | None:
        """A few of the literals that hold before a failing step, by their truths, from which it always fails; None if
        they do not determine that. Raises OutOfWork.
        """
        by_name = {str(truth): text for truth, text in true.items()}
        if self._ask_few(self._always(i, broken), true) is not None:
            return None
        return [by_name[str(name)] for name in self.solver.unsat_core() if str(name) in by_name]

    def _ask(self, *assumptions):
        self.work.limit(self.solver)
        if self.work.left() <= 0:
            raise OutOfWork
        answer = self.solver.check(*assumptions)
        if answer == z3.unknown:
            raise OutOfWork
        return self.solver.model() if answer == z3.sat else None

    def _ask_few(self, always, assumptions):
        """The same, with as few assumptions in the core as z3 finds."""
        self.solver.set("core.minimize", True)
        try:
            return self._ask(self._named(always), *assumptions)
        finally:
            self.solver.set("core.minimize", False)

    def _now(self, broken, *more):
        """The assumptions that all clauses alive hold, and those given, and that the step breaks something."""
        return self._named(z3.And(self._enabled, broken, *self._names, *self.alive.values(), *more))

    def _named(self, formula):
        self._count += 1
        name = z3.Bool(f"one of them {self._count}")
        self.solver.add(z3.Implies(name, formula))
        return name

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
        """What names may stand for: ids and numbers of the scope; for unbounded ones, the indices."""
        scope = self.relation.scope
        return self.vocabulary.bindings(names, lambda d: indices if self._is_endless(d) else values(d, scope))

    def _is_endless(self, domain):
        is_bounded = isinstance(domain, Number) and isinstance(domain.high, Bound)
        return is_bounded and domain.high.name in self.relation.variables.endless

    def _truth(self, text, binding, after):
        """The truth of a literal where its names stand for these ids and indices."""
        literal, holds = self.vocabulary.texts[text]
        at, formula = self._formula(literal, binding)
        if (literal.text, after, at) not in self._truths:
            truth = z3.Bool(f"{literal.text} at {(after, *at)}")
            self.solver.add(truth == (self._moved(formula) if after else formula))
            self._truths[literal.text, after, at] = truth, z3.Not(truth)
        return self._truths[literal.text, after, at][0 if holds else 1]

    def _formula(self, literal, binding):
        """A literal as a formula over the state before, with what its names stand for."""
        names = [name for name in self.vocabulary.names if name in literal.names]
        at = tuple(i if isinstance(i, int) else i.get_id() for i in (binding[name] for name in names))
        if (literal.text, at) not in self._formulas:
            if literal.text not in self._functions:
                name = f"literal_{len(self._functions)}"
                text = f"def {name}({', '.join(['s', *names])}):\n    return {literal.text}\n"
                self._functions[literal.text] = function_from(name, text, self.vocabulary.namespace)
            arguments = (binding[name] for name in names)
            self._formulas[literal.text, at] = self.relation.predicate(self._functions[literal.text], *arguments)
        return at, self._formulas[literal.text, at]

    def _moved(self, formula):
        """A formula about the state before, as one about the state after."""
        variables = self.relation.variables
        return z3.substitute(formula, *((term, variables.later[path]) for path, term in variables.terms.items()))


def _broken(clause):
    return breaks("; ".join(clause.literals))


def _holds(clause):
    return z3.Bool(f"clause {'; '.join(clause.literals)}")
