"""What explains the changes of partition states in a stream."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kafkaproof.traces.evidence.state_changes import Change, Changes
from kafkaproof.traces.explain.partitions.explanations import Explanation
from kafkaproof.traces.reading.state_records import Codes

UNEXPLAINED = 0


@dataclass(slots=True)
class Explained:
    """A change and all its explanations, the preferred one first; `text` says why there is none.

    `certain`: nothing that was before the log could have explained it.
    """

    change: Change
    explanations: tuple[Explanation, ...] = ()
    text: str = ""
    certain: bool = True

    def may_be(self, trigger: str) -> bool:
        """Whether some explanation has that trigger."""
        for explanation in self.explanations:
            if explanation.trigger == trigger:
                return True
        return False


class ExplainedChanges(Sequence):
    """The changes of a stream with their explanations. `codes`: which of `values` explain each; UNEXPLAINED: none."""

    def __init__(self, changes: Changes):
        self.changes, self.codes = changes, np.full(len(changes), UNEXPLAINED)
        self._values, self._why = Codes[tuple[Explanation, ...]](), dict[int, tuple[str, bool]]()
        self._values.of(())

    @property
    def values(self) -> list[tuple[Explanation, ...]]:
        """All explanations that some change has."""
        return self._values.values

    def code(self, explanations: tuple[Explanation, ...]) -> int:
        """The code of what explains a change."""
        return self._values.of(explanations)

    def refuse(self, row: int, why: str, certain: bool = True) -> None:
        """Nothing explains a change. That is certain, unless it depends on what was before the log."""
        self.codes[row], self._why[row] = UNEXPLAINED, (why, certain)

    def __getitem__(self, row):
        if isinstance(row, slice):
            return [self[each] for each in range(len(self))[row]]
        return Explained(self.changes[row], self.values[self.codes[row]], *self._why.get(row, ()))

    def __len__(self) -> int:
        return len(self.changes)


def is_ambiguous(explanations: tuple[Explanation, ...]) -> bool:
    """Whether another strategy or trigger needs no more tokens than the preferred one."""
    best = explanations[:1]
    return any(e.tokens <= best[0].tokens and e[:2] != best[0][:2] for e in explanations[1:])


def writer(change: Change) -> str:
    """Whose session wrote a change."""
    whose = "no broker's session" if change.broker is None else f"broker {change.broker}"
    return f"{whose} ({change.session:#x})"
