"""Refinement as it reads: sets of abstract states, one after the other, in plain Python. For small scopes."""

from collections import Counter, defaultdict

from kafkaproof.checker.model.execution import Execution
from kafkaproof.checker.model.fields import fields_of
from kafkaproof.spec.language.plain import get


class Graph:
    """The reachable states of a model, and for each the numbers of those that follow it."""

    def __init__(self, model, scope):
        run = Execution(model, scope)
        self.states, self.after = run.initial_states(), []
        numbers = {run.key(state): i for i, state in enumerate(self.states)}
        for state in self.states:
            following = set()
            for _, _, after in run.successors(state, Counter()):
                if run.key(after) not in numbers:
                    numbers[run.key(after)] = len(self.states)
                    self.states.append(after)
                following.add(numbers[run.key(after)])
            self.after.append(following)

    def closed(self, among, start):
        """What can be reached from `start` without leaving `among`."""
        found, todo = set(start), list(start)
        while todo:
            fresh = (self.after[todo.pop()] & among) - found
            found |= fresh
            todo += fresh
        return frozenset(found)


def shown(model, scope, names):
    """The values of some fields, of any state."""
    paths = fields_of(model.state, scope, names).places[0] if names else ()
    return lambda state: tuple(get(state, path) for path in paths)


def refined(model, scope, refinement, without=()):
    """(states, pairs, length in states of a shortest behaviour that none follows, or None)."""
    run, at = Execution(model, scope), refinement.abstract_scope(scope)
    abstract, kept = Graph(refinement.model_at(scope, without), at), defaultdict(list)
    own = shown(model, scope, list(refinement.equal))
    other = shown(refinement.abstract, at, list(refinement.equal.values()))
    looks, matches = defaultdict(list), {}
    for i, state in enumerate(abstract.states):
        looks[other(state)].append(i)

    def matching(state):
        key = run.key(state)
        if key not in matches:
            passed = {i for i in looks[own(state)] if refinement.passes(state, abstract.states[i])}
            matches[key] = passed, {i for i in passed if refinement.agrees(state, abstract.states[i])}
        return matches[key]

    def is_new(state, held):
        sets = kept[run.key(state)]
        if any(one <= held for one in sets):
            return False
        sets.append(held)
        return True

    queue = []
    for state in run.initial_states():
        held = frozenset(matching(state)[1])
        if not held:
            return None, None, 1
        if is_new(state, held):
            queue.append((state, held, 1))
    for state, held, length in queue:
        near = abstract.closed(matching(state)[0], held)
        reach = near.union(*(abstract.after[i] for i in near))
        for _, _, after in run.successors(state, Counter()):
            passed, agreed = matching(after)
            found = abstract.closed(passed, reach & passed) & agreed
            if not found:
                return None, None, length + 1
            if is_new(after, found):
                queue.append((after, found, length + 1))
    return len(kept), len(queue), None
