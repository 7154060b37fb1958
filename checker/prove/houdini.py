"""Houdini over many clauses at once: the largest part of them that every action keeps, from where more facts hold.

It is asked in a scope, so that a question is one for a SAT solver, and a model of it is a state of plain Python. What
the clauses that are kept say of that state, they say of every state that steps lead to from it: these are executed, and
drop most of the clauses that an action does not keep. A literal at some ids and indices is one truth of z3 before the
step and one after it, and a clause is over these truths; so thousands of clauses cost little.
"""

from __future__ import annotations

from functools import cache
from itertools import product
from typing import Iterable

import numpy as np
import z3

from checker.execution import Execution
from checker.prove.bmc import SPARE_BITS, one_step
from checker.prove.candidates import Clause
from checker.prove.facts import lemma_family, ranges_of, sequences_of
from checker.prove.question import breaks
from checker.prove.relation import Relation
from checker.prove.samples import Samples, following_states
from checker.prove.vocabulary import Vocabulary, compiled
from checker.prove.work import Work
from spec.language.domains import Scope, SetOf, values
from spec.language.model import Model, Property


class OutOfWork(Exception):
    """z3 may do no more."""


class Houdini:
    """Clauses about a model in a scope, of which those `alive` may still be kept by all actions.

    Before each step declared ranges, some lemmas and the properties of states hold. The ids of one sort are alike, so
    of a step's first argument one id is asked; the proof that follows asks all.
    """

    def __init__(self, model: Model, scope: Scope, properties: tuple[Property, ...], lemmas: list,
                 vocabulary: Vocabulary):
        widest = max([*scope.values(), 32])
        self.relation = Relation(model, scope, frozenset(), widest.bit_length() + SPARE_BITS, properties)
        self.vocabulary, self.solver, self.work = vocabulary, z3.SolverFor("QF_FD"), Work(0)
        self.alive: dict[Clause, z3.BoolRef] = {}
        self.wanted: dict[str, z3.BoolRef] = {}
        self._known: set[Clause] = set()
        self._truths: dict[tuple, tuple[z3.BoolRef, z3.BoolRef]] = {}
        self._functions: dict[str, object] = {}
        self._execution, self._count = Execution(model, scope), 0
        self._taken = z3.BitVec("action taken", max(1, len(self.relation.actions).bit_length()))
        self._predicates = [(p.predicate, ()) for p in properties if p.kind == "always"]
        self._predicates += [(f, arguments) for f in lemmas for arguments in _arguments(f, scope)]
        self.solver.add(*one_step(self.relation, self.relation.variables.later, self._taken))
        known = ranges_of(self.relation) + sequences_of(self.relation)
        known += [lemma_family(self.relation, f) for f in lemmas]
        self.solver.add(*(family.plain for family in known), *self.relation.always.values())
        self.solver.add(*(self._taken != i for i, a in enumerate(self.relation.actions) if not self._is_asked(a)))
        self._want(properties)

    def _is_asked(self, action):
        first = next(iter(action.transition.declared.values()), None)
        return getattr(first, "sort", None) not in self.relation.model.interchangeable or action.arguments[0] == 0

    def _want(self, properties):
        """For each property, by name, the truth that a step breaks it."""
        for prop in properties:
            if prop.kind == "always":
                broken = z3.Not(self._moved(self.relation.always[prop.name]))
            else:
                asked = [(i, a) for i, a in enumerate(self.relation.actions) if prop.concerns(a.transition)]
                holds = {i: self.relation.step_predicate(prop, action) for i, action in asked}
                broken = z3.Or(*(z3.And(self._taken == i, z3.Not(formula)) for i, formula in holds.items()))
            self.wanted[prop.name] = breaks(prop.name)
            self.solver.add(breaks(prop.name) == broken)

    def add(self, clauses: Iterable[Clause]) -> None:
        """More clauses, or dropped ones again, all alive."""
        for clause in clauses:
            self.alive[clause] = _holds(clause)
            if clause in self._known:
                continue
            self._known.add(clause)
            bindings = list(self._choices(clause.names(self.vocabulary)))
            before = [z3.Or(*(z3.Not(self._truth(text, b, False)) for text in clause.literals)) for b in bindings]
            after = [z3.And(*(self._truth(text, b, True) for text in clause.literals)) for b in bindings]
            self.solver.add(z3.Implies(_holds(clause), z3.And(*before)), _broken(clause) == z3.Or(*after))

    def settle(self) -> None:
        """Drop clauses until every action keeps those alive; raises OutOfWork."""
        while self.alive and (model := self._ask(list(map(_broken, self.alive)), self.alive)) is not None:
            self.drop_from(model)

    def drop_from(self, model: z3.ModelRef) -> None:
        """Drop the clauses that do not hold in the states which steps lead to from a state where those alive hold."""
        states = following_states(self._execution, self._state(model), self._is_known)
        holds = Samples(self.vocabulary, states, self.relation.scope).holds
        for clause in list(self.alive):
            if np.logical_and.reduce([holds[text] for text in clause.literals]).any():
                del self.alive[clause]

    def _state(self, model):
        """The state before the step of a model of z3."""
        variables = self.relation.variables
        found = []
        for place in variables.places:
            value = 0 if place.spare else model.eval(variables.terms[place.path], model_completion=True)
            is_set = place.spare or isinstance(place.domain, SetOf)
            found.append(value if place.spare else value.as_long() if is_set else value.as_signed_long())
        return self._execution.from_values(found)

    def _is_known(self, state):
        return all(predicate(state, *arguments) for predicate, arguments in self._predicates)

    def keep_only(self, clauses: Iterable[Clause]) -> None:
        """Let these clauses alone be alive."""
        self.alive = {clause: self.alive[clause] for clause in clauses}

    def dropped(self, true: list[str]) -> list[Clause]:
        """The clauses not alive that a state with these literals breaks, the shortest first."""
        here, swapped = set(true), set(map(self.vocabulary.swapped, true))
        found = (c for c in self._known if c not in self.alive)
        broken = [c for c in found if here.issuperset(c.literals) or swapped.issuperset(c.literals)]
        return sorted(broken, key=lambda c: (len(c.literals), c.literals))

    def failing(self, broken: z3.BoolRef, *clauses: Clause) -> z3.ModelRef | None:
        """A step from where all clauses alive hold, and those given, that breaks what is wanted; raises OutOfWork."""
        return self._ask([broken], [*self.alive, *clauses])

    def core(self, broken: list[z3.BoolRef], given: Iterable[Clause]) -> set[Clause]:
        """Few of the clauses alive from which, with those given, no step breaks what is wanted; raises OutOfWork."""
        found = set(given)
        for goal in broken:
            if self._ask([goal], found) is not None:
                by_name = {str(_holds(clause)): clause for clause in self.alive}
                rest = self._core(goal, [clause for clause in self.alive if clause not in found], found)
                found |= {by_name[name] for name in rest}
        return found.difference(given)

    def _core(self, goal, clauses, given):
        """The names of few of the clauses from which, with those given, no step breaks a goal."""
        self._ask([goal], [*clauses, *given])
        few = self._names_in_core(clauses)
        for name in sorted(few):
            rest = [clause for clause in clauses if str(_holds(clause)) in few - {name}]
            if name in few and self._ask([goal], [*rest, *given]) is None:
                few = self._names_in_core(rest)
        return few

    def _names_in_core(self, clauses):
        return {str(name) for name in self.solver.unsat_core()} & {str(_holds(clause)) for clause in clauses}

    def goal(self, clause: Clause) -> z3.BoolRef:
        """The truth that a step breaks a clause."""
        return _broken(clause)

    def true_literals(self, model: z3.ModelRef, literals: Iterable[str]) -> list[str]:
        """Those of the literals that hold before the step, where `a` is the id that takes it, if one does."""
        at = self._at(model)
        return [t for t in literals if z3.is_true(model.eval(self._truth(t, at, False), model_completion=True))]

    def _at(self, model):
        arguments, choices = self._action(model).arguments, list(self._choices(list(self.vocabulary.names)))
        return next((c for c in choices if arguments and c.get("a") is arguments[0]), choices[0])

    def _action(self, model):
        return self.relation.actions[model.eval(self._taken, model_completion=True).as_long()]

    def causes(self, model: z3.ModelRef, broken: z3.BoolRef, true: list[str]) -> set[str]:
        """Of the literals that hold before a failing step, those for which it is taken or fails; raises OutOfWork."""
        action, at = self._action(model), self._at(model)
        fixed = [s == model.eval(s, model_completion=True) for s in (self._taken, *action.symbols)]
        truths = {text: self._truth(text, at, False) for text in true}
        names, guard = {str(truth): text for text, truth in truths.items()}, self.relation.reads(action.guard)
        self._check([*fixed, z3.Not(broken), *truths.values()])
        core = {str(name) for name in self.solver.unsat_core()} & names.keys()
        for name in sorted(core):
            rest = [truths[names[other]] for other in core - {name}]
            if name in core and self._check([*fixed, z3.Not(broken), *rest]) == z3.unsat:
                core = {str(found) for found in self.solver.unsat_core()} & names.keys()
        return {names[name] for name in core} | {
            text for text in true if self.vocabulary.texts[text][1] and self._leaves(text, at) <= guard}

    def _leaves(self, text, at):
        return self.relation.reads(self._formula(self.vocabulary.texts[text][0], at))

    def _ask(self, broken, clauses):
        """A step from where clauses hold, that breaks one of what is wanted."""
        self._count += 1
        either = z3.Bool(f"one of them {self._count}")
        self.solver.add(z3.Implies(either, z3.Or(*broken)))
        return self.solver.model() if self._check([either, *map(_holds, clauses)]) == z3.sat else None

    def _check(self, assumptions):
        self.work.limit(self.solver)
        if self.work.left() <= 0 or (answer := self.solver.check(*assumptions)) == z3.unknown:
            raise OutOfWork
        return answer

    def _choices(self, names):
        """What names may stand for; a and b differ."""
        for chosen in product(*(values(self.vocabulary.names[name], self.relation.scope) for name in names)):
            found = dict(zip(names, chosen))
            if "a" not in found or "b" not in found or found["a"] != found["b"]:
                yield found

    def _truth(self, text, binding, after):
        """The truth of a literal where its names stand for these ids and indices."""
        literal, holds = self.vocabulary.texts[text]
        at = tuple(binding[name] for name in self.vocabulary.names if name in literal.names)
        if (literal.text, after, at) not in self._truths:
            formula = self._formula(literal, binding)
            truth = z3.Bool(f"{literal.text} at {(after, *at)}")
            self.solver.add(truth == (self._moved(formula) if after else formula))
            self._truths[literal.text, after, at] = truth, z3.Not(truth)
        return self._truths[literal.text, after, at][0 if holds else 1]

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


def _arguments(lemma, scope):
    return product(*(values(d, scope) for name, d in lemma.__annotations__.items() if name != "return"))


def _broken(clause):
    return breaks("; ".join(clause.literals))


@cache
def _holds(clause):
    return z3.Bool(f"clause {'; '.join(clause.literals)}")
