"""The election strategies and the tables of legal moves, compiled, give what they give in plain Python."""

from itertools import permutations, product

import numpy as np
import pytest

from kafkaproof.checker.compile.record import dtype
from kafkaproof.checker.compile.text import NUMBER
from kafkaproof.spec.kafka import state_machines, strategies
from kafkaproof.spec.language.domains import Bound, Id, Sequence
from tests.checker.alone import Alone
from tests.spec.test_strategies import FUNCTIONS, sequence

BROKERS = range(3)
SCOPE = {"brokers": 3, "replicas": 3}
ASSIGNMENT = Sequence(Id("brokers"), Bound("replicas"))
LISTS = [list(some) for n in range(4) for some in permutations(BROKERS, n)]
SEQUENCES = ("assignment", "target", "sequence", "ordered_isr")
SETS = ("isr", "new_isr", "online", "online_or_leaving", "leaving", "members")
VALUES = {
    "leader": [-1, 0, 2],
    "replica": [0, 2],
    "broker": [0, 2],
    "allowed": [0, 1],
    "unclean": [0, 1],
    "was_recovering": [0, 1],
    "by_leader": [0, 1],
    "preferring": [0, 10],
    "led_by_others": [0, 1, 2],
    "percentage": [0, 10],
    "before": list(state_machines.ReplicaState),
    "after": list(state_machines.ReplicaState),
}
MOVES = [
    state_machines.replica_move_is_legal,
    state_machines.replica_move_was_legal,
    state_machines.partition_move_is_legal,
]


def record_of(elements):
    """The same assignment as a NumPy record, as compiled transitions find it."""
    record = np.zeros(1, dtype(ASSIGNMENT, SCOPE)).view(np.recarray)
    record[0].length = len(elements)
    record[0].slots[: len(elements)] = elements
    return record


def choices(name):
    """The values of a parameter: what plain Python gets, and what the compiled function gets."""
    if name in SEQUENCES:
        return [(sequence(elements), record_of(elements)) for elements in LISTS]
    return [(value, value) for value in (range(8) if name in SETS else VALUES[name])]


@pytest.mark.parametrize("function", [*FUNCTIONS, *MOVES], ids=lambda function: function.__name__)
def test_compiled_functions_are_those_of_python(function):
    names = function.__code__.co_varnames[: function.__code__.co_argcount]
    compiled = Alone(SCOPE, [(function, [ASSIGNMENT if name in SEQUENCES else NUMBER for name in names])])
    cases = 0
    for pairs in product(*map(choices, names)):
        plain, packed = zip(*pairs)
        if function is strategies.offline_isr and plain[2] == -1:
            continue
        assert compiled(*packed) == function(*plain), plain
        cases += 1
    assert cases >= 4
