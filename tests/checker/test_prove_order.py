"""Of orders of independent steps one is asked for: it is the first of them, and no state is missed or reached later."""

from collections import Counter
from itertools import combinations, permutations

import pytest

from kafkaproof.checker.model.execution import Execution
from kafkaproof.checker.prove.encoding import Encoding
from kafkaproof.checker.prove.naming import naming_of
from kafkaproof.checker.prove.order import touched
from kafkaproof.checker.prove.relation import Relation
from kafkaproof.checker.prove.unrolling import Unrolling
from kafkaproof.spec.catalogue import find
from kafkaproof.spec.language.domains import Array, Bound, Id, Number, Record
from kafkaproof.spec.language.model import Model, Transition
from kafkaproof.spec.language.renaming import Symmetry
from tests.checker.samples import sample, small_scope

Node = Id("nodes")


def work(s, n: Node):
    """A node has done one thing more."""
    s.done[n] += 1
    return True


def hand_over(s, n: Node, to: Node):
    """A node hands over what it has done."""
    if n == to or s.done[n] == 0:
        return False

    s.done[to] += s.done[n]
    s.done[n] = 0
    return True


def note(s, n: Node):
    """It is noted how much a node has done."""
    s.noted = s.done[n]
    return True


def look(s, n: Node):
    """A step that changes nothing."""
    if s.done[n] == 0:
        return False

    return True


def start(s):
    """Nothing is done."""


SCOPE = {"nodes": 3, "much": 4}
WORKERS = Model(
    system="workers",
    variant="toy",
    story="",
    initial=start,
    properties=(),
    scope=SCOPE,
    largest=SCOPE,
    state=Record(
        done=(Array(Number(0, Bound("much")), "nodes"), "what each has done"),
        noted=(Number(0, 9), "how much somebody had done"),
    ),
    transitions=tuple(map(Transition, (look, work, hand_over, note))),
    interchangeable={"nodes": ()},
    lanes=lambda scope: ["cluster"],
)


def unrolled(states, naming=naming_of):
    relation = Relation(WORKERS, WORKERS.scope, frozenset(), 8)
    unrolling = Unrolling(Encoding(relation, naming(relation) if naming else None), 100)
    for _ in range(states - 1):
        unrolling.extend()
    return unrolling


def allows(unrolling, steps=(), last=None):
    """Whether there is a behaviour that begins with actions of these numbers, and ends in a state."""
    encoding = unrolling.encoding
    asked = [unrolling._steps[k][encoding.taken[i] - 2 * encoding.state - 1] for k, i in enumerate(steps)]
    if last is not None:
        asked += [
            unrolling._bits[unrolling.states - 1][abs(i) - 1] * (1 if i > 0 else -1) for i in encoding.literals(last)
        ]
    return unrolling._solver.solve([int(literal) for literal in asked])


def behaviours(relation, length):
    """The numbers of the actions of each behaviour of so many steps."""
    execution = Execution(relation.model, relation.scope)
    found = [((), state) for state in execution.initial_states()]
    for _ in range(length):
        found = [
            ((*word, i), after)
            for word, state in found
            for i, action in enumerate(relation.actions)
            if (after := execution.after(state, action.transition, action.arguments)) is not None
        ]
    return [word for word, _ in found]


def exchanged(word, independent):
    """All that exchanges of neighbours make of a behaviour."""
    found, open_ = {word}, [word]
    while open_:
        word = open_.pop()
        for k in range(len(word) - 1):
            other = word[:k] + (word[k + 1], word[k]) + word[k + 2 :]
            if frozenset(word[k : k + 2]) in independent and other not in found:
                found.add(other)
                open_.append(other)
    return found


def are_independent(one, other):
    return not (one.writes & (other.reads | other.writes) or other.writes & one.reads)


def independent_pairs(relation):
    every = [touched(relation, action) for action in relation.actions]
    return [(i, j) for i, j in combinations(range(len(every)), 2) if are_independent(every[i], every[j])]


def test_of_each_behaviour_the_first_order_of_all_steps_but_the_last_is_allowed():
    unrolling = unrolled(5, naming=None)
    relation = unrolling.encoding.relation
    independent = set(map(frozenset, independent_pairs(relation)))
    words = set(behaviours(relation, 4))
    allowed = {word for word in words if allows(unrolling, word)}
    assert allowed == {word for word in words if word[:3] == min(exchanged(word[:3], independent))}
    assert 0 < len(allowed) < len(words)


@pytest.mark.parametrize("naming", [None, naming_of])
def test_every_state_is_reached_at_its_depth_up_to_renaming_and_none_sooner(naming):
    execution, symmetry = Execution(WORKERS, WORKERS.scope), Symmetry(WORKERS, WORKERS.scope, {"nodes": ()})
    renamings = [symmetry.renaming({"nodes": to}) for to in (permutations(range(3)) if naming else [(0, 1, 2)])]
    level, seen = execution.initial_states(), set()
    for states in range(1, 6):
        unrolling = unrolled(states, naming)
        for state in level:
            images = [execution.from_values(to.values(execution.key(state))) for to in renamings]
            assert any(allows(unrolling, last=image) for image in images)
        seen |= set(map(execution.key, level))
        after = {execution.key(s): s for state in level for _, _, s in execution.successors(state, Counter())}
        level = [state for key, state in after.items() if key not in seen]
        assert not any(allows(unrolling, last=state) for state in level)


@pytest.mark.parametrize(
    "model",
    [
        WORKERS,
        *find("election", "legacy"),
        *find("replication", "kip320"),
        *find("async-isr", "shrunk-isr"),
        *find("replica", "epoch279"),
    ],
    ids=lambda model: model.system,
)
def test_independent_steps_may_change_places(model):
    scope = small_scope(model)
    relation, execution = Relation(model, scope, frozenset(), 8, ()), Execution(model, scope)
    actions, both = relation.actions, 0
    pairs = [(i, j) for i, j in independent_pairs(relation) if not actions[i].symbols + actions[j].symbols]

    def follow(state, i):
        return state and execution.after(state, actions[i].transition, actions[i].arguments)

    for state in sample(execution, 6):
        after = {i: follow(state, i) for pair in pairs for i in pair}
        for i, j in pairs:
            one, two = follow(after[i], j), follow(after[j], i)
            assert (one and execution.key(one)) == (two and execution.key(two))
            both += one is not None
    assert both


@pytest.mark.parametrize(
    "system, variant, sizes",
    [
        ("election", "fenced", (3, 2, 1, 1)),
        ("replication", "kip320", (4, 1, 1, 1)),
        ("async-isr", "shrunk-isr", (3, 1, 1)),
        ("replica", "hw", (3, 1, 1, 1, 1, 1, 0)),
    ],
)
def test_a_step_that_waits_for_an_id_has_a_higher_number_than_if_it_named_that_id(system, variant, sizes):
    (model,) = find(system, variant)
    relation = Relation(model, dict(zip(model.scope, sizes)), frozenset(), 8, ())
    numbers = {(a.transition.name, *map(str, a.arguments)): i for i, a in enumerate(relation.actions)}
    waiting = naming_of(relation).needed
    for (sort, former), needing in waiting.items():
        latter = next(b for b in range(former + 1, relation.scope[sort]) if (sort, b) in waiting or b == former + 1)
        swapped = {former: latter, latter: former}
        for i in needing:
            action = relation.actions[i]
            named = [
                swapped.get(value, value) if isinstance(domain, Id) and domain.sort == sort else value
                for domain, value in zip(action.transition.declared.values(), action.arguments)
            ]
            assert numbers[action.transition.name, *map(str, named)] < i
    assert any(waiting.values())
