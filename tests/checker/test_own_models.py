"""Models of one's own: what they get wrong is told in a line, and nothing else is explored in their stead."""

from dataclasses import replace

import pytest

from kafkaproof.checker.basics.errors import UserError
from kafkaproof.checker.check.local import explore_here
from kafkaproof.spec.language.domains import Array, Bound, Budget, Flag, Id, Number, Record, Size
from kafkaproof.spec.language.fairness import weak
from kafkaproof.spec.language.model import Model, Property, Transition, always, eventually
from tests.spec.broken_rules import line_of

Lamp = Id("lamps")
STATE = Record(
    on=(Array(Flag(), "lamps"), ""), seen=(Number(0, Bound("looks")), ""), failed=(Number(0, Budget("faults")), "")
)


def dark(s):
    s.seen = 0


def light(s, lamp: Lamp):
    """A lamp is switched on.

    Guards:  it is off.
    """
    if s.on[lamp]:
        return False

    s.on[lamp] = 1
    return True


def touch(s, lamp: Lamp):
    """A lamp is switched on in another way.

    Guards:  it is off.
    """
    if s.on[lamp]:
        return False

    s.on[lamp] = 1
    return True


def all_on(s):
    return s.on[0] and s.on[1]


SCOPE = {"lamps": 2, "looks": 1, "faults": 1}
MODEL = Model(
    system="lamps",
    variant="two",
    story="",
    state=STATE,
    initial=dark,
    transitions=(Transition(light),),
    properties=(always(all_on),),
    scope=SCOPE,
    largest=SCOPE,
    lanes=lambda scope: ["cluster"],
    abstract=True,
)


def refused(model, complaint, scope=SCOPE, **asked):
    with pytest.raises(UserError, match=complaint):
        explore_here(model, scope, **asked)


@pytest.mark.parametrize("order", [("light", "touch"), ("touch", "light")])
def test_an_action_is_there_for_each_value_that_one_of_its_transitions_takes(order):
    narrow = Transition(light, only={"lamp": Number(0, 0)})
    prop = eventually(all_on, given=(weak(*order, each=("lamp",)),))
    found = explore_here(replace(MODEL, transitions=(narrow, Transition(touch)), properties=(prop,)), SCOPE)
    assert not found.traces and found.decided[0].waiting == 3


def test_a_property_that_the_scope_does_not_have_is_not_asked_for():
    refused(MODEL, "lamps/two has no property all_of at this scope", only="all_of")
    larger = replace(always(all_on), least={"looks": 2})
    refused(replace(MODEL, properties=(larger,)), "no property all_on", only="all_on")


@pytest.mark.parametrize("scope", [{}, {**SCOPE, "looks": 1.5}, {**SCOPE, "looks": True}])
def test_a_scope_that_lacks_a_number_is_refused(scope):
    refused(MODEL, "needs a whole number of", scope)


@pytest.mark.parametrize("at", [(2, 1, 1), Size(lamps=2, looks=1)])
def test_a_verdict_at_something_else_than_a_scope_is_refused(at):
    with pytest.raises(
        UserError, match=r"^lamps/two: a verdict is recorded at .*; write Size\(lamps, looks, faults\)$"
    ):
        replace(MODEL, expected={at: {}})
    assert replace(MODEL, expected={Size(**SCOPE): {"all_on": 1}}).expectation(SCOPE) == {"all_on": 1}


def beyond(s):
    return s.on[s.seen + 2]  # here


def test_an_index_out_of_range_ends_the_exploration():
    refused(replace(MODEL, properties=(always(beyond),)), rf"out of range, .*test_own_models.py:{line_of(beyond)}")


def test_a_kind_of_property_that_there_is_not_is_refused():
    prop = Property("all_on", "allways", all_on)
    refused(replace(MODEL, properties=(prop,)), "is of kind 'allways'; there are always")


def test_an_assumption_of_nothing_is_refused():
    refused(replace(MODEL, properties=(eventually(all_on, given=(weak(),)),)), "assumes something of no transition")


def looked(s):
    s.seen = 2


def chosen(s, lamp: Lamp):
    if lamp == 0:
        return False
    s.on[lamp] = 1
    return True


def test_an_initial_state_is_one_of_the_scope():
    refused(replace(MODEL, initial=looked), "an initial state is beyond the bound looks")
    refused(replace(MODEL, initial=chosen), "an initial state returns nothing")


def mend(s):
    """What has failed is mended.

    Guards:  something has.
    """
    if s.failed == 0:
        return False

    s.failed -= 1  # here
    return True


def forget(s):
    """What has failed is forgotten.

    Guards:  none.
    """
    s.failed = 0  # here
    return True


@pytest.mark.parametrize("function", [mend, forget])
def test_a_budget_never_falls(function):
    refused(
        replace(MODEL, transitions=(Transition(function),)),
        rf"a budget begins at 0 and never falls.*:{line_of(function)}$",
    )


def abs(number):
    return number + 1


def changed(s):
    return abs(s.seen) == 1


def placed(s, /):
    return True


def test_what_python_reads_otherwise_is_refused():
    refused(replace(MODEL, properties=(always(changed),)), "abs is Python's own; give yours another name")
    refused(replace(MODEL, properties=(always(placed),)), "parameters are plain names")
