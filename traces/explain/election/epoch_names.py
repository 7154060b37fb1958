"""Renames controller epochs and versions, so that a step computed for one election serves for all that are alike.

Transitions and properties compare epochs and versions by order, by equality, and with the successor of another: so
they see no more of a number than its place among the others, and which are one apart. 0 is "none", -1 "no znode".
"""

from collections.abc import Iterable


class Names:
    """The small numbers that stand for some epochs and versions: in the same order, and one apart where they are."""

    def __init__(self, values: Iterable[int]):
        self._small, self._real = {}, {}
        last, name = 0, 0
        for value in sorted(set(values)):
            name = value if value <= 0 else max(name, 0) + min(value - last, 2)
            last = max(value, 0)
            self._small[value], self._real[name] = name, value
        self._real.setdefault(0, 0)

    def small(self, value: int) -> int:
        """The name of one of the values."""
        return self._small[value]

    def real(self, name: int) -> int:
        """The value of a name; of one that is not a name, the successor of the one before."""
        return self._real[name] if name in self._real else self._real[name - 1] + 1
