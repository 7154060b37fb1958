"""The election strategies and the tables of legal moves, compiled, give what they give in plain Python."""

from itertools import permutations, product

import numpy as np
import pytest

from checker.units import Sources, load
from spec.language.domains import Array, Bound, Id, Record, Sequence, SetOf
from spec.language.layout import dtype
from spec.partition import legal, strategies
from tests.spec.test_strategies import FUNCTIONS, sequence

BROKERS = range(3)
SCOPE = {"brokers": 3, "replicas": 3}
STATE = Record(
    sequences=(Array(Sequence(Id("brokers"), Bound("replicas")), "brokers"), "assignments, targets, ordered ISRs"),
    members=(Array(SetOf("brokers"), "brokers"), "ISRs, and who is online"),
)
LISTS = [list(some) for n in range(4) for some in permutations(BROKERS, n)]
SEQUENCES = ("assignment", "target", "sequence", "ordered_isr")
SETS = ("isr", "online", "online_or_leaving", "leaving", "members")
VALUES = {
    "leader": [-1, 0, 2], "replica": [0, 2], "broker": [0, 2], "allowed": [0, 1], "unclean": [0, 1],
    "preferring": [0, 10], "led_by_others": [0, 1, 2], "percentage": [0, 10],
    "before": list(legal.ReplicaState), "after": list(legal.ReplicaState),
}
MOVES = [legal.replica_move_is_legal, legal.replica_move_was_legal, legal.partition_move_is_legal]


def record_of(elements, bits):
    """The same assignment and set inside a NumPy record, where compiled transitions find them."""
    record = np.zeros(1, dtype(STATE, SCOPE)).view(np.recarray)[0]
    record.sequences[0].length = len(elements)
    for i, element in enumerate(elements):
        record.sequences[0].slots[i] = element
    record.members[0] = bits
    return record.sequences[0], record.members[0]


def choices(name):
    """The values of a parameter: what plain Python gets, and what the compiled function gets."""
    if name in SEQUENCES:
        return [(sequence(elements), record_of(elements, 0)[0]) for elements in LISTS]
    if name in SETS:
        return [(bits, record_of([], bits)[1]) for bits in range(8)]
    return [(value, value) for value in VALUES[name]]


@pytest.mark.parametrize("function", [*FUNCTIONS, *MOVES], ids=lambda function: function.__name__)
def test_compiled_functions_are_those_of_python(function):
    sources = Sources()
    module = load(sources.texts, sources.add(function))
    compiled = getattr(module, function.__name__)
    names = function.__code__.co_varnames[:function.__code__.co_argcount]
    cases = 0
    for pairs in product(*map(choices, names)):
        plain, packed = zip(*pairs)
        if function is strategies.offline_isr and plain[2] == -1:
            continue
        assert compiled(*packed) == function(*plain), plain
        cases += 1
    assert cases >= 4
