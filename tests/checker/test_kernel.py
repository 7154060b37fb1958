"""A kernel's entry tells what it was made of: a run is resumed, and machine code kept, for the same one only."""

import pickle
from itertools import combinations

import numpy as np

from kafkaproof.checker.compile.expansion import Expansion
from kafkaproof.checker.compile.kernel import Kernel
from kafkaproof.checker.model.execution import Execution
from kafkaproof.spec.catalogue import find
from kafkaproof.spec.replication.mutants.replication import MUTANTS
from tests import toys


def kernel(model, **sizes):
    """A model's kernel at a scope."""
    scope = model.scope | sizes
    return Kernel(model, scope, model.properties_at(scope))


def test_kernels_of_other_scopes_variants_and_mutants_have_other_entries():
    newest, earlier = (find("replication", variant)[0] for variant in ("kip320", "kip279"))
    entries = [
        kernel(model, **sizes).compiled.entry
        for model, sizes in (
            (newest, {}),
            (newest, {"log": 1}),
            (newest, {"epochs": 1}),
            (earlier, {}),
            (toys.clock(), {}),
            (MUTANTS[0].mutate(newest), {}),
        )
    ]
    assert all(one != other for one, other in combinations(entries, 2))


def test_the_same_kernel_has_the_same_entry():
    model = find("replication", "kip320")[0]
    assert kernel(model).compiled == kernel(model).compiled
    assert kernel(model).compiled.entry == kernel(model).compiled.entry


def test_a_kernel_travels():
    queue = kernel(toys.queue())
    state = queue.packing.pack(Execution(queue.model, queue.scope).initial_states()[0])
    ((successors, origins, numbers),) = Expansion(pickle.loads(pickle.dumps(queue.compiled))).run(np.array([state]))
    assert (len(successors), origins.tolist(), numbers.tolist()) == (3, [0, 0, 0], [0, 1, 2])


def test_an_expansion_stops_when_its_room_is_used_and_goes_on_from_there():
    queue = kernel(toys.queue())
    state = queue.packing.pack(Execution(queue.model, queue.scope).initial_states()[0])
    batches = Expansion(queue.compiled, capacity=5).run(np.array([state] * 7))
    found = [(origin, number) for _, origins, numbers in batches for origin, number in zip(origins, numbers)]
    assert found == [(i, number) for i in range(7) for number in range(3)]
