"""Whether ids are interchangeable is decided of all states in their ranges: what tells ids apart in one is refused."""

from dataclasses import replace
from itertools import product

import pytest
from hypothesis import given, settings

from kafkaproof.checker.check.local import explore_here
from kafkaproof.checker.explore.reference import explore
from kafkaproof.checker.model.execution import Execution
from kafkaproof.checker.prove.bmc import violations_within
from kafkaproof.checker.prove.interchangeable import AsymmetryError, require_symmetry
from kafkaproof.spec.language.domains import NOBODY, Array, Flag, Id, Number, Record, SetOf, values
from kafkaproof.spec.language.model import Model, Transition, always, always_step, eventually, sometimes
from kafkaproof.spec.language.renaming import Symmetry
from kafkaproof.spec.language.sets import everybody, with_member
from tests.checker.asymmetric import ASYMMETRIC, RECOVER, first_holds, token
from tests.checker.random_models import models

Node = Id("nodes")
TOP = 12


def required(model, **work):
    """Decide whether a model is symmetric at its own scope."""
    require_symmetry(model, model.scope, model.properties, **work)


def all_are_down(s):
    """Nobody has climbed yet."""
    for n in range(len(s.level)):
        s.level[n] = 0


def climb(s, n: Node):
    """A node goes one up."""
    if s.level[n] == 12:
        return False

    s.level[n] += 1
    return True


def fly(s, n: Node):
    """A node goes one up, but for the first in one state of all."""
    if s.level[n] == 12 or (n == 0 and is_the_one(s)):
        return False

    s.level[n] += 1
    return True


def is_the_one(s):
    """Each node is at a level of its own."""
    return s.level[0] == 2 and s.level[1] == 6 and s.level[2] == 8 and s.level[3] == 12


def is_not_the_one(s):
    """Not each node is at a level of its own."""
    return not is_the_one(s)


def is_not_left_from_the_one(before, after):
    """Nobody leaves that state."""
    return not is_the_one(before)


def climbers(transition=climb, prop=None):
    """Four nodes that climb: 28,561 states, of which at most one tells them apart."""
    scope = {"nodes": 4}
    return Model(
        system="climbers",
        variant="four",
        story="",
        state=Record(level=(Array(Number(0, TOP), "nodes"), "how far each has climbed")),
        initial=all_are_down,
        transitions=(Transition(transition),),
        properties=(prop,) if prop else (),
        scope=scope,
        largest=scope,
        lanes=lambda scope: ["cluster"],
        interchangeable={"nodes": ()},
    )


@pytest.mark.parametrize(
    ("model", "what"),
    [
        (climbers(prop=always(is_not_the_one)), "property is_not_the_one answers otherwise with nodes .*"),
        (climbers(prop=sometimes(is_the_one)), "property is_the_one answers otherwise with nodes .*"),
        (
            climbers(prop=always_step(is_not_left_from_the_one)),
            r"property is_not_left_from_the_one of .*climb\(n=.\) .*",
        ),
        (climbers(fly), r".*\.fly\(n=.\) is (enabled|not), but with nodes .*"),
    ],
    ids=["property", "goal", "property of steps", "transition"],
)
def test_one_state_of_28561_that_tells_ids_apart_is_found(model, what):
    told = rf"^climbers/four is not symmetric in its nodes: {what}, where level\[0\] is .*; check it without"
    with pytest.raises(AsymmetryError, match=told):
        required(model)


def test_a_violation_that_symmetry_would_hide_is_not_hidden():
    model = climbers(prop=always(is_not_the_one))
    assert explore_here(model, model.scope).length("is_not_the_one") == 29
    with pytest.raises(AsymmetryError):
        explore_here(model, model.scope, symmetric=True)


def test_what_does_not_tell_ids_apart_is_accepted():
    required(climbers())
    required(token(RECOVER))
    required(token(RECOVER, initial=first_holds))


@pytest.mark.parametrize("name", ASYMMETRIC)
def test_each_way_to_tell_ids_apart_is_refused_with_what_does(name):
    model, complaint = ASYMMETRIC[name]
    told = f"^token/ring is not symmetric in its nodes: {complaint}.*; check it without --symmetry$"
    with pytest.raises(AsymmetryError, match=told):
        required(model)


def test_what_z3_does_not_decide_in_its_work_is_refused():
    told = (
        r"^token/ring is not known to be symmetric in its nodes: z3 has not decided in 0 million steps: .*; "
        "check it without --symmetry$"
    )
    with pytest.raises(AsymmetryError, match=told):
        required(token(), most=0.0)


def name_first(s):
    """A free slot names somebody at the start."""
    s.holder = NOBODY
    s.waiting.slots[1] = 2


def test_a_start_that_names_somebody_in_a_free_slot_is_refused():
    with pytest.raises(AsymmetryError, match="at the start, a free slot of a sequence names somebody"):
        required(token(initial=name_first))


