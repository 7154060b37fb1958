"""Random walks: they are behaviours, the same for a seed, and what they find is violated; they never say that something holds."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkaproof.checker.basics.errors import UserError
from kafkaproof.checker.explore.reference import explore
from kafkaproof.checker.model.execution import Execution
from kafkaproof.checker.runs.counterexample import Trace, extended, is_stuck, violates
from kafkaproof.checker.walk.batch import DEADLOCK, WIDTH, chosen
from kafkaproof.checker.walk.estimate import Different
from kafkaproof.checker.walk.shorten import shortened
from kafkaproof.checker.walk.walking import Walks, walk_all
from kafkaproof.spec.catalogue import find
from kafkaproof.spec.language.model import LIVENESS
from tests.checker.models import DIAMOND, FAULTY, PATH, TOYS, kernel_of
from tests.toys import clock, counter, queue

FEW = WIDTH * 3


def walked(model, scope=None, spark=None, seed=1, walks=WIDTH, length=30, **options):
    kernel = kernel_of(model, model.scope if scope is None else scope)
    return kernel, walk_all(kernel, spark, Walks(seed, length, walks), **options)


@given(st.sets(st.integers(0, (1 << 64) - 1), max_size=400), st.sets(st.integers(0, (1 << 64) - 1), max_size=400))
def test_what_two_have_counted_is_what_one_counts_of_both(some, others):
    one, two, both = Different(), Different(), Different()
    for counting, hashes in (one, some), (two, others), (both, some | others):
        counting.add(np.array([*hashes], np.uint64))
    one.join(two.registers)
    assert one.registers.tolist() == both.registers.tolist()


@pytest.mark.parametrize("number", [1, 100, 10_000, 1_000_000])
def test_an_estimate_is_near_the_number(number):
    counting, hashes = Different(), np.random.default_rng(number).integers(0, 1 << 64, number, np.uint64)
    counting.add(hashes)
    counting.add(hashes[: number // 2])
    assert counting.estimate == pytest.approx(number, rel=0.04)


def test_of_the_transitions_each_is_as_likely_however_many_choices_it_has():
    origins, transitions = np.repeat(np.arange(3000), 5), np.tile([0, 1, 1, 1, 1], 3000)
    places = chosen(np.random.default_rng(1), origins, transitions)
    assert origins[places].tolist() == list(range(3000))
    taken = Counter(transitions[places].tolist())
    assert 1350 < taken[0] < 1650 and 1350 < taken[1] < 1650


@pytest.mark.parametrize("name", [name for name in TOYS if "failing" in name or TOYS[name] in (PATH, DIAMOND)])
def test_what_a_walk_violates_is_violated_at_the_end_of_the_short_one(name):
    model = TOYS[name]
    kernel, met = walked(model)
    shortest = explore(model, model.scope).violated
    assert met.violated.keys() == shortest.keys()
    for prop in kernel.state_properties + kernel.step_properties:
        if prop.name in met.violated:
            trace = shortened(kernel, prop.name, met.violated[prop.name][1])
            assert violates(trace, prop) and trace.states == shortest[prop.name]


@pytest.mark.parametrize("model", [clock(), queue(), counter(7)], ids=lambda model: model.system)
def test_walks_come_to_the_states_and_goals_that_there_are(model):
    whole = explore(model, model.scope)
    _, met = walked(model)
    assert met.different.estimate == pytest.approx(whole.distinct, rel=0.01)
    assert {name for name, count in met.taken.items() if count} == {n for n, c in whole.coverage.items() if c}
    assert met.goals.keys() == whole.reached and not met.violated


def test_every_path_is_a_behaviour():
    model = find("election", "legacy")[0]
    kernel, met = walked(model, length=60)
    start = Execution(model, model.scope).initial_states()
    for name, (_, path) in (met.violated | met.goals).items():
        trace = extended(Trace(model, model.scope, start[path.start], []), kernel, list(path.steps), 0)
        prop = next(p for p in kernel.state_properties + kernel.step_properties if p.name == name)
        assert violates(trace, prop) if prop.kind != "sometimes" else prop.predicate(trace.last)


EXHIBITS = [("replication", "kip101"), ("replica", "hw"), ("election", "zkclient"), ("partition", "legacy")]


@pytest.mark.parametrize("system, variant", EXHIBITS)
def test_they_find_what_earlier_releases_did_wrong(system, variant):
    model = find(system, variant)[0]
    recorded = dict(model.expected[model.scope])
    endless = {p.name for p in model.properties if p.kind in LIVENESS}
    wrong = recorded.keys() - endless
    kernel, met = walked(model, length=100)
    assert met.violated and met.violated.keys() <= wrong
    for name, (_, path) in met.violated.items():
        assert recorded[name] <= shortened(kernel, name, path).states <= len(path.steps) + 1


def test_walks_that_find_nothing_new_go_on_where_others_left_steps():
    """Steps that merely prefer new states see 1,000 of these, and neither violation, in 100 steps of each walk."""
    model = find("partition", "recreating")[0]
    _, met = walked(model, length=100, keep_going=True)
    assert (
        met.violated.keys()
        == dict(model.expected[model.scope]).keys()
        == {"local_epoch_never_falls", "own_logs_deleted"}
    )
    assert met.different.estimate == pytest.approx(4646, rel=0.01)


def test_a_seed_draws_the_same_walks_on_any_number_of_processors(spark):
    model = find("replication", "kip320")[0]
    found = []
    for _ in range(2):
        _, met = walked(model, spark=spark, seed=5, walks=FEW, length=40)
        found.append((met.walks, met.steps, met.goals, met.taken, met.different.estimate))
    assert found[0] == found[1] and found[0][0] == FEW
    _, other = walked(model, spark=spark, seed=6, walks=FEW, length=40)
    assert other.taken != found[0][3]


def test_a_walk_may_be_stuck():
    kernel, met = walked(PATH, deadlock=True, keep_going=True)
    assert is_stuck(shortened(kernel, DEADLOCK, met.violated[DEADLOCK][1]))
    assert DEADLOCK not in walked(DIAMOND, deadlock=True)[1].violated


def test_a_step_out_of_its_range_is_told():
    with pytest.raises(UserError, match="puts a value out of its declared range"):
        walked(FAULTY)


# The command


def test_the_command_tells_what_it_found_and_show_draws_it(kafkaproof):
    told = kafkaproof("check", "replication", "--variant", "kip101", "--simulate", "--seed", 1, "--run-dir", "run")
    assert told.code == 1
    assert "replication/kip101: weak_isr is violated in 11 states, after a walk of 15 states" in told.out
    assert "--simulate --seed 1 --walks 1024" in told.out and "holds" not in told.out.replace("that anything holds", "")
    drawn = kafkaproof("show", "run", "--property", "weak_isr", "--text")
    assert drawn.code == 0 and "weak_isr" in drawn.out
    goal = kafkaproof("show", "run", "--property", "two_leaders", "--text")
    assert goal.code == 0 and "become_leader" in goal.out


def test_what_is_not_found_is_not_said_to_hold(kafkaproof):
    asked = ("check", "replication", "--variant", "kip320", "--simulate", "--walks", 1000, "--run-dir", "run")
    told = kafkaproof(*asked, "--seed", 2)
    assert told.code == 0
    assert "nothing is violated in these walks; walks do not visit every state" in told.out
    asked = kafkaproof("show", "run", "--property", "weak_isr")
    assert "no walk violated weak_isr, which does not mean that it holds" in asked.complaint
    again = kafkaproof("check", "--resume", "run")
    assert "random walks, which are not resumed" in again.complaint


def test_json_has_seed_and_traces(kafkaproof):
    told = kafkaproof("check", "replication", "--variant", "kip101", "--simulate", "--seed", 1, "--json")
    (result,) = told.json["walks"]
    assert (result["seed"], result["walks"], result["verdict"]) == (1, WIDTH, "violated")
    assert {each["property"] for each in result["violations"]} == {"strong_isr", "weak_isr"}
    assert all(len(each["trace"]) == each["trace_length"] - 1 for each in result["violations"])


@pytest.mark.parametrize(
    "options, told",
    [
        (("--walks", "5"), "--walks is for random walks; add --simulate"),
        (("--simulate", "--symmetry"), "--symmetry is for a search of every state"),
        (("--simulate", "--max-states", "5"), "--max-states is for a search of every state"),
    ],
)
def test_options_that_do_not_go_together_are_refused(kafkaproof, options, told):
    assert told in kafkaproof("check", "replication", "--variant", "kip320", *options).complaint
