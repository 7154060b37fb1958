"""A state that notes what is written to it: what it was before, and what is left of it when that is undone."""

from hypothesis import given
from hypothesis import strategies as st

from kafkaproof.spec.cluster.model import CREATING
from kafkaproof.spec.language.layout import leaves
from kafkaproof.spec.language.plain import get, new_state, put, values_of
from kafkaproof.traces.processes.state.watched import before, lengthen, show, undo, watched

SCOPE = {**CREATING.scope, "log": 2, "brokers": 2, "partitions": 2}
LEAVES = leaves(CREATING.state, SCOPE)
WRITES = st.lists(st.tuples(st.sampled_from([leaf.path for leaf in LEAVES]), st.integers(0, 3)), max_size=12)


@given(WRITES, WRITES)
def test_what_it_was_before_some_writes_and_after_they_are_undone(first, second):
    plain, journal = new_state(CREATING.state, SCOPE), {}
    state = watched(plain, journal)
    for path, value in first:
        put(plain, path, value)
        put(state, path, value)
    assert state == plain and state.copy() == plain
    journal.clear()
    for path, value in second:
        put(state, path, value)
    assert set(journal) == {path for path, value in second if _changes(plain, path, second)}
    assert before(state, journal) == plain
    undo(state, journal)
    assert state == plain


def _changes(plain, path, writes):
    return any(each == path and value != get(plain, path) for each, value in writes)


def test_what_was_not_written_is_shared():
    journal = {}
    state = watched(new_state(CREATING.state, SCOPE), journal)
    state.planes[1].brokers[0].log.slots[1].id = 3
    former = before(state, journal)
    assert former.planes[0] is state.planes[0] and former.zk is state.zk
    assert former.planes[1].brokers[1] is state.planes[1].brokers[1]
    assert former.planes[1].brokers[0].log.slots[0] is state.planes[1].brokers[0].log.slots[0]
    assert (former.planes[1].brokers[0].log.slots[1].id, state.planes[1].brokers[0].log.slots[1].id) == (0, 3)


def test_an_array_that_is_lengthened_is_that_of_a_larger_scope():
    journal, larger = {}, new_state(CREATING.state, SCOPE | {"log": 5})
    state = watched(new_state(CREATING.state, SCOPE), journal)
    slots = state.planes[0].brokers[0].log.slots
    lengthen(slots, 6)
    assert slots == larger.planes[0].brokers[0].log.slots and not journal
    slots[5].epoch = 1
    assert journal == {("planes", 0, "brokers", 0, "log", "slots", 5, "epoch"): 0}


def test_an_array_that_shows_its_beginning_is_that_of_a_smaller_scope_and_has_the_others():
    journal, smaller = {}, new_state(CREATING.state, SCOPE | {"partitions": 1})
    state = watched(new_state(CREATING.state, SCOPE), journal)
    path = "brokers", 0, "controller", "partitions"
    show(state, path, 1)
    known = state.brokers[0].controller.partitions
    assert len(known) == 1 and len(list(known)) == 1
    assert values_of(known) == values_of(smaller.brokers[0].controller.partitions) and not journal
    known[1].leader = 1
    former = before(state, journal).brokers[0].controller.partitions
    assert journal == {(*path, 1, "leader"): 0} and (len(former), former[1].leader) == (1, 0)
    assert len(state.copy().brokers[0].controller.partitions) == 2
    show(state, path, 2)
    assert [each.leader for each in state.brokers[0].controller.partitions] == [0, 1]
