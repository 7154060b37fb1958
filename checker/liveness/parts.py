"""A graph too large for one process, in partitions stored in the run directory: states and the steps from them.

A state belongs to the partition that its hash gives, as in the exploration. The states of a partition are ordered by
hash. A step names its target by its hash; no two states of a run may share one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kafkaproof.checker.liveness.kernel import Look, Looking
from kafkaproof.checker.runs.directory import RunDirectory, RunError
from kafkaproof.checker.runs.table import hashes_of

FOLDER = "liveness"


@dataclass(frozen=True)
class Part:
    """One partition: its states with their labels, and their steps, as in `graph.Graph`; `to` has hashes."""

    states: np.ndarray
    hashes: np.ndarray
    level: np.ndarray
    marks: np.ndarray
    enabled: np.ndarray
    cut: np.ndarray
    first: np.ndarray
    to: np.ndarray
    number: np.ndarray
    taken: np.ndarray

    def places(self, hashes: np.ndarray) -> np.ndarray:
        """Where the states of these hashes are; raises RunError when one is not here."""
        places = np.searchsorted(self.hashes, hashes)
        if len(hashes) and (places.max() == len(self.hashes) or (self.hashes[places] != hashes).any()):
            raise RunError("a successor of a state is not in the run; delete the run and explore again")
        return places

    def steps_from(self, states: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The steps (indices) from these states (indices), and the state that each begins in."""
        degree = self.first[states + 1] - self.first[states]
        shift = self.first[states] - np.cumsum(degree) + degree
        return np.repeat(shift, degree) + np.arange(degree.sum()), np.repeat(states, degree)


def write_part(run: RunDirectory, look: Look, partition: int, partitions: int) -> None:
    """Label a partition's states, recompute their steps, and store both; raises RunError when two share a hash."""
    levels = [
        np.concatenate([*run.states(level, partition, partitions), np.zeros((0, look.words), np.uint64)])
        for level in run.levels()
    ]
    level = np.repeat(np.arange(len(levels), dtype=np.int32), [len(states) for states in levels])
    states = np.concatenate(levels)
    order = np.argsort(hashes_of(states))
    states, level = np.ascontiguousarray(states[order]), level[order]
    hashes = hashes_of(states)
    if (hashes[1:] == hashes[:-1]).any():
        raise RunError(f"{run.uri}: two states have one hash; liveness needs a scope that one process can hold")
    looking, degree = Looking(look, len(states)), np.zeros(len(states), np.int64)
    steps = [(np.zeros(0, np.uint64), np.zeros(0, np.int64), np.zeros(0, np.uint64))]
    for out, origins, numbers, taken in looking.run(states):
        degree += np.bincount(origins, minlength=len(states))
        steps.append((hashes_of(out), numbers.copy(), taken.copy()))
    to, number, taken = (np.concatenate(column) for column in zip(*steps))
    run.write_columns(
        f"{FOLDER}/states-{partition}",
        {
            **{f"w{i}": states[:, i] for i in range(look.words)},
            "level": level,
            "marks": looking.marks,
            "enabled": looking.enabled,
            "cut": looking.cut,
            "degree": degree,
        },
    )
    run.write_columns(f"{FOLDER}/steps-{partition}", {"to": to, "number": number, "taken": taken})


def read_part(run: RunDirectory, partition: int) -> Part:
    """Read what `write_part` stored; raises RunError."""
    states, steps = (run.read_columns(f"{FOLDER}/{what}-{partition}") for what in ("states", "steps"))
    words = np.stack([column for name, column in states.items() if name.startswith("w")], axis=1)
    return Part(
        states=words,
        hashes=hashes_of(words),
        level=states["level"],
        marks=states["marks"],
        enabled=states["enabled"],
        cut=states["cut"],
        first=np.append(0, np.cumsum(states["degree"])),
        to=steps["to"],
        number=steps["number"],
        taken=steps["taken"],
    )
