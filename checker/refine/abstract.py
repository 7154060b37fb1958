"""The reachable graph of an abstract model, in groups of states that look the same.

A set of states of one group is an integer: bit i stands for the i-th state of the group.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

import numpy as np

from kafkaproof.checker.compile.expansion import Expansion, require_in_range
from kafkaproof.checker.compile.kernel import Kernel
from kafkaproof.checker.model.execution import Execution
from kafkaproof.checker.refine.numbered import Numbered, field_values
from kafkaproof.spec.language.domains import Scope
from kafkaproof.spec.language.model import Model


class Abstract:
    """All states of `model` at `scope`, sorted by the values of `fields`; a group is named by its first state's number.

    `rows` holds the packed states, `groups` maps the fields' values to the (first, last + 1) of a group, and `lost`
    the properties that are violated to the lengths of their shortest counterexamples, in states.
    """

    def __init__(self, model: Model, scope: Scope, fields: list[str]):
        self.kernel = Kernel(model, scope, model.properties_at(scope))
        self.lost: dict[str, int] = {}
        states, edges = self._explored()
        shown = [tuple(values) for values in field_values(self.kernel, fields, states.rows).tolist()]
        order = sorted(range(len(shown)), key=shown.__getitem__)
        self.rows = states.rows[order]
        self.groups: dict[tuple, tuple[int, int]] = {}
        group_of = []
        for i, values in enumerate(shown[j] for j in order):
            first, _ = self.groups.get(values, (i, i))
            self.groups[values] = first, i + 1
            group_of.append(first)
        place = np.argsort(order)
        self._after: list[dict[int, int]] = [defaultdict(int) for _ in order]
        for before, after in edges:
            i, j = int(place[before]), int(place[after])
            self._after[i][group_of[j]] |= 1 << j - group_of[j]

    def __len__(self) -> int:
        return len(self.rows)

    def _explored(self):
        """Every state, numbered, and every pair of the numbers of a state and a successor."""
        kernel, expansion = self.kernel, Expansion(self.kernel.compiled)
        states, edges, done, depth = Numbered(kernel.compiled.words), set(), 0, 0
        initial = Execution(kernel.model, kernel.scope).initial_states()
        states.numbers(np.array([kernel.packing.pack(state) for state in initial]))
        while done < len(states):
            level, first, done, depth = states.rows[done:].copy(), done, len(states), depth + 1
            for successors, origins, _ in expansion.run(level):
                edges.update(zip((first + origins).tolist(), states.numbers(successors).tolist()))
            require_in_range(kernel, expansion)
            self._judge(expansion, depth)
        return states, edges

    def _judge(self, expansion, depth):
        for prop, where in zip(self.kernel.state_properties, expansion.judged):
            if where >= 0 and prop.kind == "always":
                self.lost.setdefault(prop.name, depth)
        for prop, (where, _) in zip(self.kernel.step_properties, expansion.broken):
            if where >= 0:
                self.lost.setdefault(prop.name, depth + 1)

    def closed(self, group: int, among: int, start: int) -> int:
        """The states that can be reached from the set `start` within the set `among` of the same group."""
        found = left = start
        while left:
            state = left & -left
            fresh = self._after[group + state.bit_length() - 1][group] & among & ~found
            found |= fresh
            left = left ^ state | fresh
        return found

    def onward(self, group: int, near: int) -> dict[int, int]:
        """The set `near` and its successors in one step, as a set for each group."""
        found = defaultdict(int, {group: near})
        for i in members(near):
            for other, after in self._after[group + i].items():
                found[other] |= after
        return found


def members(states: int) -> Iterator[int]:
    """The indices in a set."""
    while states:
        lowest = states & -states
        yield lowest.bit_length() - 1
        states ^= lowest
