"""A guard that is asked before all arguments are chosen refuses only what the transition refuses."""

import ast
from collections import Counter

import pytest

from kafkaproof.checker.compile.guards import early_guards
from kafkaproof.checker.model.execution import Execution
from kafkaproof.spec.catalogue import find
from kafkaproof.spec.language.domains import Id
from tests.checker.models import FIRST
from tests.checker.samples import sample, small_scope
from tests.checker.test_explorer import ONE_OF_EACH

Member = Id("members")


def in_python(guard):
    """A guard, as a function of Python."""
    tree = ast.parse(ast.unparse(guard.tree))
    for argument in tree.body[0].args.args:
        argument.annotation = None
    names = dict(guard.names)
    exec(compile(tree, "guard", "exec"), names)
    return names[guard.tree.name]


@pytest.mark.parametrize("name", ONE_OF_EACH)
def test_what_a_guard_refuses_no_choice_of_the_other_arguments_makes_possible(name):
    model, _ = FIRST[name]
    scope, asked = small_scope(model), 0
    execution = Execution(model, scope)
    for transition in model.transitions:
        guards = {n: in_python(g) for n, g in early_guards(transition.function, len(transition.arguments)).items()}
        for state in sample(execution, 40) if guards else ():
            before = execution.key(state)
            refused = {
                (*choice[:known],)
                for known, guard in guards.items()
                for choice in transition.choices(scope)
                if not guard(state, *choice[:known])
            }
            assert execution.key(state) == before, transition.name
            for found, arguments, _ in execution.successors(state, Counter()):
                if found is transition:
                    assert not {arguments[:known] for known in guards} & refused, (transition.name, arguments)
            asked += len(refused)
    assert asked or name not in ("replication/kip320", "partition/fenced", "election/fenced", "cluster/fenced")


def changes(s):
    s.count += 1
    return s.count


def in_order(s, m: Member, other: Member):
    mine = s.members[m]
    if s.closed or mine.left or other == m or mine.tired:
        return False
    if s.members[m].late:
        return False
    return True


def behind_an_index(s, m: Member, other: Member):
    there = s.members[s.members[other].friend]
    if s.closed:
        return False
    there.left = 1
    return True


def behind_a_write(s, m: Member, other: Member):
    answer = changes(s)
    if s.closed or answer > 3:
        return False
    return True


def behind_a_place(s, m: Member, other: Member):
    there = s.members[other].log
    if s.closed:
        return False
    there.length = 0
    return True


def asked(function):
    """The tests of each early guard, as text."""
    found = early_guards(function, len(function.__annotations__))
    return {
        known: [ast.unparse(node.test) for node in guard.tree.body if isinstance(node, ast.If)]
        for known, guard in found.items()
    }


def test_guards_keep_their_order_and_end_at_the_first_that_needs_a_later_argument():
    assert asked(in_order) == {0: ["s.closed"], 1: ["s.closed", "mine.left"]}


def test_what_may_fail_or_write_is_not_passed():
    assert asked(behind_an_index) == {} and asked(behind_a_write) == {}
    assert asked(behind_a_place) == {0: ["s.closed"]}


def test_a_guard_of_an_actor_is_asked_once_for_all_that_it_may_do():
    shrink = next(t for t in find("replication", "kip320")[0].transitions if t.name.endswith("leader_shrink_isr"))
    assert asked(shrink.function) == {
        1: ["not is_true_leader(s, leader)"],
        2: ["not is_true_leader(s, leader)", "leader == follower", "not contains(isr, follower)"],
    }
