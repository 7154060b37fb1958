"""Each rule for transitions and for models refuses a function that breaks it."""

import linecache
from dataclasses import replace

import pytest

from kafkaproof.spec.election import faults
from kafkaproof.spec.kafka.zookeeper import OK, open_session, read_controller
from kafkaproof.spec.language.accepted import require_predicate
from kafkaproof.spec.language.domains import Array, Flag, Id, Record
from kafkaproof.spec.language.kinds import Part
from kafkaproof.spec.language.model import FAULT, Transition, always, always_step
from kafkaproof.spec.language.rules import RuleError, check_model, check_transition
from tests import toys
from tests.spec.broken_rules import broken, line_of

Broker = Id("brokers")


def has_no_state(b: Broker):  # here
    """A transition.

    Guards:  none.
    Effects: none.
    Kafka:   none.
    """
    return True


def has_no_domain(s, b):  # here
    """A transition.

    Guards:  none.
    Effects: none.
    Kafka:   none.
    """
    return True


def has_no_sentence(s):  # here
    """A transition

    Guards:  none.
    Effects: none.
    Kafka:   none.
    """
    return True


def names_no_effects(s):  # here
    """A transition.

    Guards:  none.
    Kafka:   none.
    """
    return True


def names_no_source(s):  # here
    """A transition.

    Guards:  none.
    Effects: none.
    """
    return True


def names_no_request(s, b: Broker):  # here
    """A transition.

    Guards:  none.
    Effects: none.
    Kafka:   none.
    """
    read_controller(s.zk, b)
    return True


def ends_with_a_value(s):
    """A transition."""
    return s.x == 1  # here


def ends_with_an_effect(s):
    """A transition."""
    s.x = 1  # here


def assigns_to_its_argument(s, b: Broker):
    """A transition."""
    b = 0  # here
    return b == 0


def refuses_late(s):
    """A transition."""
    s.x = 1
    if s.y:
        return False  # here
    return True


def set_x(s):
    s.x = 1
    return 1


def refuses_after_a_call(s):
    """A transition."""
    set_x(s)
    if s.y:
        return False  # here
    return True


def refuses_after_a_hidden_effect(s):
    """A transition."""
    if set_x(s) == 1:
        return False  # here
    return True


def refuses_in_a_loop_with_effects(s):
    """A transition."""
    for x in s.xs:
        if x.y:
            return False  # here
        x.y = 1
    return True


def refuses_after_a_request(s, b: Broker):
    """A transition."""
    answer = read_controller(s.zk, b)
    if answer != OK:
        return False  # here
    return True


def asks_twice(s, b: Broker):
    """A transition."""
    open_session(s.zk, b)
    read_controller(s.zk, b)  # here
    return True


def asks_in_a_loop(s):
    """A transition."""
    for b in range(2):
        open_session(s.zk, b)  # here
    return True


def ask(zk, b):
    return read_controller(zk, b)


def asks_late(s, b: Broker):
    """A transition."""
    s.brokers[b].doing = 1
    ask(s.zk, b)  # here
    return True


def reads_a_ghost(s):
    """A transition.

    Guards:  none.
    Effects: none.
    Kafka:   none.
    """
    if s.ghosts.seen:  # here
        return False
    return True


def reads_another_part(s, b: Broker):
    """A transition.

    Guards:  none.
    Effects: none.
    Kafka:   none.
    """
    if s.zk.epoch == 1:  # here
        return False
    return True


def reads_another_broker(s, b: Broker, c: Broker):
    """A transition.

    Guards:  none.
    Effects: none.
    Kafka:   none.
    """
    if s.brokers[c].doing == 1:  # here
        return False
    return True


def passes_everything(s, b: Broker):
    """A transition.

    Guards:  none.
    Effects: none.
    Kafka:   none.
    """
    set_x(s)  # here
    return True


def composed(s, b: Broker):
    """A transition.

    Guards:  those of its part, and one before.
    Effects: those of its part, and one behind.
    Kafka:   none.
    """
    if s.brokers[b].doing == 2 or not acts_well(s, b):
        return False

    s.brokers[b].doing = 2
    return True


def refuses_after_its_part(s, b: Broker):
    """A transition.

    Guards:  those of its part, and one behind.
    Effects: those of its part.
    Kafka:   none.
    """
    if not acts_well(s, b):
        return False
    if s.brokers[b].doing == 1:
        return False  # here
    return True


def has_a_part_that_reads_another_broker(s, b: Broker):
    """A transition.

    Guards:  those of its part.
    Effects: those of its part.
    Kafka:   none.
    """
    if not writes_another_broker(s, b):
        return False

    return True


