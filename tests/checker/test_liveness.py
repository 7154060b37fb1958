"""Liveness on walks over coloured graphs: known verdicts, and three ways of deciding that agree.

The independent answer is the definition itself: every set of nodes that one can go round in is asked whether a
behaviour that stays there is fair.
"""

from dataclasses import replace
from itertools import product
from tempfile import TemporaryDirectory
from unittest import mock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafkaproof.checker.check.local import explore_here
from kafkaproof.checker.explore.reference import violations
from kafkaproof.checker.liveness import decide as deciding
from kafkaproof.checker.liveness.lasso import reasons
from kafkaproof.checker.runs.counterexample import TraceError, executed
from kafkaproof.checker.runs.directory import RunDirectory
from kafkaproof.spec.language.fairness import at_last, finitely, strong, weak
from kafkaproof.spec.language.model import always, eventually, eventually_always
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
    "weak with a slip": (weak("red", "slip"), weak("blue")),
    "strong slip": (strong("slip"), strong("blue", "slip", each=EACH)),
    "finitely blue": (finitely("blue"), weak("red")),
    "finitely to calm": (finitely("red", "blue", when=before_calm), weak("red", "blue")),
    "weak to calm": (weak("red", when=before_calm), strong("blue", each=EACH)),
    "calm at last": (at_last(in_calm), weak("red")),
}
PROPERTIES = {
    f"{kind}, {name}": property_
    for name, assumed in ASSUMPTIONS.items()
    for kind, property_ in {
        "always again": eventually(at_goal, given=assumed),
        "after": eventually(at_goal, after=at_question, given=assumed),
        "settles": eventually_always(at_goal, given=assumed),
    }.items()
}
SETS = st.integers(0, (1 << NODES) - 1)
WALKS = st.fixed_dictionaries(
    {
        "reds": st.lists(SETS, min_size=NODES, max_size=NODES),
        "blues": st.lists(SETS, min_size=NODES, max_size=NODES),
        "ledges": SETS,
        "ice": SETS,
        "goal": SETS,
        "question": SETS,
        "calm": SETS,
        "slips": st.integers(0, 1),
    }
)


def members(mask, slips=0):
    """The places of a set of nodes after so many slips: node 1 is 1 before any, and 6 after one."""
    return {node + NODES * slips for node in range(NODES) if mask >> node & 1}


def anywhere(mask):
    """The places of a set of nodes, whether one has slipped or not."""
    return members(mask) | members(mask, 1)


def steps_of(walk):
    """(place, transition, end) of every step that changes something; the end of a leap is None."""
    for slips, node in product(range(walk["slips"] + 1), range(NODES)):
        place = node + NODES * slips
        for name, ends in (("red", walk["reds"]), ("blue", walk["blues"])):
            yield from ((place, name, end) for end in members(ends[node], slips) - {place})
        if node in members(walk["ledges"]):
            yield place, "leap", None
        if node in members(walk["ice"]) and slips < walk["slips"]:
            yield from ((place, "slip", end) for end in members(walk["reds"][node], slips + 1))


