import pytest
import z3
from hypothesis import given, settings
from hypothesis import strategies as st

from kafkaproof.spec.catalogue import find
from kafkaproof.spec.language import sets
from kafkaproof.spec.language.sequences import pop
from tests import toys
from tests.checker.samples import small_scope
from tests.checker.symbolic import Counts, Decisions, Point, SymbolicError, SymbolicModel, count_paths
from tests.checker.symbols import REBOUND, Members, Symbol, Truth

SMALL = settings(max_examples=40)
VALUES = st.integers(-5, 5)
IDS = st.integers(0, 3)
OPERATIONS = {
    "sum": lambda x, y: x + y,
    "difference": lambda x, y: x - y,
    "product": lambda x, y: x * y,
    "negative": lambda x, y: -x,
    "size": lambda x, y: abs(x - y),
    "least": min,
    "greatest": max,
    "equal": lambda x, y: x == y,
    "other": lambda x, y: x != y,
    "less": lambda x, y: x < y,
    "at most": lambda x, y: x <= y,
    "more": lambda x, y: x > y,
    "at least": lambda x, y: x >= y,
    "between": lambda x, y: 0 <= x < y,
    "not": lambda x, y: not x,
    "one more": lambda x, y: 1 + x - (2 - y),
    "counted": lambda x, y: x + (x == y),
    "twice": lambda x, y: 2 * x,
}


def value_of(answer):
    return answer.__index__() if isinstance(answer, Symbol) else answer


def paths_of(model, name, *arguments):
    symbolic = SymbolicModel(model, model.scope)
    return symbolic.paths(model.transition(name), arguments)


def text(path):
    """A path as a person writes it."""
    after = {leaf.expression: str(term) for leaf, term in path.after.items()}
    return str(z3.simplify(path.condition)), path.success, after


@pytest.mark.parametrize("operation", OPERATIONS.values(), ids=OPERATIONS)
@SMALL
@given(x=VALUES, y=VALUES)
def test_symbols_compute_as_ints_do(operation, x, y):
    a, b = z3.Ints("a b")
    decisions = Decisions([a == x, b == y])
    for left, right in [(Symbol(a, decisions.decide), Symbol(b, decisions.decide)), (Symbol(a, decisions.decide), y)]:
        assert value_of(operation(left, right)) == operation(x, y)
    assert not decisions.next()


@SMALL
@given(members=st.integers(0, 15), x=IDS)
def test_symbolic_sets_are_sets(members, x):
    m, i = z3.BitVec("m", 4), z3.Int("i")
    decisions = Decisions([m == members, i == x])
    asked, at = Members(m, decisions.decide), Symbol(i, decisions.decide)
    assert value_of(REBOUND[sets.only](at)) == sets.only(x)
    for either in (asked, members):
        assert value_of(REBOUND[sets.is_empty](either)) == sets.is_empty(members)
        for function in (sets.contains, sets.with_member, sets.without_member):
            assert value_of(REBOUND[function](either, at)) == function(members, x), function.__name__


@SMALL
@given(members=st.integers(0, 15), others=st.integers(0, 15))
def test_symbolic_sets_meet_and_differ_as_sets(members, others):
    m, o = z3.BitVec("m", 4), z3.BitVec("o", 4)
    decide = Decisions([m == members, o == others]).decide
    for left in (Members(m, decide), members):
        for right in (Members(o, decide), others):
            for function in (sets.intersection, sets.difference):
                assert value_of(REBOUND[function](left, right)) == function(members, others), function.__name__


def test_a_guard_is_two_paths():
    step, refusal = sorted(paths_of(toys.clock(), "tick"), key=lambda path: not path.success)
    assert text(step) == ("time == 0", True, {"time": "1"})
    assert text(refusal) == ("Not(time == 0)", False, {})


def test_effects_are_expressions_over_the_state_before():
    (path,) = paths_of(toys.counter(5), "add", 2)
    (term,) = path.after.values()
    assert z3.eq(z3.simplify(term), z3.simplify(2 + z3.Int("number")))
    assert path.success


def test_a_step_may_lead_beyond_a_bound():
    model = toys.counter(5)
    symbolic = SymbolicModel(model, model.scope)
    (path,) = symbolic.paths(model.transition("add"), (2,))
    assert Point(symbolic, [5]).on(path)
    assert Point(symbolic, [5]).after(path) == [7]


def test_an_index_forks_over_its_feasible_values():
    paths = paths_of(toys.queue(), "put", 1)
    written = sorted(leaf.expression for path in paths for leaf in path.after if leaf.expression != "waiting.length")
    assert written == ["waiting.slots[0]", "waiting.slots[1]", "waiting.slots[2]"]


def test_known_conditions_are_not_asked_again():
    decisions = Decisions([])
    x = Symbol(z3.Int("x"), decisions.decide)
    assert bool(x > 0) == bool(x > 0)
    assert len(decisions.asked) == 1


def test_decisions_come_one_after_another_until_none_is_left():
    x = z3.Int("x")
    decisions = Decisions([0 <= x, x <= 2])
    seen = []
    while True:
        at = decisions.decide(x)
        seen.append((at, at == 1 and bool(Truth(z3.Bool("p"), decisions.decide))))
        if not decisions.next():
            break
    assert seen == [(0, False), (1, False), (1, True), (2, False)]


def pop_without_look(sequence):
    return sequence.slots[sequence.length + 1]


def test_an_index_that_is_not_guarded_is_named():
    model = toys.queue().rebound({pop: pop_without_look})
    with pytest.raises(SymbolicError, match=r"toys.take\(\): list index out of range"):
        paths_of(model, "take")


@pytest.mark.parametrize(
    "model",
    [toys.clock(), toys.queue(), toys.graph([(0, 1)], [0]), *find("replication", "kip320")],
    ids=lambda model: model.system,
)
def test_paths_are_disjoint_and_leave_nothing_out(model):
    scope = small_scope(model)
    symbolic = SymbolicModel(model, scope)
    for transition in model.transitions:
        arguments = list(transition.choices(scope))[-1]
        conditions = [(path.condition, 1) for path in symbolic.paths(transition, arguments)]
        solver = z3.Solver()
        solver.add(*symbolic.ranges, z3.Not(z3.PbEq(conditions, 1)))
        assert solver.check() == z3.unsat, transition.name


def test_paths_of_the_replication_model_with_three_brokers():
    (model,) = find("replication", "kip320")
    counts = count_paths(model, {"brokers": 3, "log": 1, "records": 1, "epochs": 1})
    assert counts == Counts(instances=72, successes=174, refusals=303)


def says_yes(members, x):
    return True


def test_a_mutant_is_run_with_what_it_replaces():
    mutant = toys.graph([(0, 1)], [0]).rebound({sets.contains: says_yes})
    assert [path.success for path in paths_of(mutant, "follow", 0)] == [True, True]