def acts_well(s, b: Broker):
    """A part.

    Guards:  none.
    Effects: none.
    Kafka:   none.
    """
    if s.brokers[b].doing == 1:
        return False
    s.brokers[b].doing = 1
    return True


def writes_another_broker(s, b: Broker):
    """A part.

    Guards:  none.
    Effects: none.
    Kafka:   none.
    """
    s.brokers[0].doing = b  # here
    return True


def passes_another_part(s, b: Broker):
    """A transition.

    Guards:  none.
    Effects: none.
    Kafka:   none.
    """
    set_x(s.zk)  # here
    return True


GUARDS_FIRST = "guards first: no return False after an effect or a request"
OWNERSHIP = "a broker owns s.brokers[b] and reaches the rest through seams"
SEAMS = (open_session, read_controller)


def check(function):
    check_transition(Transition(function), SEAMS)


@pytest.mark.parametrize(
    "function, rule",
    [
        (has_no_state, "a transition's first parameter is s"),
        (has_no_domain, "argument b is annotated with a scalar domain"),
        (has_no_sentence, "a docstring begins with a sentence"),
        (names_no_effects, "the docstring has Effects:"),
        (names_no_source, "the docstring has Kafka:"),
        (names_no_request, "the docstring has Request:"),
        (ends_with_a_value, "a transition returns True or False"),
        (ends_with_an_effect, "a transition ends with return True"),
        (assigns_to_its_argument, "a transition does not assign to its arguments"),
        (refuses_late, GUARDS_FIRST),
        (refuses_after_a_call, GUARDS_FIRST),
        (refuses_after_a_hidden_effect, GUARDS_FIRST),
        (refuses_in_a_loop_with_effects, GUARDS_FIRST),
        (refuses_after_a_request, GUARDS_FIRST),
        (asks_twice, "at most one request"),
        (asks_in_a_loop, "at most one request"),
        (asks_late, "the request comes before the first effect"),
        (reads_a_ghost, "ghosts are read by properties only"),
        (reads_another_part, OWNERSHIP),
        (reads_another_broker, OWNERSHIP),
        (passes_everything, OWNERSHIP),
        (passes_another_part, OWNERSHIP),
        (refuses_after_its_part, GUARDS_FIRST),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_no_transition_does_this(function, rule):
    broken(check, function, rule)


def test_a_transition_may_be_made_of_another():
    check(composed)
    with pytest.raises(RuleError, match=OWNERSHIP.replace("[", r"\[").replace("]", r"\]")):
        check(has_a_part_that_reads_another_broker)


def test_a_body_is_short():
    text = (
        "def f(s):\n    '''A.\n\n    Guards:\n    Effects:\n    Kafka:\n    '''\n"
        + "    s.x = 1\n" * 30
        + "    return True\n"
    )
    linecache.cache["<long>"] = (len(text), None, text.splitlines(keepends=True), "<long>")
    names = {}
    exec(compile(text, "<long>", "exec"), names)
    with pytest.raises(RuleError, match="a body has at most 30 lines: .*:1$"):
        check(names["f"])


def test_an_abstract_transition_reads_other_parts():
    check_transition(Transition(reads_another_part), SEAMS, abstract=True)


def test_a_fault_acts_on_anything():
    check_transition(Transition(faults.expire_session, kind=FAULT), SEAMS)


def writes_x(s):
    set_x(s)  # the line of set_x is named
    return True


def test_a_property_writes_nothing():
    model = toys.clock()
    model = replace(model, properties=(always(writes_x),))
    with pytest.raises(RuleError, match=r"a property writes nothing: s\.x, "):
        check_model(model)


def test_a_property_of_steps_speaks_of_a_transition_that_there_is():
    model = toys.clock()
    model = replace(model, properties=(always_step(toys.alternates, of=("tick_twice",)),))
    with pytest.raises(RuleError, match="no transition that alternates speaks of"):
        check_model(model)


def counts_time(s):
    count = 0
    for t in s.time:  # here
        count += t
    return count == 0


def test_a_loop_runs_over_an_array_that_is_declared():
    model = replace(toys.clock(), properties=(always(counts_time),))
    with pytest.raises(
        RuleError, match=rf"an index, a length and a loop are of a declared array: .*:{line_of(counts_time)}$"
    ):
        check_model(model)
    declared = Record(time=(Array(Flag(), "brokers"), "times"))
    require_predicate(counts_time, (Part(declared, "s"),))
