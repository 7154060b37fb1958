"""Two kernels share no generated module: their machine code could bear the same names, and be mixed up."""

from itertools import combinations

from checker.kernel import Kernel
from spec.catalogue import find
from spec.mutants.replication import MUTANTS
from tests import toys


def texts(model, **sizes):
    """The generated modules of a model's kernel at a scope."""
    scope = model.scope | sizes
    return Kernel(model, scope, model.properties_at(scope)).compiled.texts


def test_kernels_of_other_scopes_variants_and_mutants_have_other_modules():
    newest, earlier = (find("replication", variant)[0] for variant in ("kip320", "kip279"))
    kernels = [
        texts(newest), texts(newest, log=1), texts(newest, epochs=1), texts(earlier), texts(toys.clock()),
        texts(MUTANTS[0].mutate(newest)),
    ]
    for one, other in combinations(kernels, 2):
        assert not one.keys() & other.keys()


def test_the_same_kernel_has_the_same_modules():
    model = find("replication", "kip320")[0]
    assert texts(model) == texts(model)
