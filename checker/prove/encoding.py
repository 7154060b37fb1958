"""A step of a model, and the violation of each property, as clauses over the bits of two states and of the step."""

from __future__ import annotations

import z3

from kafkaproof.checker.model.execution import Execution
from kafkaproof.checker.prove.clauses import Bits, Clauses, truth_of
from kafkaproof.checker.prove.naming import Naming
from kafkaproof.checker.prove.parts import distinct, key
from kafkaproof.checker.prove.question import new_solver
from kafkaproof.checker.prove.relation import Relation
from kafkaproof.spec.language.domains import SetOf, values
from kafkaproof.spec.language.model import Property
from kafkaproof.spec.language.plain import Plain, get

AT_MOST = 200_000
"""The steps that z3 may take to show that a condition holds by declared ranges alone, as most do."""


class Encoding:
    """A relation over numbered truths: those of a state, then of the state after it, then of the step between them.

    A leaf has as many bits as its declared range needs. A state also has the ids named so far, if ids are named in
    order. A step has one truth for each action, and its symbolic arguments. If the very last truth holds, `broken`
    demands that the state or the step breaks a property, and `wrong` that a step or a property puts a value or an index
    out of its range. `wrong` is None if nothing can.
    """

    def __init__(self, relation: Relation, naming: Naming | None = None):
        self.relation, self._last = relation, 0
        self._naming = naming or Naming({}, {})
        variables, actions = relation.variables, relation.actions
        self._places = [place for place in variables.places if not place.spare]
        self.leaves = {place.path: self._of(place) for place in self._places}
        self._named = {name: self._new(1)[0] for name in self._naming.named}
        self.state = self._last
        self._new(self.state)
        self.taken = self._new(len(actions))
        symbols = {str(s): s for s, _ in variables.arguments.values()}
        self.arguments = {name: Bits(self._new(s.size()), True) for name, s in symbols.items()}
        self.step_size = self._last - 2 * self.state
        self._terms = [(variables.terms[path], self._before(path)) for path in self.leaves]
        self._terms += [(symbol, self.arguments[name].term(symbol.size())) for name, symbol in symbols.items()]
        self.initial = Clauses([z3.Or(*map(self._is, Execution(relation.model, relation.scope).initial_states()))])
        self.step = Clauses([*self._one_taken(), *self._left(), *self._within(), *self._named_in_order()])
        asked = truth_of(self._new(1)[0])
        self.broken = {p.name: Clauses([z3.Implies(asked, self._fails(p))]) for p in relation.properties}
        owed = self._may_fail(distinct(map(z3.simplify, self._owed())))
        wrong = z3.Or(*(z3.Not(z3.substitute(condition, *self._terms)) for condition in owed))
        self.wrong = Clauses([z3.Implies(asked, wrong)]) if owed else None

    def _new(self, count):
        self._last += count
        return range(self._last - count + 1, self._last + 1)

    def _of(self, place):
        if isinstance(place.domain, SetOf):
            return Bits(self._new(self._width(place.path)), False)
        allowed = values(place.domain, self.relation.scope)
        low, high = allowed[0], allowed[-1]
        return Bits(self._new(max(1, high.bit_length(), (-1 - low).bit_length()) + (low < 0)), low < 0)

    def _width(self, path):
        return self.relation.variables.terms[path].size()

    def literals(self, state: Plain) -> list[int]:
        """The literals that describe a state."""
        return [literal for path, bits in self.leaves.items() for literal in bits.literals(get(state, path))]

    def _is(self, state):
        """The formula that a behaviour begins in a state."""
        literals = [*self.literals(state), *(-named for named in self._named.values())]
        return z3.And(*(truth_of(i) if i > 0 else z3.Not(truth_of(-i)) for i in literals))

    def _one_taken(self):
        number = z3.BitVec("number", max(1, len(self.taken).bit_length()))
        yield z3.Or(*map(truth_of, self.taken))
        for i, taken in enumerate(self.taken):
            yield z3.Implies(truth_of(taken), number == i)

    def _before(self, path):
        return self.leaves[path].term(self._width(path))

    def _after(self, path):
        bits = self.leaves[path]
        later = range(bits.numbers.start + self.state, bits.numbers.stop + self.state)
        return Bits(later, bits.signed).term(self._width(path))

    def _left(self):
        """Formulas: the action taken is enabled, and leads to the state after it."""
        writers = {path: {} for path in self.leaves}
        for action, taken in zip(self.relation.actions, map(truth_of, self.taken)):
            yield z3.Implies(taken, z3.substitute(action.guard, *self._terms))
            for path, term in action.after.items():
                writers[path].setdefault(key(term), (z3.substitute(term, *self._terms), []))[1].append(taken)
        for path, written in writers.items():
            for left, taken in written.values():
                yield z3.Implies(z3.Or(*taken), self._after(path) == left)
            any_of = [truth for _, taken in written.values() for truth in taken]
            yield z3.Or(*any_of, self._after(path) == self._before(path))

    def _within(self):
        """Formulas: each number is in its declared range after the step."""
        for place in self._places:
            if not isinstance(place.domain, SetOf):
                low, high, _ = self.relation.variables.limits(place.domain)
                yield from (self._after(place.path) >= low, self._after(place.path) <= high)

    def _named_in_order(self):
        """Formulas: the step names no id before the one that it waits for; and which ids are then named."""
        for name, number in self._named.items():
            known, later = truth_of(number), truth_of(number + self.state)
            for i in self._naming.needed[name]:
                yield z3.Implies(truth_of(self.taken[i]), known)
            yield later == z3.Or(known, *(truth_of(self.taken[i]) for i in self._naming.named[name]))

    def _owed(self):
        """The conditions on a state under which no step or property puts an index or a value out of range."""
        relation, limits = self.relation, self.relation.variables.limits
        yield from (condition for condition, _ in relation.obligations)
        for action in relation.actions:
            yield from (condition for condition, _ in action.obligations)
            for place in self._places:
                if place.path in action.after and not isinstance(place.domain, SetOf):
                    (low, high, _), after = limits(place.domain), action.after[place.path]
                    yield z3.Implies(action.guard, z3.And(low <= after, after <= high))
            for prop in relation.properties:
                if prop.kind == "step" and prop.concerns(action.transition):
                    for condition, _ in relation.step_obligations(prop, action):
                        yield z3.Implies(action.guard, condition)

    def _may_fail(self, owed):
        """Those of the conditions that do not already follow from the declared ranges."""
        variables, solver, found = self.relation.variables, new_solver(), []
        solver.set("rlimit", AT_MOST)
        for place in self._places:
            if not isinstance(place.domain, SetOf):
                low, high, _ = variables.limits(place.domain)
                solver.add(low <= variables.terms[place.path], variables.terms[place.path] <= high)
        for condition in owed:
            solver.push()
            solver.add(z3.Not(condition))
            found += [condition] if not z3.is_true(condition) and solver.check() != z3.unsat else []
            solver.pop()
        return found

    def _fails(self, prop: Property):
        """The formula that a state, or the step from it, breaks a property."""
        if prop.kind == "always":
            return z3.Not(z3.substitute(self.relation.always[prop.name], *self._terms))
        return z3.Or(
            *(
                z3.And(truth_of(taken), z3.Not(z3.substitute(self.relation.step_predicate(prop, action), *self._terms)))
                for taken, action in zip(self.taken, self.relation.actions)
                if prop.concerns(action.transition)
            )
        )
