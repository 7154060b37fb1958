"""The finished graph of a run in memory: every state with its labels, every step with its actions.

The run directory holds the states, level by level, and one step to each; all other steps are recomputed.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kafkaproof.checker.compile.native import native
from kafkaproof.checker.liveness.kernel import Look, Looking
from kafkaproof.checker.runs.directory import RunDirectory, RunError
from kafkaproof.checker.runs.table import hash_at


@dataclass
class Graph:
    """States 0 ... n - 1 by levels, and the steps that change the state.

    `level`, `marks`, `enabled`, `cut` have one value for each state. The steps of state i are `first[i]` to
    `first[i + 1]` in `target` (-1: a state not in this graph), `number` (of the step) and `taken` (its actions).
    """

    states: np.ndarray
    level: np.ndarray
    marks: np.ndarray
    enabled: np.ndarray
    cut: np.ndarray
    first: np.ndarray
    target: np.ndarray
    number: np.ndarray
    taken: np.ndarray


def graph_of(run: RunDirectory, look: Look) -> Graph:
    """The graph of a run that was explored to the end; raises RunError when a successor is missing."""
    levels = [np.concatenate([*run.states(level), np.zeros((0, look.words), np.uint64)]) for level in run.levels()]
    states = np.ascontiguousarray(np.concatenate(levels))
    level = np.repeat(np.arange(len(levels), dtype=np.int32), [len(states) for states in levels])
    index, looking = Index(states), Looking(look, len(states))
    degree = np.zeros(len(states) + 1, np.int64)
    parts = [(np.zeros(0, np.int32), np.zeros(0, np.int32), np.zeros(0, np.uint64))]
    for out, origins, numbers, taken in looking.run(states):
        target = index.find(out)
        if (target < 0).any():
            raise RunError(f"{run.uri} lacks a successor of one of its states; delete the run and explore again")
        degree[1:] += np.bincount(origins, minlength=len(states))
        parts.append((target, numbers.astype(np.int32), taken.copy()))
    steps = [np.concatenate(column) for column in zip(*parts)]
    return Graph(states, level, looking.marks, looking.enabled, looking.cut, np.cumsum(degree), *steps)


class Index:
    """From packed states, shape (n, words), to their numbers: an open-addressing hash table."""

    def __init__(self, states: np.ndarray):
        self._states = states
        self._slots = np.full(1 << max(4, (2 * len(states)).bit_length()), -1, np.int32)
        _enter(self._slots, states)

    def find(self, rows: np.ndarray) -> np.ndarray:
        """The number of each packed state, -1 if it is absent; shape (n,), int32."""
        found = np.empty(len(rows), np.int32)
        _find(self._slots, self._states, rows, found)
        return found


@native
def _place(slots, states, rows, i):
    """The slot where rows[i] is, or where it would be."""
    words = states.shape[1]
    mask = np.uint64(len(slots) - 1)
    at = hash_at(rows, i, words) & mask
    while slots[at] >= 0:
        same = True
        for w in range(words):
            same &= states[slots[at], w] == rows[i, w]
        if same:
            break
        at = (at + np.uint64(1)) & mask
    return at


@native
def _enter(slots, states):
    for i in range(len(states)):
        slots[_place(slots, states, states, i)] = i


@native
def _find(slots, states, rows, found):
    for i in range(len(rows)):
        found[i] = slots[_place(slots, states, rows, i)]
