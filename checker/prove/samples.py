"""Reachable states of a small scope, and what holds in them."""

from __future__ import annotations

import random
from collections import Counter
from itertools import product

import numpy as np

from checker.execution import Execution
from checker.prove.vocabulary import Literal, Vocabulary
from spec.language.domains import Scope, values
from spec.language.model import Model

LARGEST = 4
DIVE = 100
MOST_ROWS = 60_000
COMPARISONS = {"==": np.equal, "<": np.less, ">": np.greater}


def sampling_scope(model: Model, scope: Scope, endless: frozenset[str]) -> Scope:
    """At most three brokers, and endless bounds of a few."""
    few = {name: min(LARGEST, model.largest[name]) for name in endless}
    return {**scope, **few, **({"brokers": min(3, scope["brokers"])} if "brokers" in scope else {})}


def reachable_states(model: Model, scope: Scope, enough: int = 20_000, seed: int = 1) -> list:
    """Distinct reachable states of a model: from states with values seen least, a way of steps at random each."""
    execution, chance, seen = Execution(model, scope), random.Random(seed), Counter()
    found = {execution.key(state): state for state in execution.initial_states()}
    waiting = list(found)
    while waiting and len(found) < enough:
        some = [chance.randrange(len(waiting)) for _ in range(24)]
        rarest = min(some, key=lambda i: min(seen[at] for at in enumerate(waiting[i])))
        waiting[rarest], waiting[-1] = waiting[-1], waiting[rarest]
        for _ in range(DIVE):
            key, fresh = waiting.pop(), []
            seen.update(enumerate(key))
            for _, _, after in execution.successors(found[key], Counter()):
                new = execution.key(after)
                if new not in found:
                    found[new] = after
                    fresh.append(new)
            if not fresh:
                break
            chance.shuffle(fresh)
            waiting += fresh
    return list(found.values())


class Samples:
    """For each literal and its opposite, by text, whether it holds at each of some (state, ids and indices)."""

    def __init__(self, vocabulary: Vocabulary, states: list, scope: Scope):
        self.vocabulary, self.holds = vocabulary, {}
        self._rows, self._columns = list(_rows(vocabulary, states, scope)), {}
        for literal in vocabulary.literals:
            if (holds := self._holding(literal)) is not None:
                self.holds[literal.text], self.holds[literal.negated] = holds, ~holds

    def _holding(self, literal: Literal):
        """Where a literal holds; None when it is not a truth of every row."""
        try:
            if literal.sides:
                left, sign, right = literal.sides
                return COMPARISONS[sign](self._column(left), self._column(right))
            column = self._column(literal.text)
        except (TypeError, IndexError, AttributeError):
            return None
        return column if column.dtype == bool else None

    def _column(self, text):
        """The values of an expression, one for each row."""
        if text not in self._columns:
            names = ", ".join(["s", *self.vocabulary.names])
            function = eval(f"lambda {names}: {text}", dict(self.vocabulary.namespace))  # noqa: S307 - text made here
            self._columns[text] = np.array([function(*row) for row in self._rows])
        return self._columns[text]


def _rows(vocabulary, states, scope, seed=1):
    """States with all that the names may stand for; some of them, evenly, if there are too many."""
    choices = [values(domain, scope) for domain in vocabulary.names.values()]
    chosen = [c for c in product(*choices) if c[0] != c[1]]
    share = MOST_ROWS / max(1, len(states) * len(chosen))
    chance = random.Random(seed)
    return [(s, *c) for s in states for c in chosen if chance.random() < share]
