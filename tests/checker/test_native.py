"""Functions of arrays as machine code: they do what Python does, and once their text is kept, without numba."""

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkaproof.checker.compile import native as module
from kafkaproof.checker.compile.native import native

STEP = 3
WORDS = st.integers(0, 2**64 - 1)


@native
def halved(value):
    return value >> np.uint64(1)


@native
def add(rows, sums, most):
    """Add up each row, with `STEP` for each that is `most` at the end; how many there are, and their steps."""
    found = 0
    for i in range(len(rows)):
        for w in range(rows.shape[1]):
            sums[i] += halved(rows[i, w])
        if sums[i] == most:
            sums[i] += np.uint64(STEP)
            found += 1
    return found, found * STEP


@native
def total(values):
    found = 0
    for i in range(len(values)):
        found += np.int64(values[i])
    return found


@native
def of_floats(value):
    return value / 2


@native
def is_large(value):
    return 1 if value > 3 else 0


@native
def made_anew(count):
    return np.zeros(count)[0]


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """An empty cache."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path


def as_python(rows, most):
    sums = [sum(value >> 1 for value in row) % 2**64 for row in rows]
    found = sums.count(most)
    return [s + STEP if s == most else s for s in sums], (found, found * STEP)


@given(st.lists(st.tuples(WORDS, WORDS, WORDS), min_size=1), st.booleans(), WORDS)
def test_it_does_what_python_does_for_arrays_of_any_layout(values, every_second, most):
    rows = np.array(values, np.uint64)
    shown = np.repeat(rows, 2, axis=1)[:, ::2] if every_second else rows
    sums = np.zeros(len(rows), np.uint64)
    answer = add(shown, sums, np.uint64(most))
    assert (sums.tolist(), answer) == as_python(values, most)


def test_arrays_of_many_kinds_are_told_apart():
    for kind in (np.uint8, np.int32, np.int64, np.uint64):
        assert total(np.array([6, 250], kind)) == 256
        assert module._kind(np.zeros(1, kind)) != module._kind(kind(0))
    assert halved.plain(np.array([6], np.uint64)).tolist() == [3]
    sums = np.zeros(2, np.uint64)
    add(np.array([[2, 4], [6, 8]], np.uint64), sums, np.uint64(7))
    assert sums.tolist() == [3, 7 + STEP]


@pytest.mark.parametrize(
    "function, argument, told",
    [
        (of_floats, 4, "cannot be called without it"),
        (is_large, 4.0, "cannot be called without it"),
        (made_anew, 4, "No implementation of .*zeros"),
    ],
)
def test_what_numba_is_needed_for_is_refused(cache, function, argument, told):
    with pytest.raises(Exception, match=told):
        function(argument)
    assert not list(cache.rglob("*.native"))


def test_a_function_that_names_another_number_is_another_one(monkeypatch):
    before = module._identity(add.plain)
    monkeypatch.setitem(add.plain.__globals__, "STEP", 4)
    assert module._identity(add.plain) != before
    monkeypatch.undo()
    assert module._identity(add.plain) == before


ALONE = """
import sys
from kafkaproof.checker.commands.main import main
code = main(["check", "election", "--variant", "fenced", "--scope", "quick", "--memory", "1M", "--run-dir", sys.argv[1]])
print(code, sorted({"numba", "pyspark"} & set(sys.modules)))
"""


def test_numba_is_asked_once_for_tables_and_liveness(cache):
    told = [
        subprocess.run([sys.executable, "-c", ALONE, cache / f"run-{n}"], capture_output=True, text=True, check=True)
        for n in range(2)
    ]
    assert [each.stdout.splitlines()[-1] for each in told] == ["1 ['numba']", "1 []"]
