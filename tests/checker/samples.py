"""Reachable states of every model of the catalogue at a small scope, in breadth-first order."""

from collections import Counter
from itertools import islice

import z3

from kafkaproof.checker.model.execution import Execution
from kafkaproof.checker.prove.variables import EVERY, Variables
from kafkaproof.spec.language.plain import Plain, get

AMONG = 1000
FOUND: dict = {}
SCOPES = {"replication": {"brokers": 2, "log": 1, "records": 1, "epochs": 1}}


def small_scope(model):
    """The scope at which tests run every step of a model in every way."""
    return SCOPES.get(model.system) or model.scopes.get("quick", model.scope)


def reachable(execution: Execution):
    """The reachable states, nearest first."""
    queue = execution.initial_states()
    seen = {execution.key(state) for state in queue}
    for state in queue:
        yield state
        for _, _, after in execution.successors(state, Counter()):
            key = execution.key(after)
            if key not in seen:
                seen.add(key)
                queue.append(after)


def nearest(execution: Execution):
    """The first reachable states of a model, looked for once."""
    key = id(execution.model), tuple(execution.scope.items())
    if key not in FOUND:
        FOUND[key] = execution.model, list(islice(reachable(execution), AMONG))
    return FOUND[key][1]


def sample(execution: Execution, size: int, among: int = AMONG):
    """At most `size` of the nearest reachable states, evenly chosen. They are shared: whoever changes one copies it."""
    states = nearest(execution)[:among]
    return states[:: -(-len(states) // size)]


def state_terms(variables: Variables, state: Plain) -> dict[tuple, z3.ExprRef]:
    """A concrete state as constants for each leaf; what an array without end has beyond is as initially."""
    terms, (initial, *_) = {}, Execution(variables.model, variables.scope).initial_states()
    for place in variables.places:
        if place.spare:
            continue
        if not place.starred:
            terms[place.path] = variables.constant(place.domain, get(state, place.path))
            continue
        cut = place.path.index(EVERY)
        beyond = get(get(initial, place.path[:cut])[0], place.path[cut + 1 :])
        array = z3.K(z3.IntSort(), variables.constant(place.domain, beyond))
        elements = get(state, place.path[:cut])
        for i, element in enumerate(elements if place.path in variables.over_ids else elements[:-1]):
            array = z3.Store(array, i, variables.constant(place.domain, get(element, place.path[cut + 1 :])))
        terms[place.path] = array
    return terms
