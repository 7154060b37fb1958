"""Renaming ids moves what belongs to them and maps what names them, and nothing else."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from kafkaproof.spec.catalogue import find
from kafkaproof.spec.language.domains import Array, Bound, Id, Number, Record, Sequence, SetOf
from kafkaproof.spec.language.plain import from_json, put, to_json, values_of
from kafkaproof.spec.language.renaming import Symmetry
from tests import toys
from tests.spec.declarations import records, states

SCOPE = {"ids": 3, "few": 2, "size": 2, "limit": 5}
GROUPS = ({"ids": ()}, {"ids": (), "few": ()}, {"ids": ("few",)}, {"ids": (1,)})
STATE = Record(
    levels=(Array(Number(0, 9), "ids"), "by id"),
    trust=(Array(Array(Number(0, 9), "ids"), "ids"), "by two ids"),
    leader=(Id("ids", nobody=True), "an id"),
    known=(SetOf("ids"), "a set"),
    queue=(Sequence(Id("ids"), Bound("size")), "in order"),
    receiver=(Id("few"), "one of the first"),
)
BEFORE = {
    "levels": [4, 5, 6],
    "trust": [[0, 1, 2], [3, 4, 5], [6, 7, 8]],
    "leader": 0,
    "known": [0, 1],
    "queue": [2],
    "receiver": 1,
}


def symmetry_of(state, interchangeable):
    """The permutations of states of a record at `SCOPE`."""
    return Symmetry(replace(toys.clock(), state=state), SCOPE, interchangeable)


def renamed(images, before=BEFORE):
    """A state of `STATE`, as JSON, where each id i is renamed images[i]."""
    symmetry, plain = symmetry_of(STATE, {"ids": ("few",)}), from_json(STATE, before, SCOPE)
    values = symmetry.renaming({"ids": images}).values(tuple(values_of(plain)))
    for named, value in zip(symmetry.leaves, values):
        put(plain, named.leaf.path, value)
    return to_json(STATE, plain, SCOPE)


def test_ids_sets_arrays_and_queues_are_renamed_and_nobody_and_free_slots_are_not():
    after = renamed((1, 0, 2))
    assert after == {
        "levels": [5, 4, 6],
        "trust": [[4, 3, 5], [1, 0, 2], [7, 6, 8]],
        "leader": 1,
        "known": [0, 1],
        "queue": [2],
        "receiver": 0,
    }
    assert renamed((1, 0, 2), after) == BEFORE
    assert renamed((2, 1, 0), {**BEFORE, "leader": None, "known": [0], "queue": []}) == {
        "levels": [6, 5, 4],
        "trust": [[8, 7, 6], [5, 4, 3], [2, 1, 0]],
        "leader": None,
        "known": [2],
        "queue": [],
        "receiver": 1,
    }


@st.composite
def symmetries(draw):
    """A symmetry of some declaration, with the values of a state."""
    state = draw(records)
    symmetry = symmetry_of(state, draw(st.sampled_from(GROUPS)))
    return symmetry, tuple(values_of(draw(states(state, SCOPE))))


@given(symmetries(), st.data())
def test_renamings_are_a_group_and_stay_within_the_declaration(case, data):
    symmetry, values = case
    one, other = data.draw(st.sampled_from(symmetry.images)), data.draw(st.sampled_from(symmetry.images))
    both = {sort: tuple(other[sort][i] for i in images) for sort, images in one.items()}
    once = symmetry.renaming(one).values(values)
    assert symmetry.renamings[0].values(values) == values
    assert symmetry.renaming(other).values(once) == symmetry.renaming(both).values(values)
    assert all(named.leaf.low <= value <= named.leaf.high for named, value in zip(symmetry.leaves, once))
    assert len(symmetry.renamings) == len({str(images) for images in symmetry.images}) == symmetry.count


@given(symmetries(), st.data())
def test_the_least_renaming_is_the_same_for_all_and_leads_back(case, data):
    symmetry, values = case
    other = data.draw(st.sampled_from(symmetry.renamings)).values(values)
    assert symmetry.least(other) == symmetry.least(values)
    assert symmetry.between(other, values).values(other) == values


def test_the_first_ids_stay_among_themselves_where_a_part_says_so():
    blocks = [symmetry_of(STATE, group).blocks for group in GROUPS]
    assert blocks == [
        {"ids": [range(3)]},
        {"ids": [range(3)], "few": [range(2)]},
        {"ids": [range(2), range(2, 3)]},
        {"ids": [range(1), range(1, 3)]},
    ]
    assert [symmetry_of(STATE, group).count for group in GROUPS] == [6, 12, 2, 2]


def test_a_sort_of_one_id_has_nothing_to_rename():
    model = find("replication", "kip320")[0]
    symmetry = Symmetry(model, model.scope | {"brokers": 1}, model.interchangeable)
    assert (symmetry.count, symmetry.blocks) == (1, {})


def test_arguments_are_renamed_by_their_domains():
    model = find("replication", "kip320")[0]
    symmetry = Symmetry(model, model.scope, model.interchangeable)
    renaming = symmetry.renaming({"brokers": (2, 0, 1)})
    assert renaming.arguments(model.transition("become_follower"), (0, 1, 2)) == (2, 0, 2)
    assert str(renaming) == "brokers 0 1 2 renamed 2 0 1"
