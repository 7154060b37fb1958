"""What is refused because Python, compiled code and the prover would understand it differently."""

from dataclasses import replace

import pytest

from kafkaproof.spec.language.accepted import require_accepted, require_predicate
from kafkaproof.spec.language.domains import Array, Bound, Choice, Flag, Id, Number, Record, Sequence, SetOf
from kafkaproof.spec.language.kinds import Part
from kafkaproof.spec.language.model import always, always_step, sometimes
from kafkaproof.spec.language.rebind import rebind
from kafkaproof.spec.language.sequences import pop, push
from kafkaproof.spec.language.sets import contains, everybody, intersection, is_empty, only, union, with_member
from kafkaproof.spec.language.subset import RuleError
from tests import toys
from tests.spec.broken_rules import broken

IDLE, BUSY = STATE_OF = Choice("IDLE", "BUSY")
PAIR = Record(left=(Number(0, 3), ""), flag=(Flag(), ""))
SIZES = {"brokers": 2, "topics": 2, "room": 2, "few": 2}
STATE = Record(
    flag=(Flag(), ""),
    x=(Number(0, 5), ""),
    code=(STATE_OF, ""),
    owner=(Id("brokers", nobody=True), ""),
    members=(SetOf("brokers"), ""),
    topics=(SetOf("topics"), ""),
    numbers=(Array(Number(0, 5), "brokers"), ""),
    pair=(PAIR, ""),
    other=(PAIR, ""),
    queue=(Sequence(Number(0, 5), Bound("room")), ""),
)


def uses_and_as_a_value(s):
    return (s.x and 2) == 2  # here


def negates_a_number(s):
    return not s.x  # here


def negates_a_set(s):
    return not s.members  # here


def decides_by_a_set(s):
    if s.members:  # here
        return True
    return False


def decides_by_an_id(s):
    return True if s.owner else False  # here


def orders_a_set(s):
    return s.members < s.members  # here


def adds_to_a_set(s):
    return s.members + 1 == 2  # here


def compares_a_set_with_a_number(s):
    return s.members == s.x  # here


def compares_sets_of_two_sorts(s):
    return s.members == s.topics  # here


def joins_sets_of_two_sorts(s):
    return is_empty(union(s.members, s.topics))  # here


def takes_a_number_for_a_set(s):
    return contains(s.x, 1)  # here


def takes_the_greatest_set(s):
    return max(s.members, s.x) == 1  # here


def compares_records(s):
    return s.pair == s.other  # here


def chooses_between_states(before, after):
    chosen = before.pair if before.flag else after.pair  # here
    return chosen.left == 0


def names_one_state_or_the_other(before, after):
    chosen = before.pair
    if before.flag:
        chosen = after.pair  # here
    return chosen.left == 0


def takes_nothing_for_a_value(s):
    return fills(s) == 0  # here


def fills(s):
    pass


def asks_for_another_field(s):
    return s.pair.right == 0  # here


def indexes_a_record(s):
    return s.pair[0] == 0  # here


def gives_too_much(s):
    return is_small(s, 1)  # here


def is_small(s):
    return s.x < 3


def answers_with_a_set(s):  # here
    return s.members


def answers_nothing(s):  # here
    pass


def counts_down(s):
    for i in range(3, 0, -1):  # here
        if s.x == i:
            return False
    return True


def keeps_a_range(s):
    return range(s.x) == 0  # here


def takes_the_last(s):
    return s.numbers[-1] == 0  # here


def falls_through(s):
    if s.flag:  # here
        return False


def returns_nothing(s):
    if s.flag:
        return  # here
    return True


def reads_what_one_branch_assigns(s):
    if s.flag:
        found = 1
    return found == 1  # here


def reads_what_a_loop_assigns(s):
    for i in range(s.x):
        found = i
    return found == 1  # here


def reads_the_counter_of_a_loop(s):
    for i in range(s.x):
        if s.flag:
            return False
    return i == 1  # here


def goes_on_after_a_return(s):
    return True
    return False  # here


def assigns_twice(s):
    a = b = s.x  # here
    return a == b


def takes_one_least(s):
    return min(s.x) == 0  # here


def sets_a_flag_to_a_number(s):
    s.flag = s.x  # here
    return True


