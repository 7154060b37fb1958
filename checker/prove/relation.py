"""The transition relation of a model: for each action one guard, and one term for each leaf that it changes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product
from typing import NamedTuple

import z3

from kafkaproof.checker.prove.formulas import StyleError, elements_read
from kafkaproof.checker.prove.interpreter import Interpreter
from kafkaproof.checker.prove.parts import applications, choices, has_quantifier, has_variable, key, parts
from kafkaproof.checker.prove.terms import Term, conjunction, truth
from kafkaproof.checker.prove.variables import EVERY, EndNeeded, Variables, bounds_of, sorts_of
from kafkaproof.checker.prove.written import leaf_after, of_its_sort, within_bound
from kafkaproof.spec.language.accepted import require_accepted
from kafkaproof.spec.language.domains import Bound, Id, Number, Scope, values
from kafkaproof.spec.language.model import Model, Property, Transition


@dataclass(frozen=True)
class Action:
    """A transition with arguments, each a known id or a symbol; it can be taken where `guard` holds.

    `after` has the leaves that it may change. The guard holds only for steps within the bounds; `enabled` also for
    those that a bound cuts. `obligations` (condition, where) must hold in every state before the step.
    """

    transition: Transition
    arguments: tuple[Term, ...]
    guard: z3.BoolRef
    after: dict[tuple, z3.ExprRef]
    obligations: tuple[tuple[z3.BoolRef, str], ...]
    enabled: z3.BoolRef

    @property
    def name(self) -> str:
        """As a step: ``replication.become_leader(leader=0, request=request)``."""
        pairs = zip(self.transition.arguments, self.arguments)
        return f"{self.transition.name}({', '.join(f'{n}={v}' for n, v in pairs)})"

    @property
    def symbols(self) -> list[z3.ExprRef]:
        """The arguments that are not known."""
        return [a for a in self.arguments if not isinstance(a, int)]


class Initial(NamedTuple):
    """Initial states: a `condition` on symbols, a term for each leaf, and the `obligations` on the way."""

    condition: z3.BoolRef
    store: dict[tuple, z3.ExprRef]
    obligations: tuple[tuple[z3.BoolRef, str], ...]


class Relation:
    """All actions of a model, and its properties, over one set of variables.

    `endless` names the bounds that are to be unbounded; those that a function loops over keep their ends. `always_cut`
    are actions that may be enabled, but always lead beyond a bound. `initial` are the initial states, `always` the
    formulas of state properties. `obligations` are those of state properties, and of actions that are never taken.
    """

    def __init__(
        self,
        model: Model,
        scope: Scope,
        endless: frozenset[str] | None = None,
        bits: int | None = None,
        properties: tuple[Property, ...] | None = None,
    ):
        self.model, self.scope = model, scope
        self.properties = model.properties if properties is None else properties
        require_accepted(replace(model, properties=self.properties), scope)
        wanted = bounds_of(model) if endless is None else endless
        while True:
            try:
                self.variables = Variables(model, scope, wanted, bits)
                self._build()
                return
            except EndNeeded as needed:
                if needed.bound in sorts_of(model):
                    raise StyleError(
                        f"{model.system}: a proof for any number of {needed.bound} needs that no step"
                        " counts them, and no array has another of that size inside;"
                        f" give --{needed.bound} instead: {needed.place}".removesuffix(": ")
                    ) from needed
                wanted -= {needed.bound}

    def _build(self):
        before = self.variables.store()
        self._reads, self._indices, self._kinds, self._steps = {}, {}, {}, {}
        for place in self.variables.places:
            if place.path in self.variables.terms and not place.starred:
                self._note_kind(self.variables.terms[place.path], isinstance(place.domain, Id))
        found = [
            action
            for t in self.model.transitions
            for a in self._arguments(t)
            if (action := self._action(t, a, before)) is not None
        ]
        self.actions = [action for action in found if not z3.is_false(action.guard)]
        others = [action for action in found if z3.is_false(action.guard)]
        self.always_cut = [action for action in others if not z3.is_false(action.enabled)]
        self.obligations = [owed for action in others for owed in action.obligations]
        self.initial = self._initial()
        self.always = {p.name: self._always(p) for p in self.properties if p.kind == "always"}
        for prop in (prop for prop in self.properties if prop.kind == "step"):
            asked = [action.arguments for action in self.actions if prop.concerns(action.transition)]
            for arguments in asked if prop.of else [()]:
                self.step_formula(prop, arguments)

    def _always(self, prop):
        formula, owed = self._judged(prop.predicate, {"s": self.variables.store()}, ("s",), ())
        self.obligations += owed
        return formula

    def _arguments(self, transition):
        choices = [self._values(transition, name, domain) for name, domain in transition.arguments.items()]
        return product(*choices)

    def _values(self, transition, name, domain):
        is_number = name not in transition.only and isinstance(domain, Number)
        is_any_id = isinstance(domain, Id) and domain.sort in self.variables.endless
        if not is_any_id and not (is_number and isinstance(domain.high, Bound)):
            return values(domain, self.scope)
        symbol = self.variables.numbers.variable(f"{transition.function.__name__}.{name}")
        self.variables.arguments[key(symbol)] = symbol, domain
        if is_any_id:
            self._note_kind(symbol, True)
        return [symbol]

    def _argument_ranges(self, transition, arguments):
        for domain, value in zip(transition.arguments.values(), arguments):
            if not isinstance(value, int):
                low, high, _ = self.variables.limits(domain)
                yield value >= low
                if high is not None:
                    yield value <= high

    def _action(self, transition, arguments, before):
        run = Interpreter(self.variables, {"s": dict(before)})
        returns = run.returns(transition.function, (run.root("s"), *arguments))
        ranges = list(self._argument_ranges(transition, arguments))
        taken = [(path, stores) for path, value, stores in returns if (value is not False)]
        if not taken and not run.obligations:
            return None
        if not taken:
            return Action(transition, arguments, z3.BoolVal(False), {}, self._owed(ranges, run), z3.BoolVal(False))
        enabled = z3.And(conjunction([*ranges, truth(_joined_guard(returns))]))
        store = run.joined_stores([(path, True, stores) for path, stores in taken])["s"]
        store = {path: term for path, term in store.items() if term is not before[path]}
        after = {path: leaf_after(self.variables, path, term) for path, term in store.items()}
        spare = {p.path for p in self.variables.places if p.spare}
        fits = {path: of_its_sort(self.variables, path, term) for path, term in store.items()}
        cuts = [within for path, term in after.items() for within in within_bound(self.variables, path, term)]
        cuts += [fits[path] for path in spare & store.keys()]
        guard, enabled = elements_read(z3.And(enabled, *cuts)), elements_read(enabled)
        if z3.is_false(enabled) and not run.obligations:
            return None
        after = {path: term for path, term in after.items() if path not in spare}
        if self.variables.any_size and has_quantifier(guard, *after.values()):
            raise StyleError(f"{transition.name}: its guard or what it writes depends on all brokers at once")
        owed = [
            (self._where(guard, condition), where)
            for condition, where in self._fitting({path: fits[path] for path in after})
        ]
        return Action(transition, arguments, guard, after, (*self._owed(ranges, run), *owed), enabled)

    def _where(self, guard, condition):
        """The formula that a condition holds where a guard does, with all unbounded numbers below an end."""
        return z3.Implies(z3.And(guard, *self.variables.ends_of([guard, condition])), condition)

    def _owed(self, ranges, run):
        return tuple((z3.Implies(z3.And(*ranges), condition), where) for condition, where in run.obligations)

    def _fitting(self, fits):
        """The obligations that leaves are of their sort, from conditions by path."""
        expressions = {place.path: place.expression for place in self.variables.places}
        return [
            (condition, f"{expressions[path]} holds ids of its sort")
            for path, condition in fits.items()
            if condition is not True
        ]

    def predicate(self, function, *arguments) -> z3.BoolRef:
        """The formula of a predicate of states; raises StyleError."""
        try:
            return self._judged(function, {"s": self.variables.store()}, ("s",), arguments)[0]
        except EndNeeded as needed:
            raise StyleError(
                f"{function.__name__}: it needs an end of {needed.bound}, which has none here: {needed.place}"
            ) from needed

    def step_predicate(self, prop: Property, action: Action) -> z3.BoolRef:
        """The formula of a step property for an action, in terms of the state before."""
        return self._taken(self.step_formula(prop, action.arguments), action)

    def step_obligations(self, prop: Property, action: Action) -> list[tuple[z3.BoolRef, str]]:
        """The obligations of a step property for an action, in terms of the state before."""
        return [(self._taken(condition, action), where) for condition, where in self._step(prop, action.arguments)[1]]

    def _taken(self, formula, action):
        """A formula about two states, in terms of the state before an action that leads from one to the other."""
        variables = self.variables
        after = ((variables.later[p], action.after.get(p, variables.terms[p])) for p in self.reads(formula))
        return elements_read(z3.substitute(formula, *after))

    def step_formula(self, prop: Property, arguments: tuple) -> z3.BoolRef:
        """The formula of a step property, in terms of two states and the arguments of a step from one to the other."""
        return self._step(prop, arguments)[0]

    def _step(self, prop, arguments):
        arguments = arguments if prop.of else ()
        key = prop.name, *map(str, arguments)
        if key not in self._steps:
            stores = {"before": self.variables.store(), "after": self.variables.filled(self.variables.later)}
            self._steps[key] = self._judged(prop.predicate, stores, ("before", "after"), arguments)
        return self._steps[key]

    def _judged(self, function, stores, roots, arguments):
        run = Interpreter(self.variables, stores, quantifies=True)
        found = truth(run.call(function, (*map(run.root, roots), *arguments)))
        owed = [
            (z3.BoolVal(condition) if isinstance(condition, bool) else condition, where)
            for condition, where in run.obligations
        ]
        return elements_read(z3.BoolVal(found) if isinstance(found, bool) else found), owed

    def _initial(self):
        """The initial states, for each choice of arguments."""
        found, transition = [], Transition(self.model.initial)
        for arguments in self._arguments(transition):
            run = Interpreter(self.variables, {"s": self.variables.zeros()})
            run.call(self.model.initial, (run.root("s"), *arguments))
            store = {path: leaf_after(self.variables, path, term) for path, term in run.stores["s"].items()}
            ranges = z3.And(*self._argument_ranges(transition, arguments))
            fits = {path: of_its_sort(self.variables, path, term) for path, term in run.stores["s"].items()}
            owed = [*run.obligations, *self._fitting(fits)]
            owed = [(self._where(ranges, condition), where) for condition, where in owed]
            found.append(Initial(ranges, store, tuple(owed)))
        return found

    def reads(self, formula: z3.ExprRef) -> frozenset[tuple]:
        """The paths of the leaves that a formula reads."""
        found = self._reads.get(key(formula))
        if found is None:
            names = self.variables.paths
            found = formula, frozenset(names[part] for part in parts(formula) if part in names)
            self._reads[key(formula)] = found
        return found[1]

    def indices(self, formula: z3.ExprRef) -> list[z3.ExprRef]:
        """The terms at which a formula reads or writes unbounded arrays; for a choice, all its alternatives."""
        found = self._indices.get(key(formula))
        if found is None:
            found = formula, self._indices_in(formula) if any(EVERY in path for path in self.reads(formula)) else []
            self._indices[key(formula)] = found
        return found[1]

    def _indices_in(self, formula):
        found = {}
        for term in applications((z3.Z3_OP_SELECT, z3.Z3_OP_STORE), formula):
            for index in choices(term.arg(1)):
                if not has_variable(index):
                    found[key(index)] = index
                    self._note_kind(index, self._is_over_ids(term.arg(0)))
        return list(found.values())

    def _note_kind(self, index, is_id):
        self._kinds.setdefault(key(index), (index, set()))[1].add(is_id)

    def _is_over_ids(self, array):
        """Whether the indices of an array are ids of an unbounded sort, not numbers."""
        if array.sort().range() == z3.BoolSort():
            return True
        while not z3.is_quantifier(array) and array.num_args():
            array = array.arg(1 if z3.is_app_of(array, z3.Z3_OP_ITE) else 0)
        return z3.is_quantifier(array) or self.variables.paths.get(key(array)) in self.variables.over_ids

    def are_alike(self, index: z3.ExprRef, term: z3.ExprRef) -> bool:
        """Whether two terms may index the same arrays, as far as is known: ids and numbers do not mix."""
        both = [self._kinds[key(t)][1] for t in (index, term) if key(t) in self._kinds]
        return len(both) < 2 or bool(both[0] & both[1])

    def is_id(self, index: z3.ExprRef) -> bool:
        """Whether a term indexes arrays with an element for each id, as far as is known."""
        return key(index) in self._kinds and True in self._kinds[key(index)][1]

    def moved(self, formula: z3.ExprRef, after: dict[tuple, z3.ExprRef]) -> z3.ExprRef:
        """A formula about the state, with other terms for these leaves."""
        terms = self.variables.terms
        return elements_read(z3.substitute(formula, *((terms[p], after[p]) for p in self.reads(formula) if p in after)))


def _joined_guard(returns):
    """The condition under which a transition returns True."""
    conditions = [conjunction([*path, truth(value)]) for path, value, _ in returns]
    known = [c for c in conditions if not isinstance(c, bool)]
    if any(c is True for c in conditions):
        return True
    return z3.Or(*known) if known else False
