"""Projection: the reachable graph seen through a few fields, whose values are the states of a small machine.

Two states with the same values are one node, as in a quotient of the graph; a step that changes the values
adds one to the count of the edge between the two nodes. The exploration is compiled. It keeps the states of
two levels and the table of seen states only, so that millions of states take a minute.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from math import prod

import networkx
import numpy as np

from kafkaproof.checker.basics.errors import UserError
from kafkaproof.checker.compile.expansion import Expansion, require_in_range
from kafkaproof.checker.compile.kernel import Kernel
from kafkaproof.checker.model.execution import Execution
from kafkaproof.checker.model.fields import FieldSet
from kafkaproof.checker.runs.outcome import Outcome
from kafkaproof.checker.runs.table import Table
from kafkaproof.spec.language.domains import Scope
from kafkaproof.spec.language.model import Model


def projected(
    model: Model,
    scope: Scope,
    fields: FieldSet,
    most: int,
    progress: Callable[[Outcome, int], None] = lambda outcome, generated: None,
) -> networkx.DiGraph:
    """The projection of `model` at `scope` on `fields`.

    A node is a tuple of the fields' values; it has `initial` and `states`, in how many reachable states
    the fields have these values. An edge has `transitions`, a dict from a transition's name to the number
    of steps that change the fields in this way. With ``[*]`` in the fields, states and steps count once for each index
    that shows them. The graph has `distinct` and `cuts`. Raises UserError for more
    than `most` states or a value out of its range.
    """
    kernel = Kernel(model, scope, ())
    lenses = [_Lens(kernel, paths) for paths in fields.places]
    expansion, table = Expansion(kernel.compiled), Table(kernel.compiled.words)
    states, moves, outcome = Counter(), Counter(), Outcome()
    frontier = np.array([kernel.packing.pack(s) for s in Execution(model, scope).initial_states()], np.uint64)
    table.insert(frontier)
    initial = {lens.decoded(code) for lens in lenses for code in lens.codes(frontier)}
    while len(frontier):
        outcome.depth, outcome.frontier = outcome.depth + 1, len(frontier)
        outcome.distinct += len(frontier)
        for lens in lenses:
            states.update(lens.counts(frontier))
        frontier = _next_level(expansion, table, frontier, lenses, moves)
        _refuse(kernel, expansion, outcome, most)
        outcome.memory = table.bytes
        progress(outcome, 0)
    cuts = dict(zip(kernel.compiled.bounds, expansion.cuts.tolist()))
    graph = networkx.DiGraph(distinct=outcome.distinct, cuts=cuts)
    for values in sorted(states):
        graph.add_node(values, initial=values in initial, states=states[values])
    for (before, after, index), count in sorted(moves.items()):
        if not graph.has_edge(before, after):
            graph.add_edge(before, after, transitions={})
        graph.edges[before, after]["transitions"][kernel.model.transitions[index].name] = count
    return graph


def _next_level(expansion, table, frontier, lenses, moves):
    """Expand a level, count its moves, and return the states that are new."""
    befores, fresh = [lens.codes(frontier) for lens in lenses], [frontier[:0]]
    bases = np.array(lenses[0].bases)
    for out, origins, numbers in expansion.run(frontier):
        taken = np.searchsorted(bases, numbers, side="right") - 1
        for lens, before in zip(lenses, befores):
            moves.update(lens.moves(before[origins], lens.codes(out), taken))
        fresh.append(out[table.insert(out)])
    return np.concatenate(fresh)


def _refuse(kernel, expansion, outcome, most):
    require_in_range(kernel, expansion)
    if outcome.distinct > most:
        name = kernel.model.name
        raise UserError(
            f"{name} has more than {most:,} states at this scope; take a smaller scope or raise --max-states"
        )


class _Lens:
    """The fields at one choice of indices, as one number for each packed state."""

    def __init__(self, kernel, paths):
        leaves = {leaf.path: leaf for leaf in kernel.packing.leaves}
        places = {place.leaf.path: place for place in kernel.packing.places}
        self.bases = kernel.bases
        self._columns = [(leaves[path], places.get(path), leaves[path].high - leaves[path].low + 1) for path in paths]
        if prod(span for _, _, span in self._columns) >= 1 << 62:
            raise UserError("these fields together have more values than can be distinguished; ask for fewer")

    def codes(self, states):
        """One number for the fields' values in each packed state, shape (n,)."""
        codes = np.zeros(len(states), np.int64)
        for _, place, span in self._columns:
            codes *= span
            if place:
                codes += (states[:, place.word] >> np.uint64(place.shift) & np.uint64(place.mask)).astype(np.int64)
        return codes

    def decoded(self, code):
        """The fields' values that a number stands for."""
        values, rest = [], int(code)
        for leaf, _, span in reversed(self._columns):
            rest, offset = divmod(rest, span)
            values.append(leaf.low + offset)
        return tuple(reversed(values))

    def counts(self, states):
        """How many states have which values."""
        codes, counts = np.unique(self.codes(states), return_counts=True)
        return {self.decoded(code): int(count) for code, count in zip(codes, counts)}

    def moves(self, before, after, taken):
        """How often (values before, values after, index of the transition) occurs among steps that differ."""
        differ = before != after
        codes, inverse = np.unique(np.concatenate([before[differ], after[differ]]), return_inverse=True)
        froms, tos = inverse.reshape(2, -1)
        transitions = len(self.bases)
        keys, counts = np.unique((froms * len(codes) + tos) * transitions + taken[differ], return_counts=True)
        values, found = [self.decoded(code) for code in codes], {}
        for key, count in zip(keys.tolist(), counts.tolist()):
            ends, index = divmod(key, transitions)
            before, after = divmod(ends, len(codes))
            found[values[before], values[after], index] = count
        return found
