"""Every successor reaches its owner at least once, and nothing is invented on the way."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some

from kafkaproof.checker.compile.packing import MARK
from kafkaproof.checker.runs.table import KEY_BITS, STEP_BITS, owners_of
from kafkaproof.checker.spark.routing import BLOCK_ROWS, Router, rows_of


def successors(n, words, values, seed):
    """States (with duplicates where `values` is small), their origins and step numbers, and parents' keys."""
    random = np.random.default_rng(seed)
    states = random.integers(0, values, (n, words)).astype(np.uint64)
    states[:, 0] |= MARK
    keys = random.integers(0, 1 << KEY_BITS, 50).astype(np.uint64)
    return states, random.integers(0, 50, n), random.integers(0, 1 << STEP_BITS, n), keys


def delivered(words, partitions, batches):
    """What arrives: a list of (owner, row)."""
    router, blocks = Router(words, partitions), []
    for batch in batches:
        blocks += router.send(*batch)
    blocks += router.rest()
    return [(owner, tuple(row)) for owner, block in blocks for row in rows_of(block, words).tolist()]


def check_delivery(words, partitions, batches):
    """Hold the laws for these batches; returns how many rows arrived."""
    rows = delivered(words, partitions, batches)
    sent = {}
    for states, origins, numbers, keys in batches:
        links = keys[origins].astype(object) * 2**STEP_BITS + numbers
        for owner, state, link in zip(owners_of(states, partitions).tolist(), states.tolist(), links):
            sent.setdefault((owner, tuple(state)), set()).add(link)
    assert {(owner, row[:-1]) for owner, row in rows} == set(sent)
    assert all(row[-1] in sent[owner, row[:-1]] for owner, row in rows)
    return len(rows)


@given(some.integers(1, 8), some.integers(1, 5), some.lists(some.integers(0, 200), max_size=4), some.integers(0, 99))
def test_owners_get_each_successor_with_one_of_its_parents(words, partitions, sizes, seed):
    batches = [successors(n, words, 6, seed + i) for i, n in enumerate(sizes)]
    check_delivery(words, partitions, batches)


@pytest.mark.parametrize("partitions", [1, 3])
def test_more_than_a_block_is_sent_in_several(partitions):
    batch = successors(2 * BLOCK_ROWS + 17, 2, 1 << 40, seed=1)
    assert check_delivery(2, partitions, [batch]) == len(batch[0])


def test_what_was_sent_lately_is_not_sent_again():
    batch = successors(5000, 1, 10, seed=2)
    assert check_delivery(1, 2, [batch, batch]) < 100


def test_nothing_sent_leaves_no_block():
    assert delivered(2, 3, []) == []