def actions_of(walk, assumption):
    """The sets of steps that an assumption speaks of: nobody owes a slip, whatever is assumed of it."""
    steps = [step for step in steps_of(walk) if step[1] in assumption.of and step[1] != "slip"]
    if assumption.when:
        steps = [step for step in steps if step[2] in anywhere(walk["calm"])]
    ends = range(NODES) if assumption.each else [None]
    return [{step for step in steps if end is None or step[2] % NODES == end} for end in ends]


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
        if assumption.kind == "at last" and not nodes <= anywhere(walk["calm"]):
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
    goal, everything = anywhere(walk["goal"]), set(range(NODES * (walk["slips"] + 1)))
    waiting = distances(walk, 0, 1, everything)
    if prop.kind == "eventually":
        asks = anywhere(walk["question"]) if prop.after else everything
        ways = [distances(walk, node, waiting[node], everything - goal) for node in (asks - goal) & waiting.keys()]
        waiting = {node: min(way[node] for way in ways if node in way) for node in set().union(*ways)}
    lengths = [
        min(waiting[node] for node in nodes)
        for slips, chosen in product(range(walk["slips"] + 1), range(1, 1 << NODES))
        if (nodes := members(chosen, slips)) <= waiting.keys()
        and (prop.kind == "eventually" or nodes - goal)
        and is_fair(walk, prop.given, nodes)
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


IN_ROUNDS = [name for name in PROPERTIES if name.endswith(("strong each red, weak blue", "with a leap", "with a slip"))]
TURN = {
    "reds": [2, 12, 1, 8, 0],
    "blues": [0, 4, 2, 0, 0],
    "ledges": 0,
    "ice": 0,
    "goal": 8,
    "question": 2,
    "calm": 31,
    "slips": 0,
}
"""0 to 1, from there round 0, 1 and round 1, 2 for ever, or to 3 where nothing more happens."""
STRONGLY, WEAKLY = (
    eventually(at_goal, after=at_question, given=(fair("red", each=EACH), weak("blue")), name=name)
    for name, fair in (("strongly", strong), ("weakly", weak))
)
"""In 1 one can always go to 3, and in 0 and 2 not: only who is strongly fair comes there."""


def decided_apart(walk, properties, context):
    """What three partitions decide together of each property."""
    model = colours(walk, properties)
    with TemporaryDirectory() as directory:
        run, kernel = RunDirectory(directory), kernel_of(model)
        run.create({})
        explored(run, kernel)
        return deciding.decide(run, kernel, context=context, partitions=3, in_memory=0)


def way_of(decided):
    """The states of the way to the lasso, or None."""
    return decided.lasso and decided.lasso.states


@pytest.mark.parametrize("name", IN_ROUNDS)
@settings(max_examples=5)
@given(walk=WALKS)
def test_rounds_of_messages_agree_with_the_definition(name, walk):
    with mock.patch.object(deciding, "Partitions", InProcess):
        (decided,) = decided_apart(walk, (PROPERTIES[name],), True)
    assert way_of(decided) == shortest_by_definition(walk, PROPERTIES[name])


def test_spark_agrees_with_the_search_in_memory(spark):
    model = colours(TURN, (STRONGLY, WEAKLY))
    here = explore_here(model, model.scope).decided
    there = decided_apart(TURN, (STRONGLY, WEAKLY), spark)
    assert [way_of(d) for d in there] == [shortest_by_definition(TURN, p) for p in (STRONGLY, WEAKLY)] == [None, 2]
    assert [(d.waiting, d.cut, d.vacuous) for d in there] == [(d.waiting, d.cut, d.vacuous) for d in here]
    assert [d.reasons for d in there] == [d.reasons for d in here]


@pytest.mark.parametrize("slips", [0, 1])
@pytest.mark.parametrize("fair", [weak, strong])
def test_a_fault_keeps_nobody_from_resting_whether_its_budget_is_spent_or_not(slips, fair):
    walk = TURN | {"reds": [8, 0, 0, 0, 0], "blues": [0] * NODES, "ice": 1, "slips": slips}
    prop = eventually(at_goal, given=(fair("slip"),))
    model = colours(walk, (prop,))
    assert explore_here(model, model.scope).length("at_goal") == violations(model, model.scope)["at_goal"] == 1


def test_an_assumption_of_steps_that_are_nowhere_possible_is_told():
    walk = TURN | {"ice": 31, "slips": 1}
    prop = eventually(at_goal, given=(weak("slip"), weak("red"), strong("leap"), finitely("blue", when=before_calm)))
    model = colours(walk, (prop,))
    (here,) = explore_here(model, model.scope).decided
    with mock.patch.object(deciding, "Partitions", InProcess):
        (there,) = decided_apart(walk, (prop,), True)
    assert here.idle == there.idle == ("weak fairness of slip", "strong fairness of leap")


NEVER_CALM = eventually(at_goal, given=(at_last(in_calm), weak("red")))
NEVER_ASKED = eventually(at_goal, after=at_question, given=(weak("red"),))


@pytest.mark.parametrize(
    ("walk", "prop"),
    [(TURN | {"calm": 0}, NEVER_CALM), (TURN | {"question": 16}, NEVER_ASKED)],
    ids=["what must last never holds", "nothing asks"],
)
def test_what_holds_because_nothing_is_asked_of_it_is_told(walk, prop):
    model = colours(walk, (prop,))
    (here,) = explore_here(model, model.scope).decided
    with mock.patch.object(deciding, "Partitions", InProcess):
        (there,) = decided_apart(walk, (prop,), True)
    assert (here.lasso, here.vacuous, there.lasso, there.vacuous) == (None, True, None, True)


def lasso(*texts, loop):
    """A walk in `TURN` of which all behind the first `loop` steps is repeated for ever."""
    model = colours(TURN, (WEAKLY,))
    return replace(executed(model, model.scope, texts), loop=loop)


ROUND = ("red(to=1)", "red(to=2)", "red(to=0)")


def test_a_lasso_is_told_by_what_its_loop_does_for_each_assumption():
    assert reasons(lasso(*ROUND, "red(to=1)", loop=1), WEAKLY) == [
        "weakly is waited for from state 1 on, and never comes",
        "fair: taken on the loop: red (to=0); red (to=1); red (to=2)",
        "weakly fair: not possible in some state of the loop: red (to=3); red (to=4); blue",
    ]


@pytest.mark.parametrize(
    ("walk", "prop", "complaint"),
    [
        (lasso(*ROUND, loop=1), WEAKLY, "does not lead back to the state after step 1"),
        (lasso(*ROUND, loop=3), WEAKLY, "weak fairness of red .to=1., and the loop does not keep that"),
        (lasso("red(to=1)", "red(to=3)", loop=2), WEAKLY, "is reached, or nothing on the way asks for it"),
        (
            lasso(*ROUND, "red(to=1)", loop=1),
            STRONGLY,
            "strong fairness of red .to=3., and the loop does not keep that",
        ),
        (
            lasso(*ROUND, "red(to=1)", loop=1),
            replace(WEAKLY, given=(finitely("red"),)),
            "finitely often red, and the loop",
        ),
        (lasso(*ROUND, "red(to=1)", loop=1), always(at_goal), "by a state or a step, not by a loop"),
    ],
)
def test_what_is_no_lasso_is_refused(walk, prop, complaint):
    with pytest.raises(TraceError, match=complaint):
        reasons(walk, prop)
