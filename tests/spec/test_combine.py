"""Functions made of functions: what they do, what they are called, and that they are held to the rules."""

import inspect

import pytest

from kafkaproof.spec.cluster import control, data_plane
from kafkaproof.spec.election.history import legacy, zkclient
from kafkaproof.spec.language.combine import checked, on, then, with_callees
from kafkaproof.spec.language.domains import Array, Flag, Id, Number, Record
from kafkaproof.spec.language.model import Transition
from kafkaproof.spec.language.plain import plain_type
from kafkaproof.spec.language.rebind import original, rebind
from kafkaproof.spec.language.rules import RuleError, check_transition
from kafkaproof.spec.language.subset import file_of
from kafkaproof.spec.partition import machines
from kafkaproof.spec.partition import zookeeper as partitions
from kafkaproof.spec.replica import leader

Broker, Room = Id("brokers"), Id("rooms")
ONE = Record(lit=(Flag(), "whether there is light"), steps=(Number(0, 9), "how often it changed"))
HOUSE = Record(rooms=(Array(ONE, "rooms"), "the rooms"))


def light(s, b: Broker):
    """Light is made.

    Guards:  it is dark.
    Effects: there is light.
    Kafka:   none.
    """
    if s.lit:
        return False

    s.lit = 1
    return True


def count(s):
    """The change is counted."""
    s.steps = s.steps + 1


def write(zk, b, value, delivery):
    """Write a value."""
    zk.steps = value
    return 0


def check_dark(zk, epoch):
    """Whether it is dark: 0, or 7."""
    return 7 if zk.lit else 0


def room():
    return plain_type(ONE, {})()


def test_then_does_the_one_and_only_if_it_is_done_the_other():
    both, s = then(light, count), room()
    assert both(s, 0) and (s.lit, s.steps) == (1, 1)
    assert not both(s, 0) and (s.lit, s.steps) == (1, 1)


def test_what_is_made_has_the_name_the_arguments_and_the_sections_of_the_transition_and_belongs_to_who_made_it():
    both = then(light, count)
    assert (both.__name__, both.__module__, both.__annotations__) == ("light", __name__, {"b": Broker})
    assert "\nGuards:  it is dark." in both.__doc__ and "Then: The change is counted.\nKafka:" in both.__doc__
    check_transition(Transition(both), abstract=True)
    assert (control.write_leader.__name__, control.write_leader.__module__) == ("write_leader", control.__name__)


def test_a_function_with_other_callees_belongs_to_who_made_it_and_keeps_the_place_of_its_text():
    assert zkclient.create.__module__ == zkclient.__name__ != legacy.create.__module__
    assert original(zkclient.create) is legacy.create
    assert file_of(zkclient.create) == file_of(legacy.create) == "spec/election/history/legacy.py"
    with pytest.raises(ValueError, match="create calls none of light"):
        with_callees(legacy.create, {light: count})


def test_on_takes_the_step_in_one_part_alone():
    in_room, s = on(light, "rooms", "r", Room), plain_type(HOUSE, {"rooms": 3})()
    assert list(inspect.signature(in_room).parameters) == ["s", "b", "r"]
    assert in_room.__annotations__ == {"b": Broker, "r": Room}
    assert in_room(s, 0, 1) and [each.lit for each in s.rooms] == [0, 1, 0]
    assert not in_room(s, 0, 1)
    assert list(inspect.signature(data_plane.produce).parameters) == ["s", "b", "p", "acks"]


def test_a_checked_request_is_made_where_the_check_lets_it_and_answers_for_the_check_elsewhere():
    request, zk = checked(write, check_dark), room()
    assert list(inspect.signature(request).parameters) == ["zk", "b", "value", "epoch", "delivery"]
    assert request(zk, 0, 5, 1, 0) == 0 and zk.steps == 5
    zk.lit = 1
    assert request(zk, 0, 6, 1, 0) == 7 and zk.steps == 5
    assert request.__name__ == "checked_write"


def test_parts_of_what_is_made_are_replaced_like_any_callee():
    both = then(light, count)
    assert rebind(both, {count: lambda s: None}) is not both
    in_dark = rebind(control.write_leader, {machines.write_leader: light})
    assert in_dark.__globals__["part"] is light
    unfenced = {partitions.checked_set_state: partitions.set_state}
    assert rebind(machines.write_leader, unfenced) is not machines.write_leader
    assert data_plane.produce.__globals__["part"] is leader.produce


def reads_another(s, b: Broker):
    """Looks into another room."""
    s.brokers[0].lit = 1


def of_broker(s, b: Broker):
    """Light is made.

    Guards:  it is dark.
    Effects: there is light.
    Kafka:   none.
    """
    if s.brokers[b].lit:
        return False

    s.brokers[b].lit = 1
    return True


def test_an_effect_is_held_to_what_its_broker_owns():
    with pytest.raises(RuleError, match="a broker owns"):
        check_transition(Transition(then(of_broker, reads_another)))
