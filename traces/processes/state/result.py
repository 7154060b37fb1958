"""What the replay of a recording has found."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field


@dataclass
class Violation:
    """A property that was broken: where first, and how often."""

    id: str
    text: str
    first: str
    count: int = 0


@dataclass
class Result:
    """What replay found; `divergence` names the first step that is none of the specification, and why; `at` is its
    place in the order, or else that of the first violation. `groups`: the steps of each group, among all `steps`.
    `unfollowed`: how many lines at the end of a run that goes on are not followed.
    """

    variant: str
    steps: int = 0
    hidden: int = 0
    counts: Counter = field(default_factory=Counter)
    groups: Counter = field(default_factory=Counter)
    violations: dict[str, Violation] = field(default_factory=dict)
    divergence: tuple[str, str] | None = None
    at: int | None = None
    unfollowed: int = 0


class Divergence(Exception):
    """A step that the specification does not have; the text is the reason, `where` the line if it is another's."""

    where: str | None = None