def test_properties_of_liveness_are_not_asked():
    """They are not judged up to symmetry: what they tell apart changes no verdict."""
    favoured = eventually(is_the_one, given=())
    required(climbers(prop=favoured))


def test_ids_are_told_apart_within_a_block_only():
    """Node 0, which alone is told apart, may be named."""
    required(replace(ASYMMETRIC["zero for nobody"][0], interchangeable={"nodes": (1,)}))
    with pytest.raises(AsymmetryError, match="with nodes 0 1 2 renamed 1 0 2"):
        required(replace(ASYMMETRIC["zero for nobody"][0], interchangeable={"nodes": (2,)}))


def nobody_is_chosen(s):
    """No voter is chosen, and nobody leads."""
    s.chosen = NOBODY
    s.leader = NOBODY


def choose(s, v: Id("voters")):
    """A voter leads, and is remembered by all that says something of voters."""
    s.chosen = v
    s.leader = v
    s.marked[v] = 1
    s.seen = with_member(s.seen, v)
    return True


def lead_without_vote(s, n: Node):
    """A node that has no vote leads."""
    if n < len(s.marked):
        return False

    s.leader = n
    return True


def see_all(s):
    """All voters are seen."""
    s.seen = everybody(len(s.marked))
    return True


def see_first(s):
    """One voter is seen, by a constant."""
    s.seen = everybody(1)
    return True


def follow_upwards(s, n: Node):
    """Only nodes above the chosen voter lead."""
    if s.chosen == NOBODY or n <= s.chosen:
        return False

    s.leader = n
    return True


def voters(*steps, apart):
    """Four nodes, of which the first two are voters."""
    scope = {"nodes": 4, "voters": 2}
    state = Record(
        chosen=(Id("voters", nobody=True), "a voter"),
        leader=(Id("nodes", nobody=True), "a node"),
        marked=(Array(Flag(), "voters"), "of each voter"),
        seen=(SetOf("voters"), "some voters"),
    )
    return Model(
        system="voters",
        variant="two",
        story="",
        state=state,
        initial=nobody_is_chosen,
        transitions=tuple(map(Transition, steps)),
        properties=(),
        scope=scope,
        largest=scope,
        lanes=lambda scope: ["cluster"],
        interchangeable={"nodes": apart},
    )


@pytest.mark.parametrize(
    ("steps", "apart", "refused"),
    [
        ((choose, lead_without_vote, see_all), ("voters",), None),
        ((choose,), (), "would set leader to 1, but"),
        ((choose,), (1,), "with nodes 0 1 2 3 renamed 0 2 1 3, would set leader to 2"),
        ((lead_without_vote,), (), r"lead_without_vote\(n=.\) is enabled, but"),
        ((see_first,), ("voters",), r"would set seen to \[1\], but"),
        ((follow_upwards,), ("voters",), r"follow_upwards\(n=.\) is (not|enabled), but"),
    ],
)
def test_ids_of_the_first_nodes_are_renamed_with_them(steps, apart, refused):
    model = voters(*steps, apart=apart)
    if refused is None:
        return required(model)
    with pytest.raises(AsymmetryError, match=refused):
        required(model)


def test_bounded_model_checking_refuses_what_tells_ids_apart():
    model = climbers(prop=always(is_not_the_one))
    with pytest.raises(AsymmetryError, match="property is_not_the_one answers otherwise"):
        violations_within(model, model.scope, model.properties, 3, 10.0, symmetric=True)


def is_symmetric(model):
    """Whether no state in the declared ranges tells ids apart: each is renamed, in plain Python, in every way."""
    execution, symmetry = Execution(model, model.scope), Symmetry(model, model.scope, model.interchangeable)
    ranges = [values(leaf.domain, model.scope) for leaf in execution.leaves]
    return all(is_alike(execution, renaming, state) for state in product(*ranges) for renaming in symmetry.renamings)


def is_alike(execution, renaming, state):
    """Whether a state and its renaming have the same answers and steps, renamed."""
    here, there = execution.from_values(state), execution.from_values(renaming.values(state))
    if list(execution.state_verdicts(here)) != list(execution.state_verdicts(there)):
        return False
    steps = {
        (t.name, renaming.arguments(t, arguments)): renaming.values(execution.key(after))
        for t, arguments, after, _ in execution.steps(here)
    }
    return steps == {(t.name, arguments): execution.key(after) for t, arguments, after, _ in execution.steps(there)}


@settings(max_examples=60)
@given(models())
def test_random_models_are_accepted_if_no_state_tells_ids_apart_and_only_then(model):
    try:
        required(model)
    except AsymmetryError:
        assert not is_symmetric(model)
        return
    assert is_symmetric(model)
    full, reduced = explore(model, model.scope), explore(model, model.scope, symmetric=True)
    symmetry = Symmetry(model, model.scope, model.interchangeable)
    assert {symmetry.least(state) for state in full.graph.states} == {*reduced.graph.states}
    assert (reduced.violated, reduced.reached) == (full.violated, full.reached)
