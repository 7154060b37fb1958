"""Runs of the fuzzer: many programs by a seed, and the smallest one found whose readings differ."""

from __future__ import annotations

import os
import tempfile
from collections import Counter
from collections.abc import Iterator
from multiprocessing import get_context

from hypothesis import HealthCheck, Phase, given, seed, settings

from tests.checker.fuzz.four import differences
from tests.checker.fuzz.programs import Program, programs

BATCH = 100


class Different(AssertionError):
    """A program does not mean the same everywhere; the message has its text, and what each reading says."""


def fuzz(count: int, number: int, shrink: bool = True) -> Counter:
    """Compare all readings of `count` programs of the seed `number`; returns what was compared.

    Raises Different, with a smaller program where it shall `shrink`.
    """
    counts: Counter = Counter()

    @seed(number)
    @settings(
        max_examples=count,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.generate, Phase.shrink] if shrink else [Phase.generate],
        report_multiple_bugs=False,
        print_blob=False,
    )
    @given(programs())
    def compare(program: Program):
        counts["programs"] += 1
        found = differences(program, counts)
        if found:
            raise Different("\n".join([program.text, *found]))

    compare()
    return counts


def batches(programs: int, number: int, processes: int) -> Iterator[Counter | str]:
    """Many programs of a seed, a hundred or fewer at a time: of each batch what was compared, or what differs as text.

    Each has a process of its own: what compiled code and z3 keep of programs is given back so.
    """
    asked = [(min(BATCH, programs - first), number * 1_000_000 + first) for first in range(0, programs, BATCH)]
    with get_context("spawn").Pool(processes, maxtasksperchild=1) as pool:
        yield from pool.imap_unordered(_batch, asked)


def _batch(asked):
    with tempfile.TemporaryDirectory() as cache:
        os.environ["XDG_CACHE_HOME"] = cache
        try:
            return fuzz(*asked)
        except Different as different:
            return str(different)
