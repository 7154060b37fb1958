"""The replication model and the explorer together give the numbers that independent checkers give.

Rows: generated, distinct and depth of the whole space, and the lengths in states of the shortest
counterexamples of weak_isr and strong_isr (None where they hold).
"""

import pytest

from kafkaproof.checker.compile.kernel import Kernel
from kafkaproof.checker.explore.explorer import Explorer, Limits
from kafkaproof.spec.catalogue import find
from kafkaproof.spec.replication.model import scope

SMALL, WIDE, TWO = scope(log=1, records=1, epochs=1), scope(epochs=1), scope(brokers=2)
COUNTED = {
    SMALL: {
        "truncate-to-hw": (31_552, 10_681, 17, 9, 9),
        "kip101": (28_840, 9_841, 18, None, 12),
        "kip279": (36_322, 9_841, 18, None, 12),
        "kip320-first-try": (27_088, 9_661, 18, None, None),
        "kip320": (16_348, 6_787, 18, None, None),
    },
    WIDE: {
        "truncate-to-hw": (222_712, 67_807, 21, 9, 9),
        "kip101": (187_996, 59_788, 22, None, 12),
        "kip279": (220_384, 60_106, 22, None, 12),
        "kip320-first-try": (179_830, 59_092, 22, None, None),
        "kip320": (104_488, 39_619, 22, None, None),
    },
    TWO: {
        "truncate-to-hw": (24_459, 10_131, 20, 9, 10),
        "kip101": (21_447, 9_045, 18, 12, 12),
        "kip279": (23_425, 9_027, 18, None, None),
        "kip320-first-try": (19_387, 8_429, 18, None, None),
        "kip320": (11_839, 5_973, 18, None, None),
    },
}
COUNTED[scope(records=1, epochs=1)] = COUNTED[SMALL]
LARGE = scope()
LARGE_KIP320 = (1_967_560, 737_794, 26, None, None)
LARGE_VIOLATIONS = {"truncate-to-hw": (9, 9), "kip101": (11, 11), "kip279": (11, 11), "kip320-first-try": (12, 13)}
CASES = [(variant, at) for at, rows in COUNTED.items() for variant in rows]


class Museum:
    """A variant at a scope, explored as `check` explores it."""

    def __init__(self, run, spark, variant, at, **options):
        model = find("replication", variant)[0]
        kernel = Kernel(model, at, model.properties)
        run.create({})
        explorer = Explorer(run, kernel, spark, 2, **options)
        explorer.explore()
        self.outcome = explorer.outcome
        self.lengths = {v.name: v.trace_length for v in self.outcome.violations}

    @property
    def isr(self):
        """Lengths of the shortest counterexamples of the two ISR properties."""
        return self.lengths.get("weak_isr"), self.lengths.get("strong_isr")

    @property
    def row(self):
        """The row as it is in the tables."""
        return self.outcome.generated, self.outcome.distinct, self.outcome.depth, *self.isr


@pytest.mark.parametrize(("variant", "at"), CASES)
def test_counts_and_verdicts_are_those_of_independent_checkers(run_directory, spark, variant, at):
    found = Museum(run_directory, spark, variant, at, keep_going=True)
    assert found.row == COUNTED[at][variant]
    assert found.lengths.keys() <= {"weak_isr", "strong_isr"}
    assert found.outcome.finished and found.outcome.fault is None


def test_the_large_scope_of_kip320_too(run_directory, spark):
    found = Museum(run_directory, spark, "kip320", LARGE, keep_going=True)
    assert found.row == LARGE_KIP320
    assert any(part["partition"] == 1 for level in run_directory.levels() for part in level["parts"])


@pytest.mark.parametrize("variant", LARGE_VIOLATIONS)
def test_at_the_large_scope_each_earlier_variant_fails(run_directory, spark, variant):
    """Only as deep as the longer counterexample: with `keep_going` both are found."""
    weak, strong = LARGE_VIOLATIONS[variant]
    found = Museum(run_directory, spark, variant, LARGE, keep_going=True, limits=Limits(depth=strong))
    assert found.isr == (weak, strong)


@pytest.mark.parametrize("variant", LARGE_VIOLATIONS)
def test_a_search_that_stops_at_the_first_violation_finds_the_shortest(run_directory, spark, variant):
    weak, strong = LARGE_VIOLATIONS[variant]
    found = Museum(run_directory, spark, variant, LARGE)
    assert found.outcome.depth == min(weak, strong)
    assert set(found.lengths.values()) == {min(weak, strong)}


def test_the_catalogue_records_the_same_verdicts():
    rows = {(variant, at): COUNTED[at][variant][3:] for variant, at in CASES}
    rows |= {(variant, LARGE): lengths for variant, lengths in LARGE_VIOLATIONS.items()}
    for (variant, at), (weak, strong) in rows.items():
        recorded = find("replication", variant)[0].expectation(at)
        assert (recorded.get("weak_isr"), recorded.get("strong_isr")) == (weak, strong)