def sets_a_flag_to_two(s):
    s.flag = 2  # here
    return True


def sets_a_code_that_is_none(s):
    s.code = 2  # here
    return True


def sets_a_set_of_another_sort(s):
    s.members = s.topics  # here
    return True


def sets_a_set_to_a_number(s):
    s.members = 5  # here
    return True


def sets_a_number_beyond_its_range(s):
    s.x = 6  # here
    return True


def assigns_a_record(s):
    s.pair = s.other  # here
    return True


S, BEFORE, AFTER = (Part(STATE, name) for name in ("s", "before", "after"))
PREDICATES = {
    uses_and_as_a_value: "and, or and not take conditions: compare a number",
    negates_a_number: "and, or and not take conditions: compare a number",
    negates_a_set: "and, or and not take conditions: compare a number",
    decides_by_a_set: "a condition is needed here, not a set of brokers",
    decides_by_an_id: "a condition is needed here, not an id of brokers",
    orders_a_set: "a set of brokers cannot be compared like this",
    adds_to_a_set: "a number is needed here, not a set of brokers",
    compares_a_set_with_a_number: "this may be a set of brokers or a number",
    compares_sets_of_two_sorts: "this may be a set of brokers or a set of topics",
    joins_sets_of_two_sorts: "a set is of one sort: a set of topics with a set of brokers",
    takes_a_number_for_a_set: "a set is of one sort: a number with a set",
    takes_the_greatest_set: "a number is needed here, not a set of brokers",
    compares_records: "a record cannot be compared like this",
    chooses_between_states: "this may be a record or a record",
    names_one_state_or_the_other: "this may be a record or a record",
    takes_nothing_for_a_value: "a function that returns nothing is called as a statement of its own",
    asks_for_another_field: "there is no field right",
    indexes_a_record: "an index, a length and a loop are of a declared array",
    gives_too_much: "is_small takes 1 arguments",
    answers_with_a_set: "a property returns True or False",
    answers_nothing: "a property returns True or False",
    counts_down: "range takes 1 to 2 arguments",
    keeps_a_range: "a range is used only in a for loop",
    takes_the_last: "an index counts from 0; write len(...) - 1 for the last one",
    falls_through: "a function that returns a value returns one on every path",
    returns_nothing: "a return has a value; a function without one ends without a return",
    reads_what_one_branch_assigns: "a local is assigned on every path to where it is read",
    reads_what_a_loop_assigns: "a local is assigned on every path to where it is read",
    reads_the_counter_of_a_loop: "a local is assigned on every path to where it is read",
    goes_on_after_a_return: "no path comes here",
    assigns_twice: "one target in an assignment",
    takes_one_least: "min takes 2 to 9 arguments",
}
STORES = {
    sets_a_flag_to_a_number: "a field takes what its domain can hold: a condition, not a number",
    sets_a_flag_to_two: "a field takes what its domain can hold: a condition, not 2",
    sets_a_code_that_is_none: "a field takes what its domain can hold: a number, not 2",
    sets_a_set_of_another_sort: "a field takes what its domain can hold: a set of brokers, not a set of topics",
    sets_a_set_to_a_number: "a field takes what its domain can hold: a set of brokers, not 5",
    sets_a_number_beyond_its_range: "a field takes what its domain can hold: a number, not 6",
    assigns_a_record: "a record or an array is not assigned; assign its fields one by one",
}


def judge(function):
    """Ask for a predicate, of one state or of two."""
    roots = (BEFORE, AFTER) if function.__code__.co_argcount == 2 else (S,)
    require_predicate(function, roots)


def take(function):
    """Ask for a model with one transition."""
    model = toys.clock()
    transition = replace(model.transitions[0], function=function)
    given = replace(model, state=STATE, initial=nothing, transitions=(transition,), properties=(), scope=SIZES)
    require_accepted(given)


def nothing(s):
    pass


@pytest.mark.parametrize(("function", "rule"), PREDICATES.items(), ids=lambda value: getattr(value, "__name__", ""))
def test_no_property_does_this(function, rule):
    broken(judge, function, rule)


@pytest.mark.parametrize(("function", "rule"), STORES.items(), ids=lambda value: getattr(value, "__name__", ""))
def test_no_transition_does_this(function, rule):
    broken(take, function, rule)


