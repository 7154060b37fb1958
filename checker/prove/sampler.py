"""Reachable states of small scopes, packed, by the explorer's kernel."""

from __future__ import annotations

from collections import Counter

import numpy as np

from kafkaproof.checker.compile.expansion import Expansion, require_in_range
from kafkaproof.checker.compile.kernel import Kernel
from kafkaproof.checker.model.execution import Execution
from kafkaproof.checker.runs.table import Table
from kafkaproof.spec.language.domains import Scope
from kafkaproof.spec.language.layout import leaves
from kafkaproof.spec.language.model import Model

FEW, LARGEST, MORE = 3, 4, 3


def sampling_scopes(model: Model, scope: Scope, endless: frozenset[str]) -> list[Scope]:
    """Two scopes: one to explore completely, as far as possible, and a larger one to sample. Bounds on a single number,
    such as faults, are larger than those on many.
    """
    found: list[Scope] = []
    for most, more in ((FEW, 1), (LARGEST, MORE)):
        few = {name: min(most, model.largest[name]) for name in endless}
        counted = Counter(leaf.bound for leaf in leaves(model.state, {**scope, **few}))
        found.append({**scope, **{name: size * (more if counted[name] == 1 else 1) for name, size in few.items()}})
    return found


class Sampler:
    """Packed reachable states of a model at a scope, made by the explorer's kernel."""

    def __init__(self, model: Model, scope: Scope, seed: int = 1):
        self.scope, self.kernel = scope, Kernel(model, scope, ())
        self._expansion, self._chance = Expansion(self.kernel.compiled), np.random.default_rng(seed)
        self._table = Table(self.kernel.packing.words)
        first = Execution(model, scope).initial_states()
        self.initial = np.array([self.kernel.packing.pack(state) for state in first], np.uint64)

    def states(self, first: np.ndarray, most: int, width: int | None = None) -> np.ndarray:
        """Up to `most` packed states, shape (n, words): the first ones, and unseen states reached from them level by
        level. Of a level with more than fit, or than `width`, a random choice.

        Raises UserError when a step puts a value out of its declared range.
        """
        self._table.insert(first)
        level, found = first, [first]
        while len(level) and (room := most - sum(map(len, found))) > 0:
            level = np.concatenate([out[self._table.insert(out)] for out, _, _ in self._expansion.run(level)])
            if len(level) > (fits := min(room, width or room)):
                level = level[self._chance.choice(len(level), fits, replace=False)]
            found.append(level)
        require_in_range(self.kernel, self._expansion)
        return np.concatenate(found)
