"""Releases of Kafka: from which to which one a variant is."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

KNOWN = tuple(
    """
    0.8.0 0.8.1 0.8.1.1 0.8.2.0 0.8.2.1 0.8.2.2 0.9.0.0 0.9.0.1 0.10.0.0 0.10.0.1 0.10.1.0 0.10.1.1 0.10.2.0 0.10.2.1 0.10.2.2
    0.11.0.0 0.11.0.1 0.11.0.2 0.11.0.3 1.0.0 1.0.1 1.0.2 1.1.0 1.1.1 2.0.0 2.0.1 2.1.0 2.1.1 2.2.0 2.2.1 2.2.2 2.3.0 2.3.1
    2.4.0 2.4.1 2.5.0 2.5.1 2.6.0 2.6.1 2.6.2 2.6.3 2.7.0 2.7.1 2.7.2 2.8.0 2.8.1 2.8.2 3.0.0 3.0.1 3.0.2 3.1.0 3.1.1 3.1.2
    3.2.0 3.2.1 3.2.2 3.2.3 3.3.0 3.3.1 3.3.2 3.4.0 3.4.1 3.5.0 3.5.1 3.5.2 3.6.0 3.6.1 3.6.2 3.7.0 3.7.1 3.7.2 3.8.0 3.8.1
    3.9.0 3.9.1
    """.split()
)
"""The releases of Kafka that have a ZooKeeper mode, in the order of their numbers."""
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

    def within(self, other: Releases) -> Releases:
        """Those of these that are in the other range, too. Raises ValueError where there are none."""
        return Releases(max(self, other).first, self.last if self.last in other else other.last)

    @property
    def known(self) -> tuple[str, ...]:
        """Those of these releases that there are, oldest first."""
        return _known(self)

    @property
    def ends(self) -> dict[str, str]:
        """The first and the last release, for JSON."""
        return {"first": self.first, "last": self.last}


def merged(ranges: Iterable[Releases]) -> tuple[Releases, ...]:
    """Ranges without overlap that together have the same releases, oldest first."""
    found: list[Releases] = []
    for each in sorted(ranges):
        before = found[-1] if found else None
        if before and (before.overlaps(each) or _follows(each, before)):
            found[-1] = Releases(before.first, before.last if _is_until(each.last, before.last) else each.last)
        else:
            found.append(each)
    return tuple(found)


@cache
def _known(releases: Releases) -> tuple[str, ...]:
    return tuple(release for release in KNOWN if release in releases)


def _follows(later: Releases, earlier: Releases) -> bool:
    """Whether no release is between two ranges."""
    behind = KNOWN.index(earlier.known[-1]) + 1 if earlier.known else len(KNOWN)
    return KNOWN[behind : behind + 1] == later.known[:1]


def _is_until(release: str, last: str) -> bool:
    """Whether a release is not after `last`, nor after its last patch release."""
    end = _numbers(last)
    return _numbers(release)[: len(end)] <= end


@cache
def _numbers(release: str) -> tuple[int, ...]:
    if not _RELEASE.fullmatch(release):
        raise ValueError(f"{release!r} is not a release of Kafka, such as 2.8 or 3.9.1")
    return tuple(map(int, release.split(".")))
