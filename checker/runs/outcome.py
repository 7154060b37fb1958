"""What an exploration found, folded from the complete levels of its run directory."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from kafkaproof.checker.compile.kernel import Compiled


@dataclass(frozen=True)
class Found:
    """A violated property, in a state (packed, hexadecimal) of `level` or by step `number` from there; or a goal."""

    name: str
    level: int
    state: str
    number: int | None = None

    @property
    def trace_length(self) -> int:
        """States of a shortest path to it, the initial one included."""
        return self.level + (1 if self.number is None else 2)


@dataclass(frozen=True)
class Fault:
    """A step from a state (packed, hexadecimal) of `level` that was out of range; `number` as in `Expansion.fault`."""

    level: int
    state: str
    number: int


@dataclass
class Outcome:
    """The tally of an exploration so far; `depth` counts the levels that have states.

    `bytes` has the run directory, `memory` the tables of seen states and a process, `older` is what of them is on disk.
    `goals` has where each *sometimes* property was first reached.
    """

    distinct: int = 0
    generated: int = 0
    depth: int = 0
    frontier: int = 0
    bytes: int = 0
    memory: int = 0
    older: int = 0
    violations: list[Found] = field(default_factory=list)
    goals: dict[str, Found] = field(default_factory=dict)
    coverage: Counter = field(default_factory=Counter)
    cuts: Counter = field(default_factory=Counter)
    fault: Fault | None = None

    @property
    def reached(self) -> set[str]:
        """The names of the goals that were reached."""
        return set(self.goals)

    @property
    def finished(self) -> bool:
        """Whether the last level found nothing new."""
        return self.depth > 0 and self.frontier == 0


class Tally:
    """Adds levels to an outcome, reading their parts by the names that the compiled model gives."""

    def __init__(self, compiled: Compiled, kinds: dict[str, str], initial: int, deadlock: bool):
        self._compiled, self._kinds, self._deadlock = compiled, kinds, deadlock
        self.outcome = Outcome(generated=initial)
        self.outcome.coverage.update({name: 0 for name in compiled.transition_names})
        self.outcome.cuts.update({name: 0 for name in compiled.bounds})

    def add(self, level: dict) -> None:
        """Add one complete level."""
        outcome, parts = self.outcome, level["parts"]
        outcome.frontier = sum(part["states"] for part in parts)
        outcome.distinct += outcome.frontier
        outcome.depth += outcome.frontier > 0
        outcome.bytes += sum(part["bytes"] for part in parts)
        outcome.memory = sum(part["table_bytes"] for part in parts) + max(part["rss"] for part in parts)
        outcome.older = sum(part.get("older_bytes", 0) for part in parts)
        for part in parts:
            outcome.generated += part["generated"]
            outcome.coverage.update(dict(zip(self._compiled.transition_names, part["coverage"])))
            outcome.cuts.update(dict(zip(self._compiled.bounds, part["cuts"])))
        for state, number in sorted(part["fault"] for part in parts if part["fault"])[:1]:
            outcome.fault = outcome.fault or Fault(level["level"], state, number)
        if outcome.fault is None:
            self._properties(level["level"], parts)

    def _properties(self, level, parts):
        """Note a level's violations. Skipped after a fault, which may have been in a property itself."""
        for i, name in enumerate(self._compiled.state_names):
            states = sorted(part["judged"][i] for part in parts if part["judged"][i])
            if states and self._kinds[name] == "sometimes":
                self.outcome.goals.setdefault(name, Found(name, level, states[0]))
            elif states:
                self._violated(Found(name, level, states[0]))
        for i, name in enumerate(self._compiled.step_names):
            steps = sorted(part["broken"][i] for part in parts if part["broken"][i])
            if steps:
                self._violated(Found(name, level, *steps[0]))
        if self._deadlock:
            for state in sorted(part["deadlock"] for part in parts if part["deadlock"])[:1]:
                self._violated(Found("deadlock", level, state))

    def _violated(self, found):
        earlier = next((v for v in self.outcome.violations if v.name == found.name), None)
        if earlier is None:
            self.outcome.violations.append(found)
        elif found.trace_length < earlier.trace_length:
            self.outcome.violations[self.outcome.violations.index(earlier)] = found