def uses_everything(s):
    members = everybody(len(s.numbers))
    busy = s.flag or s.code == BUSY and not is_empty(s.members)
    least = s.numbers[0] if busy else -s.x
    for number in s.numbers:
        least = min(least, number)
    for b in range(len(s.numbers)):
        if contains(s.members, b) and s.owner != b:
            members = intersection(members, union(with_member(s.members, b), only(b)))
    pair = s.pair if least > 1 else s.other
    return 0 <= least < 3 or pair.left == least or members == s.members or members == 0 or pair.flag == busy


def test_what_all_understand_alike_is_accepted():
    judge(uses_everything)


def queues(s):
    """A transition.

    Guards:  there is room.
    """
    push(s.queue, s.x)
    s.flag = pop(s.queue) == s.x
    s.members = 0
    s.owner = -1
    return True


def test_a_procedure_and_a_value_that_is_left_are_accepted():
    take(queues)


def test_two_properties_have_two_names():
    model = toys.clock()
    with pytest.raises(RuleError, match="two properties of clock/sound are called alternates; rename one"):
        require_accepted(replace(model, properties=(*model.properties, always_step(toys.alternates))))


@pytest.mark.parametrize("domain", [Number(0, 2**31), Number(-(2**31), 0), Number(0, Bound("large"))])
def test_a_field_holds_32_bits(domain):
    model = replace(toys.clock(), state=Record(time=(Flag(), ""), large=(domain, "")))
    with pytest.raises(RuleError, match="large goes from .* to .*; a field holds 32 bits, so declare a smaller range"):
        require_accepted(model, {"large": 2**31 - 1})
    require_accepted(replace(model, scope={"large": 1}))


def test_a_set_has_at_most_thirty_ids():
    model = replace(toys.clock(), state=Record(time=(Flag(), ""), members=(SetOf("brokers"), "")))
    require_accepted(model, {"brokers": 30})
    with pytest.raises(RuleError, match="members goes from 0 to 2147483647"):
        require_accepted(model, {"brokers": 31})


def writes_a_number_of_64_bits(s):
    return s.x < 2147483648  # here


def test_a_number_that_is_written_down_has_32_bits():
    broken(judge, writes_a_number_of_64_bits, "a number has 32 bits")


def test_a_field_can_hold_something():
    model = replace(toys.clock(), state=Record(time=(Flag(), ""), none=(Number(2, Bound("few")), "")))
    with pytest.raises(RuleError, match="none can hold nothing at this scope"):
        require_accepted(model, {"few": 1})


def test_transitions_have_names_of_their_own():
    model = toys.clock()
    with pytest.raises(RuleError, match="two transitions of clock/sound are called toys.tick; rename one"):
        require_accepted(replace(model, transitions=(*model.transitions, model.transitions[0])))


def test_properties_speak_of_what_there_is():
    model = toys.clock()
    of_none = always_step(toys.alternates, of=("tick_twice",))
    with pytest.raises(RuleError, match="clock/sound has no transition that alternates speaks of: tick_twice"):
        require_accepted(replace(model, properties=(of_none,)))
    with pytest.raises(RuleError, match="shows_one of clock/sound asks for a number of clocks, which its scope"):
        require_accepted(replace(model, properties=(sometimes(toys.shows_one, clocks=2),)))


def test_what_nothing_calls_is_not_replaced():
    model = toys.queue()
    assert model.rebound({pop: push}).transitions != model.transitions
    with pytest.raises(RuleError, match="no transition of queue/sound calls union, so it cannot be replaced"):
        model.rebound({union: intersection})


def test_what_a_copy_calls_is_asked_of_the_copy():
    model = toys.queue()
    bound = model.rebound({pop: first_of})
    with pytest.raises(RuleError, match="calls pop"):
        bound.rebound({pop: push})
    assert rebind(model.transitions[1].function, {pop: first_of}).__name__ == "take"


def first_of(sequence):
    return sequence.slots[0]


def test_a_property_is_named_for_what_it_asks():
    require_accepted(replace(toys.clock(), properties=(always(toys.shows_one, "lit"), always(toys.shows_one))))
