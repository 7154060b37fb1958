"""Where a run's states, time and memory went: by transition, by field of the state, and by phase."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from math import ceil

import numpy as np

from kafkaproof.checker.basics.spent import PHASES
from kafkaproof.checker.compile.kernel import Kernel
from kafkaproof.checker.compile.packing import MARK, Place
from kafkaproof.checker.runs.directory import RunDirectory
from kafkaproof.checker.runs.table import hashes_of

SAMPLE = 200_000
"""Of more states than that, a part is looked at for `Field.without`."""


@dataclass(frozen=True)
class Field:
    """A field of the state, in all elements of the arrays that it is in (``brokers[*].epoch``).

    `values`: how many different values it has; of a part of the state that has fields of its own, how many different
    combinations of theirs. `without`: how many times fewer states there would be without it.
    """

    name: str
    values: int
    without: float


def profile_of(run: RunDirectory, kernel: Kernel, result: dict) -> dict:
    """The profile of a run whose levels are complete up to its `result`, as ``check --profile --json`` has it.

    Reads every state once; raises RunError where a level is damaged.
    """
    levels = run.levels()
    new, seconds = Counter[str](), dict.fromkeys(PHASES, 0.0)
    fields = {name: _Counted(places, kernel.packing.words) for name, places in fields_of(kernel).items()}
    keep = max(1, ceil(result["distinct"] / SAMPLE))
    for level in levels:
        for part in level["parts"]:
            for phase, spent in part.get("seconds", {}).items():
                seconds[phase] += spent
        for states, _, _, steps in run.links(level):
            if level["level"]:
                new.update(_by_transition(kernel, steps))
            for counted in fields.values():
                counted.add(states, keep)
    return {
        "transitions": [
            {"transition": name, "taken": taken, "new": new[name]} for name, taken in result["coverage"].items()
        ],
        "fields": [vars(counted.field(name)) for name, counted in fields.items()],
        "phases": [{"phase": name, "seconds": round(seconds[name], 6)} for name in PHASES],
        "bytes_per_state": result["bytes"] / max(1, result["distinct"]),
        "memory": result["memory"],
        "bits": kernel.packing.bits,
        "words": kernel.packing.words,
    }


def _by_transition(kernel: Kernel, steps: np.ndarray) -> dict[str, int]:
    """Of some steps by their numbers, how many are of each transition."""
    found = np.bincount(np.searchsorted(kernel.bases, steps, side="right") - 1, minlength=len(kernel.bases) - 1)
    names = kernel.compiled.transition_names
    return {name: int(count) for name, count in zip(names, found, strict=True) if count}


def fields_of(kernel: Kernel) -> dict[str, list[Place]]:
    """The places of each field that is stored, and of each part of the state that has several fields, by name, parts first."""
    found: dict[str, list[Place]] = {}
    for place in kernel.packing.places:
        names = ["[*]" if isinstance(part, int) else f".{part}" for part in place.leaf.path]
        for end in range(1, len(names) + 1):
            if not names[end - 1].startswith("[") or end == len(names):
                found.setdefault("".join(names[:end])[1:], []).append(place)
    longest = {tuple(place.leaf.path for place in places): name for name, places in found.items()}
    return {name: found[name] for name in found if name in longest.values()}


class _Counted:
    """Counts what is in some places of states, and the states that differ elsewhere."""

    def __init__(self, places: list[Place], words: int):
        self._places = places
        mine = np.zeros(words, np.uint64)
        for place in places:
            mine[place.word] |= np.uint64(place.mask << place.shift)
        self._mine, self._others = mine, ~mine
        self._single = len({place.leaf.path[-1] for place in places}) == 1
        self._values: set[int] = set()
        self._kept, self._without = 0, [np.zeros(0, np.uint64)]

    def add(self, states: np.ndarray, keep: int) -> None:
        """Count states; of those that differ elsewhere only a part, one in `keep`."""
        for combination in self._combinations(states):
            self._values.update(np.unique(combination).tolist())
        without = hashes_of(states & self._others | np.uint64(MARK))
        chosen = without[without % np.uint64(keep) == 0]
        self._kept += len(chosen)
        self._without.append(np.unique(chosen))

    def _combinations(self, states):
        """What is in the places: of a field, in each by itself; of a part of the state, in all together."""
        if not self._single:
            yield hashes_of(states & self._mine | np.uint64(MARK))
            return
        for place in self._places:
            yield states[:, place.word] >> np.uint64(place.shift) & np.uint64(place.mask)

    def field(self, name: str) -> Field:
        """What was counted."""
        different = len(np.unique(np.concatenate(self._without)))
        return Field(name, len(self._values), round(self._kept / different, 2) if different else 1.0)
