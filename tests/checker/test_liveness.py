"""Liveness on walks over coloured graphs: known verdicts, and three ways of deciding that agree.

The independent answer is the definition itself: every set of nodes that one can go round in is asked whether a
behaviour that stays there is fair.
"""

from itertools import product
from tempfile import TemporaryDirectory
from unittest import mock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from checker.liveness import decide as deciding
from checker.liveness.lasso import reasons
from checker.local import explore_here
from checker.reference import violations
from checker.rundir import RunDirectory
from spec.language.fairness import at_last, finitely, strong, weak
from spec.language.model import eventually, eventually_always
from tests.checker.in_process import InProcess
from tests.checker.models import explored, kernel_of
from tests.toys import at_goal, at_question, before_calm, colours, in_calm

NODES = 5
EACH = ("to",)
ASSUMPTIONS = {
    "nothing": (),
    "weak red": (weak("red"),),
    "weak each red": (weak("red", each=EACH),),
    "strong red": (strong("red"),),
    "strong each red, weak blue": (strong("red", each=EACH), weak("blue")),
    "strong both": (strong("red"), strong("blue")),
    "weak together": (weak("red", "blue"),),
    "weak with a leap": (weak("red", "leap"), weak("blue")),
    "strong leap": (strong("leap"), weak("red")),
    "finitely blue": (finitely("blue"), weak("red")),
    "finitely to calm": (finitely("red", "blue", when=before_calm), weak("red", "blue")),
    "weak to calm": (weak("red", when=before_calm), strong("blue", each=EACH)),
    "calm at last": (at_last(in_calm), weak("red")),
}
PROPERTIES = {
    f"{kind}, {name}": property_
    for name, assumed in ASSUMPTIONS.items()
    for kind, property_ in {
        "always again": eventually(at_goal, given=assumed), "after": eventually(at_goal, after=at_question, given=assumed),
        "settles": eventually_always(at_goal, given=assumed),
    }.items()
}
SETS = st.integers(0, (1 << NODES) - 1)
WALKS = st.fixed_dictionaries({
    "reds": st.lists(SETS, min_size=NODES, max_size=NODES), "blues": st.lists(SETS, min_size=NODES, max_size=NODES),
    "ledges": SETS, "goal": SETS, "question": SETS, "calm": SETS,
})


def members(mask):
    """The nodes of a set."""
    return {node for node in range(NODES) if mask >> node & 1}


def steps_of(walk):
    """(node, transition, end) of every step that changes the node; the end of a leap is None."""
    for node in range(NODES):
        for name, ends in (("red", walk["reds"]), ("blue", walk["blues"])):
            yield from ((node, name, end) for end in members(ends[node]) - {node})
        if node in members(walk["ledges"]):
            yield node, "leap", None


def actions_of(walk, assumption):
    """The sets of steps that an assumption speaks of."""
    steps = [step for step in steps_of(walk) if step[1] in assumption.of]
    if assumption.when:
        steps = [step for step in steps if step[2] in members(walk["calm"])]
    ends = range(NODES) if assumption.each else [None]
    return [{step for step in steps if end is None or step[2] == end} for end in ends]


def is_fair(walk, given, nodes):
    """Whether going round in `nodes`, by every step within them, keeps what is given; and whether one can."""
    finite = set().union(*(s for a in given if a.kind == "finitely" for s in actions_of(walk, a)))
    inner = {step for step in steps_of(walk) if {step[0], step[2]} <= nodes} - finite
    reached, goes_on = {min(nodes)}, True
    while goes_on:
        goes_on = {end for node, _, end in inner if node in reached} - reached
        reached |= goes_on
    back = {min(nodes)}
    while more := {node for node, _, end in inner if end in back} - back:
        back |= more
    if reached != nodes or back != nodes:
        return False
    for assumption in given:
        if assumption.kind == "at last" and not nodes <= members(walk["calm"]):
            return False
        for action in actions_of(walk, assumption) if assumption.kind in ("weak", "strong") else ():
            enabled = {step[0] for step in action} & nodes
            starved = enabled == nodes if assumption.kind == "weak" else enabled
            if starved and not action & inner:
                return False
    return True


def distances(walk, start, length, allowed):
    """How many states a shortest way has that is `length` long at `start`, and then stays within `allowed`."""
    found, here = {start: length}, {start}
    while here:
        here = {end for node, _, end in steps_of(walk) if node in here and end in allowed} - found.keys()
        length += 1
        found |= {node: length for node in here}
    return found


def shortest_by_definition(walk, prop):
    """The states of a shortest way to a fair set that avoids the goal, or None."""
    goal, everything = members(walk["goal"]), set(range(NODES))
    waiting = distances(walk, 0, 1, everything)
    if prop.kind == "eventually":
        asks = members(walk["question"]) if prop.after else everything
        ways = [distances(walk, node, waiting[node], everything - goal) for node in (asks - goal) & waiting.keys()]
        waiting = {node: min(way[node] for way in ways if node in way) for node in set().union(*ways)}
    lengths = [
        min(waiting[node] for node in nodes)
        for chosen in product((False, True), repeat=NODES)
        if (nodes := {node for node in range(NODES) if chosen[node]}) and nodes <= waiting.keys()
        and (prop.kind == "eventually" or nodes - goal) and is_fair(walk, prop.given, nodes)
    ]
    return min(lengths, default=None)


@pytest.mark.parametrize("name", PROPERTIES)
@settings(max_examples=12)
@given(walk=WALKS)
def test_every_way_of_deciding_agrees_with_the_definition(name, walk):
    prop = PROPERTIES[name]
    model = colours(walk, (prop,))
    expected = shortest_by_definition(walk, prop)
    found = explore_here(model, model.scope)
    assert found.length("at_goal") == expected
    assert violations(model, model.scope).get("at_goal") == expected
    if expected is not None:
        assert reasons(found.traces["at_goal"], prop)


IN_ROUNDS = [name for name in PROPERTIES if name.endswith(("strong each red, weak blue", "weak with a leap"))]
TURN = {"reds": [2, 12, 1, 8, 0], "blues": [0, 4, 2, 0, 0], "ledges": 0, "goal": 16, "question": 2, "calm": 31}
"""0 to 1, from there round 0, 1 and round 1, 2 for ever, or to 3 where nothing more happens."""


def decided_apart(walk, prop, context):
    """The way of the lasso that three partitions find together, or None."""
    model = colours(walk, (prop,))
    with TemporaryDirectory() as directory:
        run, kernel = RunDirectory(directory), kernel_of(model)
        run.create({})
        explored(run, kernel)
        (decided,) = deciding.decide(run, kernel, context=context, partitions=3, in_memory=0)
    return decided.lasso and decided.lasso.states


@pytest.mark.parametrize("name", IN_ROUNDS)
@settings(max_examples=5)
@given(walk=WALKS)
def test_rounds_of_messages_agree_with_the_definition(name, walk):
    with mock.patch.object(deciding, "Partitions", InProcess):
        assert decided_apart(walk, PROPERTIES[name], True) == shortest_by_definition(walk, PROPERTIES[name])


def test_spark_agrees_with_the_definition(spark):
    prop = PROPERTIES["after, strong each red, weak blue"]
    assert decided_apart(TURN, prop, spark) == shortest_by_definition(TURN, prop) is not None
