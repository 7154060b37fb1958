"""Proofs of one action of all alike: what is left out is the renaming of what is asked, and not told apart from it."""

import pytest
import z3

from kafkaproof.checker.model.execution import Execution
from kafkaproof.checker.prove import proof as proofs
from kafkaproof.checker.prove.facts import property_family, ranges_of, sequences_of
from kafkaproof.checker.prove.proof import NOT_INDUCTIVE, PROVED, RANGES, prove
from kafkaproof.checker.prove.relation import Relation
from kafkaproof.checker.prove.symmetry import Renamed, generators, representatives
from kafkaproof.checker.prove.variables import bounds_of
from kafkaproof.checker.prove.work import Work
from kafkaproof.spec.catalogue import find
from kafkaproof.spec.language.model import Transition, always, always_step
from kafkaproof.spec.language.plain import copied, put
from kafkaproof.spec.language.renaming import Symmetry
from tests.checker.asymmetric import ASYMMETRIC, RECOVER, Node, holder_is_well, token
from tests.checker.samples import sample, small_scope, state_terms

(FENCED,) = find("election", "fenced")


def asked_of(model, scope=None):
    """The names of the actions that stand for all, and how many there are."""
    relation = Relation(model, scope or model.scope, bounds_of(model))
    always_ones = [property_family(relation, p.name) for p in model.properties if p.kind == "always"]
    base = ranges_of(relation) + sequences_of(relation)
    return [a.name for a in representatives(relation, base, always_ones, Work(100))], len(relation.actions)


@pytest.mark.parametrize("model", [token(), FENCED, *find("replica", "current")], ids=lambda model: model.system)
def test_terms_are_renamed_as_states_are(model):
    scope = small_scope(model)
    relation, execution = Relation(model, scope, bounds_of(model)), Execution(model, scope)
    symmetry = Symmetry(model, scope, model.interchangeable)
    for renaming in map(symmetry.renaming, generators(symmetry)):
        renamed = Renamed(relation, renaming)
        for state in sample(execution, 4):
            other = copied(state)
            for named, value in zip(symmetry.leaves, renaming.values(execution.key(state))):
                put(other, named.leaf.path, value)
            terms, wanted = (state_terms(relation.variables, s) for s in (state, other))
            found = renamed.store(terms)
            for place in relation.variables.places:
                one, two = found.get(place.path), wanted.get(place.path)
                same = one == two if not place.starred else z3.And(*(one[i] == two[i] for i in range(2)))
                assert place.spare or z3.is_true(z3.simplify(same)), place.expression


def test_permutations_are_made_of_two_that_change_places_and_a_turn():
    symmetry = Symmetry(token(), {**token().scope, "nodes": 4}, {"nodes": (1,)})
    assert sorted(made["nodes"] for made in generators(symmetry)) == [(0, 2, 1, 3), (0, 2, 3, 1)]
    assert len(generators(Symmetry(token(), {**token().scope, "nodes": 2}, {"nodes": ()}))) == 1


def test_of_symmetric_actions_the_first_is_asked():
    assert asked_of(token(RECOVER)) == (
        ["asymmetric.ask(n=0)", "asymmetric.fall_ill(n=0)", "asymmetric.grant()", "asymmetric.recover(n=0)"],
        10,
    )


def test_questions_about_elections_do_not_grow_with_brokers():
    (few, count), (many, more) = (asked_of(FENCED, {**FENCED.scope, "brokers": brokers}) for brokers in (2, 3))
    assert few == many and len(few) == count < more


ALL = (
    "one id",
    "a comparison of ids",
    "arithmetic",
    "the lesser of two",
    "what is cut",
    "what is always cut",
    "who takes a step",
    "a property of states",
    "a property of two",
    "a property of steps",
)


@pytest.mark.parametrize("case", ASYMMETRIC)
def test_where_actions_or_properties_tell_ids_apart_all_are_asked(case):
    model, _ = ASYMMETRIC[case]
    asked, count = asked_of(model)
    assert (len(asked) == count) == (case in ALL)


def write_id(s, n: Node):
    """A node writes its id as a number: a step that all can take, each with an effect of its own."""
    s.left = n
    return True


def last_was_not_served(before, after):
    """The node with the highest id never gets the token."""
    return after.served[2] == before.served[2]


@pytest.mark.parametrize(
    "model",
    [token(Transition(write_id)), token(properties=(always_step(last_was_not_served),))],
    ids=["effect", "property of all steps"],
)
def test_where_effects_or_properties_of_all_steps_tell_ids_apart_all_are_asked(model):
    asked, count = asked_of(model)
    assert len(asked) == count


def test_without_work_all_are_asked():
    relation = Relation(token(), token().scope, bounds_of(token()))
    assert representatives(relation, ranges_of(relation), [], Work(0)) == relation.actions


def spend(s, n: Node):
    """A node gives back one of its turns."""
    s.served[n] -= 1
    return True


def verdicts(monkeypatch, model):
    """The verdict on each property with the action that breaks it, and of how many actions was asked each time."""
    asked = []

    class Noted(proofs.Prover):
        def __init__(self, *given):
            super().__init__(*given)
            asked.append(len(self.questions))

    monkeypatch.setattr(proofs, "Prover", Noted)
    found = prove(model, model.scope, model.properties, (), 100.0)
    return {v.name: (v.verdict, v.where) for v in found.verdicts}, asked


@pytest.mark.parametrize(
    "case, prop, where",
    [
        ("a property of states", "last_is_well", "asymmetric.fall_ill(n=2)"),
        ("one id", "somebody_holds", "asymmetric.only_last_gives_back(n=2)"),
    ],
)
def test_what_one_id_alone_breaks_is_not_inductive(monkeypatch, case, prop, where):
    found, asked = verdicts(monkeypatch, ASYMMETRIC[case][0])
    assert found[prop] == (NOT_INDUCTIVE, where) and asked[0] >= 7


def test_what_every_id_breaks_is_named_by_the_first(monkeypatch):
    found, asked = verdicts(monkeypatch, token(properties=(always(holder_is_well),)))
    assert found["holder_is_well"] == (NOT_INDUCTIVE, "asymmetric.fall_ill(n=0)") and asked == [3]


def test_all_are_asked_again_where_declared_ranges_are_not_proved(monkeypatch):
    found, asked = verdicts(monkeypatch, token(Transition(spend)))
    assert found[RANGES] == (NOT_INDUCTIVE, "range of served: test_prove_symmetry.spend(n=0)") and asked == [4, 10]


def test_steps_of_all_are_counted(monkeypatch):
    model = token(RECOVER)
    proof = prove(model, model.scope, model.properties, (), 100.0)
    assert [(v.verdict, v.instances) for v in proof.verdicts if v.kind == "step"] == [(PROVED, 10)]
    assert verdicts(monkeypatch, model)[1] == [4]
