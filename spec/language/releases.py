"""Releases of Kafka: from which to which one a variant is."""

from __future__ import annotations

import re
from dataclasses import dataclass

_RELEASE = re.compile(r"\d+(\.\d+){1,3}")


@dataclass(frozen=True)
class Releases:
    """All releases from `first` to `last`, each such as ``2.6``, which stands for 2.6.0, 2.6.1 and so on, or ``3.9.0``.

    Raises ValueError where one of them is not a release or `last` comes before `first`.
    """

    first: str
    last: str

    def __post_init__(self):
        if not _is_until(self.first, self.last):
            raise ValueError(f"releases {self.first} to {self.last}: the last comes before the first")

    def __str__(self) -> str:
        return self.first if self.first == self.last else f"{self.first} to {self.last}"

    def __contains__(self, release: str) -> bool:
        """Whether a release such as ``2.8.2`` is one of these. Raises ValueError where it is not a release."""
        return _numbers(self.first) <= _numbers(release) and _is_until(release, self.last)

    def __lt__(self, other: Releases) -> bool:
        """Whether the first of these is before the first of the others."""
        return _numbers(self.first) < _numbers(other.first)

    def overlaps(self, other: Releases) -> bool:
        """Whether a release is in both."""
        return other.first in self or self.first in other

    @property
    def ends(self) -> dict[str, str]:
        """The first and the last release, for JSON."""
        return {"first": self.first, "last": self.last}


def _is_until(release: str, last: str) -> bool:
    """Whether a release is not after `last`, nor after its last patch release."""
    end = _numbers(last)
    return _numbers(release)[: len(end)] <= end


def _numbers(release: str) -> tuple[int, ...]:
    if not _RELEASE.fullmatch(release):
        raise ValueError(f"{release!r} is not a release of Kafka, such as 2.8 or 3.9.1")
    return tuple(map(int, release.split(".")))
